/**
 * Registers users on a Synapse whose shared secret is known.
 *
 * @see
 * {@link https://element-hq.github.io/synapse/latest/admin_api/register_api.html | Shared-secret registration}
 * @module
 */

import { createHmac } from "node:crypto";

/** A Synapse on which users can be registered. */
export interface SynapseServer {
  /** Its address, without a slash at the end. */
  readonly baseUrl: string;
  /** The name in its user IDs. */
  readonly serverName: string;
  /** What it takes to register users, administrators too. */
  readonly sharedSecret: string;
}

/** A user that has logged in. */
export interface RegisteredUser {
  /** The whole user ID. */
  userId: `@${string}:${string}`;
  /** The token of the user's first device. */
  accessToken: string;
  /** The ID of that device. */
  deviceId: string;
}

/** Which user to register. */
export interface Registration {
  /** The part of the user ID before the colon. */
  localpart: string;
  /** The password. */
  password: string;
  /**
   * Whether the user may use Synapse's own administration API.
   *
   * @default {false}
   */
  admin?: boolean;
}

/** Registers a user and logs it in, however registration is restricted. */
export async function registerUser(
  server: SynapseServer,
  registration: Registration,
): Promise<RegisteredUser> {
  const { localpart, password, admin = false } = registration;
  const url = `${server.baseUrl}/_synapse/admin/v1/register`;
  const { nonce } = await answer<{ nonce: string }>(await fetch(url));
  const fields = [nonce, localpart, password, admin ? "admin" : "notadmin"];
  const mac = createHmac("sha1", server.sharedSecret).update(fields.join("\0")).digest("hex");
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ nonce, username: localpart, password, admin, mac }),
  });
  const user = await answer<{ user_id: `@${string}:${string}`; access_token: string; device_id: string }>(
    response,
  );
  return { userId: user.user_id, accessToken: user.access_token, deviceId: user.device_id };
}

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) return await response.json();
  throw new Error(`Cannot register a user: the server said ${response.status} ${await response.text()}`);
}

/**
 * Registers users on a Synapse whose shared secret is known.
 *
 * @see {@link https://element-hq.github.io/synapse/latest/admin_api/register_api.html | Shared-secret registration}
 * @module
 */

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
  /** Whether the user may use Synapse's own administration API. */
  admin: boolean;
}

/** Registers a user, however registration is restricted. */
export async function registerUser(
  baseUrl: string,
  sharedSecret: string,
  { localpart, password, admin }: Registration,
): Promise<RegisteredUser> {
  const url = `${baseUrl}/_synapse/admin/v1/register`;
  const { nonce } = await answer<{ nonce: string }>(await fetch(url));
  const fields = [nonce, localpart, password, admin ? "admin" : "notadmin"];
  const mac = await hmacSha1(sharedSecret, fields.join("\0"));
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

async function hmacSha1(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-1" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))).toHex();
}

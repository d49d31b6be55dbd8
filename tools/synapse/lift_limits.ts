/**
 * Lets a user do as much as it likes on a Synapse whose shared secret is known.
 *
 * @see
 * {@link https://element-hq.github.io/synapse/latest/admin_api/user_admin_api.html#override-ratelimiting-for-users | Override ratelimiting for users}
 * @module
 */

import { type RegisteredUser, registerUser, type SynapseServer } from "./register_user.ts";

/** An administrator of each server. */
const administrators = new Map<string, Promise<RegisteredUser>>();

/** Takes all rate limits off a user; they stay for who invites it. */
export async function liftLimits(server: SynapseServer, userId: string): Promise<void> {
  const { accessToken } = await administrator(server);
  const path = `/_synapse/admin/v1/users/${encodeURIComponent(userId)}/override_ratelimit`;
  const response = await fetch(`${server.baseUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ messages_per_second: 0, burst_count: 0 }),
  });
  if (!response.ok) {
    throw new Error(`Cannot lift limits: the server said ${response.status} ${await response.text()}`);
  }
  await response.body?.cancel();
}

function administrator(server: SynapseServer): Promise<RegisteredUser> {
  const known = administrators.get(server.baseUrl);
  if (known !== undefined) return known;
  const localpart = `admin-${crypto.randomUUID()}`;
  const registered = registerUser(server, { localpart, password: crypto.randomUUID(), admin: true });
  administrators.set(server.baseUrl, registered);
  return registered;
}

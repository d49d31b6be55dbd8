/**
 * Further devices of a user.
 *
 * @module
 */

import type { SynapseServer, TestUser } from "../synapse.ts";

/** Logs a user in once more, and returns the user with the new device. */
export async function newDevice(server: SynapseServer, user: TestUser): Promise<TestUser> {
  const response = await fetch(`${server.baseUrl}/_matrix/client/v3/login`, {
    method: "POST",
    body: JSON.stringify({
      type: "m.login.password",
      identifier: { type: "m.id.user", user: user.localpart },
      password: user.password,
    }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`Cannot log in: the server said ${JSON.stringify(answer)}`);
  return { ...user, deviceId: answer.device_id, accessToken: answer.access_token };
}

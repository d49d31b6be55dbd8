import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { registerUser } from "../../tools/synapse/register_user.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";

async function getJson(server: SynapseServer, path: string, accessToken?: string) {
  const headers: HeadersInit = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  const response = await fetch(server.baseUrl + path, { headers });
  return { status: response.status, body: await response.json() };
}

synapseTest("Synapse says which versions of the specification it speaks", async (server) => {
  const { status, body } = await getJson(server, "/_matrix/client/versions");
  assertEquals(status, 200);
  assert(body.versions.includes("v1.11"), "authenticated media came with 1.11");
});

synapseTest("Synapse can be discovered", async (server) => {
  const { body } = await getJson(server, "/.well-known/matrix/client");
  assertEquals(body["m.homeserver"].base_url, `${server.baseUrl}/`);
});

synapseTest("registerUser() gives a user with a device and a token that works", async (server) => {
  const user = await newUser(server, "alice");
  const { body } = await getJson(server, "/_matrix/client/v3/account/whoami", user.accessToken);
  assertEquals(body.user_id, user.userId);
  assertEquals(body.device_id, user.deviceId);
  assertEquals(user.userId, `@${user.localpart}:${server.serverName}`);
});

synapseTest("registerUser() makes an administrator only on request", async (server) => {
  const [admin, user] = [await newUser(server, "admin", { admin: true }), await newUser(server, "user")];
  const path = `/_synapse/admin/v2/users/${user.userId}`;
  assertEquals((await getJson(server, path, admin.accessToken)).status, 200);
  assertEquals((await getJson(server, path, user.accessToken)).status, 403);
});

synapseTest("registerUser() says why a user can't be registered", async (server) => {
  const { localpart, password } = await newUser(server, "taken");
  const error = await assertRejects(() => registerUser(server, { localpart, password }), Error);
  assertStringIncludes(error.message, "M_USER_IN_USE");
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Homeserver } from "@greenroom/matrix/testing";

const NET: Pick<Deno.TestDefinition, "permissions"> = { permissions: { net: ["127.0.0.1"] } };

Deno.test("listen() answers on the loopback interface until the homeserver is disposed of", NET, async () => {
  const homeserver = new Homeserver();
  const alice = homeserver.createUser("alice");
  const url = await homeserver.listen();
  assertEquals(homeserver.baseUrl, url);
  const headers = { authorization: `Bearer ${alice.accessToken}` };
  const response = await fetch(`${url}/_matrix/client/v3/account/whoami`, { headers });
  assertEquals((await response.json()).user_id, "@alice:localhost");
  const discovered = await homeserver.fetch("https://localhost/.well-known/matrix/client");
  assertEquals((await discovered.json())["m.homeserver"].base_url, `${url}/`);
  await homeserver[Symbol.asyncDispose]();
  await assertRejects(() => fetch(`${url}/_matrix/client/versions`), TypeError);
});

Deno.test("listen() cuts the connection where a fault says so", NET, async () => {
  await using homeserver = new Homeserver();
  const url = `${await homeserver.listen()}/_matrix/client/versions`;
  homeserver.faults.add({ kind: "drop", times: 1 });
  await assertRejects(async () => await (await fetch(url)).text(), TypeError);
  homeserver.faults.add({ kind: "truncate", times: 1 });
  await assertRejects(async () => await (await fetch(url)).text(), TypeError);
  assert((await (await fetch(url)).json()).versions.length > 0);
});

Deno.test("listen() answers a waiting sync when the homeserver is disposed of", NET, async () => {
  const homeserver = new Homeserver();
  const alice = homeserver.createUser("alice");
  const url = `${await homeserver.listen()}/_matrix/client/v3/sync`;
  const headers = { authorization: `Bearer ${alice.accessToken}` };
  const { next_batch } = await (await fetch(url, { headers })).json();
  const waiting = fetch(`${url}?since=${next_batch}&timeout=60000`, { headers });
  while (homeserver.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await homeserver[Symbol.asyncDispose]();
  assert((await (await waiting).json()).next_batch !== undefined);
});

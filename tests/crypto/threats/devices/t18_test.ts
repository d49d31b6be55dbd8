/** Another master key than the one a user had: the server swaps an identity (CVE-2024-52813). */

import { assert, assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, signingKey } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

Deno.test("T18 C26: another master key than the pinned one puts the devices it vouches for in violation, permanently", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  alice.crossSign();
  const changes = await stage.learn(alice);
  assertEquals(changes.alarms.map(({ kind }) => kind), ["identity-changed"]);
  await stage.restart();
  await stage.mark(ALICE);
  await stage.ask({ device_keys: queryResponse(alice).device_keys });
  assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
  assert((await stage.run((tx) => stage.lists.identityOf(tx, ALICE)))?.changed);
});

Deno.test("C26: another master key is noticed and remembered also of a user without devices", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE).crossSign();
  await stage.learn(alice);
  const pinned = alice.master?.publicKey;
  await stage.restart();
  alice.crossSign();
  assertEquals((await stage.learn(alice)).alarms.map(({ kind }) => kind), ["identity-changed"]);
  await stage.restart();
  const identity = await stage.run((tx) => stage.lists.identityOf(tx, ALICE));
  assertEquals([identity?.pinned, identity?.master, identity?.changed], [
    pinned,
    alice.master?.publicKey,
    true,
  ]);
});

Deno.test("T18: the pinned identity is kept while the user is not tracked", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  await stage.run((tx) => stage.lists.left(tx, [ALICE]));
  alice.crossSign();
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
});

Deno.test("T18: the self-signing key of the identity before does not vouch for devices any more", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  const response = queryResponse(alice);
  response.master_keys = queryResponse(new FakeUser(ALICE).crossSign()).master_keys;
  await stage.mark(ALICE);
  await stage.ask(response);
  assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" });
});

Deno.test("T18: a device that was vouched for by a self-signing key that is replaced is not any more, whatever is shown of it", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  alice.selfSigning = signingKey();
  await stage.mark(ALICE);
  await stage.ask({ ...queryResponse(alice), device_keys: { [ALICE]: { PHONE: null } } });
  assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" });
});

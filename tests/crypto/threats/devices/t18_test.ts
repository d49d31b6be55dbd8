/** Another master key than the one a user had: the server swaps an identity (CVE-2024-52813). */

import { assert, assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, signingKey } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

Deno.test("T18 C26: another master key of a user who was not verified takes the place of the one before, with an alarm, and that one never comes back by itself", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const { master, selfSigning, userSigning } = alice;
  await stage.learn(alice);
  alice.crossSign();
  const changes = await stage.learn(alice);
  assertEquals(changes.alarms.map(({ kind }) => kind), ["identity-changed"]);
  await stage.restart();
  assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
  Object.assign(alice, { master, selfSigning, userSigning });
  for (let time = 0; time < 2; time++) {
    await stage.learn(alice);
    assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
    assert((await stage.run((tx) => stage.lists.identityOf(tx, ALICE)))?.hasChanged);
    await stage.restart();
  }
});

Deno.test("C26: another master key is noticed and remembered also of a user without devices, or who is not tracked", async () => {
  for (const isTracked of [true, false]) {
    const stage = new DeviceStage();
    const alice = new FakeUser(ALICE).crossSign();
    const { master, selfSigning, userSigning } = alice;
    await stage.learn(alice);
    const look = async () => {
      if (!isTracked) await stage.run((tx) => stage.lists.left(tx, [ALICE]));
      await stage.restart();
      const { alarms } = await stage.learn(alice);
      const identity = await stage.run((tx) => stage.lists.identityOf(tx, ALICE));
      return [...alarms.map(({ kind }) => kind), identity?.pinned, identity?.hasChanged];
    };
    alice.crossSign();
    const second = alice.master?.publicKey;
    assertEquals(await look(), ["identity-changed", second, false]);
    Object.assign(alice, { master, selfSigning, userSigning });
    assertEquals(await look(), ["identity-changed", second, true]);
  }
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

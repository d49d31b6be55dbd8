/** The server leaves out keys or devices, so that what was known of them is forgotten. */

import { assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

Deno.test("T23: an answer without cross-signing keys, or with bad ones, clears neither pin nor trust", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  const identity = await stage.run((tx) => stage.lists.identityOf(tx, ALICE));
  const { device_keys, master_keys, self_signing_keys } = queryResponse(alice);
  const answers = [
    { device_keys },
    { device_keys, master_keys },
    { device_keys, self_signing_keys },
    { device_keys, master_keys: null, self_signing_keys: [] },
    { device_keys, master_keys: { [ALICE]: {} }, self_signing_keys: { [ALICE]: null } },
  ];
  for (const answer of answers) {
    await stage.mark(ALICE);
    assertEquals((await stage.ask(answer)).changed, []);
    assertEquals(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)), identity);
    assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
  }
  alice.crossSign();
  assertEquals((await stage.learn(alice)).alarms.length, 1);
});

Deno.test("T23: devices that are left out are reported, so that sessions whose keys they have end", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE", "LAPTOP").crossSign();
  await stage.learn(alice);
  const laptop = await stage.run((tx) => stage.lists.device(tx, ALICE, "LAPTOP"));
  alice.replace("LAPTOP");
  assertEquals((await stage.learn(alice)).removed, laptop === undefined ? [] : [laptop]);
  await stage.mark(ALICE);
  assertEquals((await stage.ask({ device_keys: {} })).removed.map(({ deviceId }) => deviceId), ["PHONE"]);
  assertEquals(await stage.trust(ALICE), {});
});

Deno.test("T23: a device without keys is not there any more", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.learn(alice);
  const response = queryResponse(alice);
  response.device_keys[ALICE] = { PHONE: alice.deviceKeys(alice.device("PHONE"), { keys: {} }) };
  await stage.mark(ALICE);
  assertEquals((await stage.ask(response)).removed.map(({ deviceId }) => deviceId), ["PHONE"]);
});

Deno.test("T23: a known device of which only nonsense is shown stays as it was", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.learn(alice);
  const keys = alice.deviceKeys(alice.device("PHONE"));
  for (
    const nonsense of [null, 7, [], {}, { ...keys, user_id: "@other:b.example" }, { ...keys, signatures: {} }]
  ) {
    await stage.mark(ALICE);
    const changes = await stage.ask({ device_keys: { [ALICE]: { PHONE: nonsense } } });
    assertEquals([changes.changed, changes.removed], [[], []]);
  }
});

/** The server shows a known device with other keys, or a new one with the identity key of another. */

import { assertEquals } from "@std/assert";
import type { DeviceAlarm } from "@greenroom/matrix/types";
import { DeviceStage } from "../../support/device_stage.ts";
import { fakeDevice, FakeUser } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

for (const swapped of ["signing", "curve25519"] as const) {
  const alarms: DeviceAlarm[] = [{ kind: "keys-changed", userId: ALICE, deviceId: "PHONE" }];

  Deno.test(`T16: a known device is shown with another key (${swapped}): the old keys stay, with an alarm`, async () => {
    const stage = new DeviceStage();
    const alice = new FakeUser(ALICE, "PHONE").crossSign();
    await stage.learn(alice);
    const before = await stage.run((tx) => stage.lists.device(tx, ALICE, "PHONE"));
    alice.replace("PHONE", { ...alice.device("PHONE"), [swapped]: fakeDevice("PHONE")[swapped] });
    const changes = await stage.learn(alice);
    assertEquals(changes.alarms, alarms);
    assertEquals([changes.added, changes.removed], [[], []]);
    assertEquals(await stage.run((tx) => stage.lists.device(tx, ALICE, "PHONE")), before);
  });

  Deno.test(`T16: a device that vanished comes back with another key (${swapped}): it is not taken`, async () => {
    const stage = new DeviceStage();
    const alice = new FakeUser(ALICE, "PHONE").crossSign();
    const phone = alice.device("PHONE");
    await stage.learn(alice);
    await stage.learn(new FakeUser(ALICE));
    await stage.restart();
    alice.replace("PHONE", { ...phone, [swapped]: fakeDevice("PHONE")[swapped] });
    const changes = await stage.learn(alice);
    assertEquals(changes.alarms, alarms);
    assertEquals(await stage.trust(ALICE), {});
    alice.replace("PHONE", phone);
    assertEquals((await stage.learn(alice)).alarms, []);
    assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
  });
}

Deno.test("T16: a new device with the identity key of another device of its user is not taken", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.learn(alice);
  const { curve25519 } = alice.device("PHONE");
  alice.devices.unshift({ ...fakeDevice("AAA"), curve25519 });
  const changes = await stage.learn(alice);
  assertEquals(changes.alarms, [{ kind: "key-reused", userId: ALICE, deviceId: "AAA" }]);
  const found = await stage.run((tx) => stage.lists.byIdentityKey(tx, ALICE, curve25519));
  assertEquals(found?.deviceId, "PHONE");
});

Deno.test("T16: of two new devices with the same identity key only one is taken", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "ONE");
  alice.devices.push({ ...fakeDevice("TWO"), curve25519: alice.device("ONE").curve25519 });
  const changes = await stage.learn(alice);
  assertEquals(changes.alarms, [{ kind: "key-reused", userId: ALICE, deviceId: "TWO" }]);
  assertEquals(await stage.trust(ALICE), { ONE: "unsigned" });
});

Deno.test("T16: a device with the own device's identity key is not taken", async () => {
  const own = fakeDevice("OWNDEVICE");
  const stage = new DeviceStage({ curve25519: own.curve25519, ed25519: own.signing.publicKey });
  const alice = new FakeUser(ALICE, "PHONE");
  alice.replace("PHONE", { ...fakeDevice("OWNDEVICE"), curve25519: own.curve25519 });
  const changes = await stage.learn(alice);
  assertEquals(changes.alarms.map(({ kind }) => kind), ["key-reused"]);
  assertEquals(await stage.trust(ALICE), {});
});

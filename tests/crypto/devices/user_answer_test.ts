/** What becomes of a user's record by what a server shows, hostile or half broken. */

import { assertEquals } from "@std/assert";
import type { DeviceAlarm, JsonObject } from "@greenroom/matrix/types";
import { MAX_DEVICES } from "../../../src/crypto/devices/user_answer.ts";
import { DeviceStage } from "../support/device_stage.ts";
import { type FakeDevice, fakeDevice, FakeUser, queryResponse, signingKey } from "../support/fake_user.ts";

const ALICE = "@alice:a.example";
const ME = "@me:example.org";

const kinds = (alarms: readonly DeviceAlarm[]) => alarms.map(({ kind }) => kind);

/** A device whose name looks like a key. */
const named = (publicKey: string): FakeDevice => fakeDevice(publicKey);

Deno.test("a device that is called like a cross-signing key shown for the first time is an attack, whichever key it is", async () => {
  for (const members of ["master_keys", "self_signing_keys", "user_signing_keys"] as const) {
    const stage = new DeviceStage();
    const alice = new FakeUser(ALICE);
    const key = signingKey();
    alice.devices.push(named(key.publicKey));
    const response = queryResponse(alice);
    response[members] = { [ALICE]: alice.crossSigningKey(key, "any") };
    await stage.mark(ALICE);
    const { alarms } = await stage.ask(response);
    assertEquals(alarms, [{ kind: "device-id-is-key", userId: ALICE, deviceId: key.publicKey }], members);
    assertEquals(await stage.trust(ALICE), {});
  }
});

Deno.test("a device named like a cross-signing key that does not exist is as good as any other", async () => {
  for (const master of [{}, { keys: null }, { keys: { "ed25519:A": 5 } }, { keys: ["A"] }, "A"]) {
    const stage = new DeviceStage();
    const alice = new FakeUser(ALICE);
    const { publicKey } = signingKey();
    alice.devices.push(named(publicKey));
    await stage.mark(ALICE);
    const { alarms } = await stage.ask({ ...queryResponse(alice), master_keys: { [ALICE]: master } });
    assertEquals(alarms, []);
    assertEquals(await stage.trust(ALICE), { [publicKey]: "unsigned" });
  }
});

Deno.test("a self-signing key that was hidden for a while, with the master key replaced meanwhile, counts when it is back", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const { master, selfSigning } = alice;
  await stage.learn(alice);
  Object.assign(alice, { master: signingKey(), selfSigning: undefined });
  assertEquals(kinds((await stage.learn(alice)).alarms), ["identity-changed"]);
  Object.assign(alice, { master });
  assertEquals(kinds((await stage.learn(alice)).alarms), ["identity-changed"]);
  assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" });
  await stage.acknowledge(ALICE);
  Object.assign(alice, { selfSigning });
  assertEquals((await stage.learn(alice)).alarms, []);
  assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
});

Deno.test("a device may have the key of one that has gone, or goes in the same answer, unless that was blocked", async () => {
  for (const gap of [false, true]) {
    for (const blocked of [false, true]) {
      const stage = new DeviceStage();
      const alice = new FakeUser(ALICE, "OLD");
      const again = { ...alice.device("OLD"), deviceId: "NEW" };
      await stage.learn(alice);
      if (blocked) await stage.say(ALICE, "OLD", "blacklisted");
      alice.replace("OLD");
      if (gap) await stage.learn(alice);
      alice.devices.push(again);
      const { alarms } = await stage.learn(alice);
      assertEquals(kinds(alarms), blocked ? ["key-reused"] : []);
      assertEquals(Object.keys(await stage.trust(ALICE)), blocked ? [] : ["NEW"]);
    }
  }
});

Deno.test("the own device in an answer raises no alarm, with its own keys or with others", async () => {
  for (const other of [false, true]) {
    const me = new FakeUser(ME, "OWNDEVICE");
    const { curve25519, signing } = me.device("OWNDEVICE");
    const stage = new DeviceStage({ curve25519, ed25519: signing.publicKey });
    if (other) me.replace("OWNDEVICE", fakeDevice("OWNDEVICE"));
    const { alarms, added } = await stage.learn(me);
    assertEquals([alarms, added], [[], []]);
  }
});

Deno.test("a device of which nonsense is shown stays as it was, and nothing is said of its keys", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.learn(alice);
  for (const nonsense of [null, "PHONE", {}, { user_id: ALICE, device_id: "PHONE", keys: [] }]) {
    await stage.mark(ALICE);
    const changes = await stage.ask({ device_keys: { [ALICE]: { PHONE: nonsense, NEW: nonsense } } });
    assertEquals([changes.alarms, changes.removed, changes.added], [[], [], []]);
  }
});

Deno.test("a thousand devices are not too many, one more is", async () => {
  const stage = new DeviceStage();
  const flood: JsonObject = Object.fromEntries(
    Array.from({ length: MAX_DEVICES }, (_, index) => [`D${index}`, {}]),
  );
  await stage.mark(ALICE);
  assertEquals((await stage.ask({ device_keys: { [ALICE]: flood } })).alarms, []);
  await stage.mark(ALICE);
  const { alarms } = await stage.ask({ device_keys: { [ALICE]: { ...flood, ONE: {} } } });
  assertEquals(kinds(alarms), ["too-many-devices"]);
});

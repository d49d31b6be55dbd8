import { assert, assertEquals, assertFalse } from "@std/assert";
import { MAX_DEVICES } from "../../../src/crypto/devices/user_answer.ts";
import { userKey } from "../../../src/crypto/devices/user_record.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { DeviceStage } from "../support/device_stage.ts";
import { fakeDevice, FakeUser, queryResponse } from "../support/fake_user.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";

Deno.test("the devices of a user are there after the server's answer", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE", "LAPTOP");
  const changes = await stage.learn(alice);
  assertEquals(changes.changed, [ALICE]);
  assertEquals(changes.added.map(({ deviceId }) => deviceId), ["LAPTOP", "PHONE"]);
  assertEquals([changes.removed, changes.alarms, changes.own], [[], [], undefined]);
  assertEquals(await stage.run((tx) => stage.lists.device(tx, ALICE, "PHONE")), {
    userId: ALICE,
    deviceId: "PHONE",
    curve25519: alice.device("PHONE").curve25519,
    ed25519: alice.device("PHONE").signing.publicKey,
    algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
    displayName: undefined,
    isDehydrated: false,
    trust: "unsigned",
  });
  assertFalse(stage.lists.tracked.isDirty([ALICE]));
});

Deno.test("a device is found by its identity key, padded or not, and only with its user", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE", "LAPTOP");
  await stage.learn(alice, new FakeUser(BOB, "PHONE"));
  const { curve25519 } = alice.device("LAPTOP");
  await stage.run(async (tx) => {
    assertEquals((await stage.lists.byIdentityKey(tx, ALICE, curve25519))?.deviceId, "LAPTOP");
    assertEquals((await stage.lists.byIdentityKey(tx, ALICE, `${curve25519}=`))?.deviceId, "LAPTOP");
    assertEquals(await stage.lists.byIdentityKey(tx, BOB, curve25519), undefined);
  });
});

Deno.test("a user who claims this device's name or key gets neither the device nor its trust", async () => {
  const OWN = fakeDevice("OWNDEVICE");
  const stage = new DeviceStage({ deviceId: OWN.deviceId, curve25519: OWN.curve25519 });
  const alice = new FakeUser(ALICE, OWN.deviceId);
  await stage.learn(alice);
  const [named, keyed] = await stage.run(async (tx) => [
    await stage.lists.device(tx, ALICE, OWN.deviceId),
    await stage.lists.byIdentityKey(tx, ALICE, OWN.curve25519),
  ]);
  assertEquals([named?.userId, named?.trust], [ALICE, "unsigned"]);
  assertEquals(named?.curve25519, alice.device(OWN.deviceId).curve25519);
  assertEquals(keyed, undefined);
  await stage.say(ALICE, OWN.deviceId, "blacklisted");
  assertEquals(await stage.trust(ALICE), { [OWN.deviceId]: "blacklisted" });
});

Deno.test("a key that no device of a user has ever had finds none, gone or not", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "PHONE"));
  const { curve25519 } = fakeDevice("OTHER");
  for (const userId of [ALICE, BOB] as const) {
    assertEquals(
      await stage.run((tx) => stage.lists.everByIdentityKey(tx, userId, curve25519)),
      undefined,
    );
  }
});

Deno.test("devices of several users are read together; users without any are missing", async () => {
  const stage = new DeviceStage();
  const bob = new FakeUser(BOB, "B");
  await stage.learn(new FakeUser(ALICE, "A"), bob);
  bob.devices.length = 0;
  await stage.learn(bob);
  const devices = await stage.run((tx) => stage.lists.devicesOf(tx, [BOB, ALICE, "@carol:c.example"]));
  assertEquals([...devices.keys()], [ALICE]);
});

Deno.test("devices and who is tracked outlive the process", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "PHONE").crossSign());
  await stage.restart();
  assert(stage.lists.tracked.isFollowed(ALICE));
  assertFalse(stage.lists.tracked.isDirty([ALICE]));
  assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
});

Deno.test("devices that come, go and come back are reported", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "OLD");
  const old = alice.device("OLD");
  await stage.learn(alice);
  alice.replace("OLD", fakeDevice("NEW"));
  const changes = await stage.learn(alice);
  assertEquals(changes.added.map(({ deviceId }) => deviceId), ["NEW"]);
  assertEquals(changes.removed.map(({ deviceId }) => deviceId), ["OLD"]);
  alice.devices.push(old);
  const back = await stage.learn(alice);
  assertEquals(back.added.map(({ deviceId }) => deviceId), ["OLD"]);
  assertEquals(back.alarms, []);
});

Deno.test("an answer that says what is known changes nothing and writes no record of the user", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A", "B").crossSign();
  await stage.learn(alice);
  const { version } = stage.lists.changes;
  const changes = await stage.learn(alice);
  assertEquals([changes.changed, changes.added, changes.removed], [[], [], []]);
  assertEquals(stage.lists.changes.version, version);
});

Deno.test("the mutable parts of a device change: algorithms, name, signatures", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.learn(alice);
  const response = queryResponse(alice);
  const changed = alice.deviceKeys(alice.device("PHONE"), { algorithms: ["m.new"], dehydrated: true });
  response.device_keys[ALICE] = {
    PHONE: { ...changed, unsigned: { device_display_name: "x".repeat(254) + "\u{1f600}" } },
  };
  await stage.mark(ALICE);
  assertEquals((await stage.ask(response)).changed, [ALICE]);
  const device = await stage.run((tx) => stage.lists.device(tx, ALICE, "PHONE"));
  assertEquals([device?.algorithms, device?.isDehydrated], [["m.new"], true]);
  assertEquals(device?.displayName, "x".repeat(254));
});

Deno.test("algorithms are bounded in number and length", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  const algorithms = ["a".repeat(256), 7, null, ...Array.from({ length: 100 }, (_, index) => `m.${index}`)];
  const response = queryResponse(alice);
  response.device_keys[ALICE] = { PHONE: alice.deviceKeys(alice.device("PHONE"), { algorithms }) };
  await stage.mark(ALICE);
  await stage.ask(response);
  const device = await stage.run((tx) => stage.lists.device(tx, ALICE, "PHONE"));
  assertEquals(device?.algorithms, Array.from({ length: 32 }, (_, index) => `m.${index}`));
});

Deno.test("devices without a name, with one of more than 255 characters, or without a list of algorithms are left out", async () => {
  const stage = new DeviceStage();
  const [longest, tooLong] = ["x".repeat(255), "x".repeat(256)];
  const alice = new FakeUser(ALICE, "", longest, tooLong, "BARE", "ODD");
  const response = queryResponse(alice);
  const bare = alice.deviceKeys(alice.device("BARE"), { algorithms: undefined });
  const odd = alice.deviceKeys(alice.device("ODD"), { algorithms: "m.olm.v1.curve25519-aes-sha2" });
  response.device_keys[ALICE] = { ...response.device_keys[ALICE], BARE: bare, ODD: odd };
  await stage.mark(ALICE);
  await stage.ask(response);
  assertEquals(Object.keys(await stage.trust(ALICE)), [longest]);
});

Deno.test("at most 1,000 devices of a user are kept, known ones first", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "AAA", "ZZZ");
  await stage.learn(alice);
  const flood: Record<string, JsonObject> = {};
  for (let index = 0; index < MAX_DEVICES + 5; index++) {
    const device = fakeDevice(`D${index}`);
    flood[device.deviceId] = alice.deviceKeys(device);
  }
  await stage.mark(ALICE);
  const { AAA, ZZZ } = queryResponse(alice).device_keys[ALICE] ?? {};
  const changes = await stage.ask({ device_keys: { [ALICE]: { AAA, ...flood, ZZZ } } });
  assertEquals(changes.alarms, [{ kind: "too-many-devices", userId: ALICE, count: MAX_DEVICES + 7 }]);
  const trust = await stage.trust(ALICE);
  assertEquals(Object.keys(trust).length, MAX_DEVICES);
  assertEquals([trust.AAA, trust.ZZZ], ["unsigned", "unsigned"]);
  await stage.learn(new FakeUser(ALICE));
  await stage.learn(new FakeUser(ALICE, ...Array.from({ length: 20 }, (_, index) => `E${index}`)));
  await stage.learn(new FakeUser(ALICE));
  const record = await stage.run((tx) => tx.get(userKey(ALICE)));
  assertEquals(record?.gone.length, MAX_DEVICES);
  assertEquals(record?.gone.at(-1)?.deviceId, "E9");
});

Deno.test("former devices with a decision of the application are forgotten last", async () => {
  const stage = new DeviceStage();
  const gone = Array.from({ length: MAX_DEVICES }, (_, index) => ({
    deviceId: `G${index}`,
    curve25519: "A".repeat(43),
    ed25519: "A".repeat(43),
    local: index === 0 ? "blacklisted" as const : undefined,
  }));
  await stage.run((tx) => tx.set(userKey(ALICE), { devices: [], gone }));
  await stage.learn(new FakeUser(ALICE, "X", "Y"));
  await stage.learn(new FakeUser(ALICE));
  const record = await stage.run((tx) => tx.get(userKey(ALICE)));
  const names = record?.gone.map(({ deviceId }) => deviceId);
  assertEquals(names?.slice(0, 2), ["G0", "G3"]);
  assertEquals(names?.slice(-2), ["X", "Y"]);
  assertEquals(names?.length, MAX_DEVICES);
});

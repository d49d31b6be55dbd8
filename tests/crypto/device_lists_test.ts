import { assert, assertEquals, assertFalse, assertNotEquals, assertRejects } from "@std/assert";
import { DeviceLists } from "../../src/crypto/device_lists.ts";
import { MAX_DEVICES } from "../../src/crypto/user_answer.ts";
import { userKey } from "../../src/crypto/user_record.ts";
import { ValueError } from "../../src/errors/value_error.ts";
import type { JsonObject } from "../../src/types/json.ts";
import { testContext } from "./support/context.ts";
import { DeviceStage } from "./support/device_stage.ts";
import { fakeDevice, FakeUser, queryResponse } from "./support/fake_user.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";
const ME = "@me:example.org";

Deno.test("the devices that a user has are there after the server has told of them", async () => {
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
    dehydrated: false,
    trust: "unsigned",
  });
  assertFalse(stage.lists.isDirty([ALICE]));
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

Deno.test("devices of several users are read at once; users without any are missing", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"), new FakeUser(BOB));
  const devices = await stage.run((tx) => stage.lists.devicesOf(tx, [BOB, ALICE, "@carol:c.example"]));
  assertEquals([...devices.keys()], [ALICE]);
});

Deno.test("devices and who is tracked outlive the process", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "PHONE").crossSign());
  await stage.restart();
  assert(stage.lists.isTracked(ALICE));
  assertFalse(stage.lists.isDirty([ALICE]));
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
  const { version } = stage.lists;
  const changes = await stage.learn(alice);
  assertEquals([changes.changed, changes.added, changes.removed], [[], [], []]);
  assertEquals(stage.lists.version, version);
});

Deno.test("what may change of a device does: algorithms, name, signatures", async () => {
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
  assertEquals([device?.algorithms, device?.dehydrated], [["m.new"], true]);
  assertEquals(device?.displayName, "x".repeat(254) + "\ufffd");
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

Deno.test("trust: what the application says goes before what the user says", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A", "B", "C", "D").crossSign();
  alice.unsigned.add("C");
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), {
    A: "cross-signed",
    B: "cross-signed",
    C: "unsigned",
    D: "cross-signed",
  });
  const { version } = stage.lists;
  await stage.run(async (tx) => {
    assertEquals((await stage.lists.setTrust(tx, ALICE, "A", "blacklisted")).trust, "blacklisted");
    assertEquals((await stage.lists.setTrust(tx, ALICE, "C", "verified")).trust, "verified");
    assertEquals(stage.lists.version, version);
  });
  assertNotEquals(stage.lists.version, version);
  assertEquals(await stage.trust(ALICE), {
    A: "blacklisted",
    B: "cross-signed",
    C: "verified",
    D: "cross-signed",
  });
  await stage.learn(alice);
  await stage.restart();
  assertEquals(await stage.trust(ALICE), {
    A: "blacklisted",
    B: "cross-signed",
    C: "verified",
    D: "cross-signed",
  });
  await stage.run((tx) => stage.lists.setTrust(tx, ALICE, "A", undefined));
  assertEquals((await stage.trust(ALICE)).A, "cross-signed");
});

Deno.test("what the application said of a device outlives the device's absence", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A");
  await stage.learn(alice);
  await stage.run((tx) => stage.lists.setTrust(tx, ALICE, "A", "blacklisted"));
  await stage.learn(new FakeUser(ALICE));
  assertEquals(await stage.trust(ALICE), {});
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { A: "blacklisted" });
});

Deno.test("the trust of a device that is not known, or is the own one, can't be set", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  const set = (userId: typeof ALICE | typeof ME, deviceId: string) =>
    stage.run((tx) => stage.lists.setTrust(tx, userId, deviceId, "verified"));
  await assertRejects(() => set(ALICE, "B"), ValueError, `device "B" of "@alice:a.example"`);
  await assertRejects(() => set(ME, "OWNDEVICE"), ValueError, "this device");
});

Deno.test("the identity that was seen first is pinned; another makes a violation until it is accepted", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A").crossSign();
  await stage.learn(alice);
  const first = alice.master?.publicKey ?? "";
  assertEquals(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)), {
    userId: ALICE,
    pinned: first,
    master: first,
    selfSigning: alice.selfSigning?.publicKey,
    changed: false,
  });
  alice.crossSign();
  const second = alice.master?.publicKey ?? "";
  const changes = await stage.learn(alice);
  assertEquals(changes.alarms, [{
    kind: "identity-changed",
    userId: ALICE,
    previous: first,
    current: second,
  }]);
  assertEquals(await stage.trust(ALICE), { A: "violation" });
  assertEquals((await stage.learn(alice)).alarms, []);
  await stage.restart();
  assertEquals(await stage.trust(ALICE), { A: "violation" });
  const { version } = stage.lists;
  await stage.run((tx) => stage.lists.acknowledgeIdentity(tx, ALICE));
  assertNotEquals(stage.lists.version, version);
  assertEquals(await stage.trust(ALICE), { A: "cross-signed" });
  const identity = await stage.run((tx) => stage.lists.identityOf(tx, ALICE));
  assertEquals([identity?.pinned, identity?.changed], [second, false]);
});

Deno.test("a user without cross-signing keys has no identity, and none to accept", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  assertEquals(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)), undefined);
  await assertRejects(() => stage.run((tx) => stage.lists.acknowledgeIdentity(tx, ALICE)), ValueError, ALICE);
});

Deno.test("a new self-signing key takes the trust from devices that it has not signed", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A").crossSign();
  await stage.learn(alice);
  const response = queryResponse(alice);
  alice.selfSigning = fakeDevice("").signing;
  response.self_signing_keys = queryResponse(alice).self_signing_keys;
  await stage.mark(ALICE);
  await stage.ask(response);
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
});

Deno.test("the own device is told of separately, and is not among the user's devices", async () => {
  const me = new FakeUser(ME, "OWNDEVICE", "OTHER");
  const { curve25519, signing } = me.device("OWNDEVICE");
  const stage = new DeviceStage({ curve25519, ed25519: signing.publicKey });
  const response = queryResponse(me);
  await stage.mark(ME);
  const changes = await stage.ask(response);
  assertEquals(changes.own, response.device_keys[ME]?.OWNDEVICE);
  assertEquals(changes.added.map(({ deviceId }) => deviceId), ["OTHER"]);
  assertEquals(Object.keys(await stage.trust(ME)), ["OTHER"]);
  await stage.run(async (tx) => {
    const own = await stage.lists.device(tx, ME, "OWNDEVICE");
    assertEquals([own?.curve25519, own?.trust], [curve25519, "verified"]);
    assertEquals(await stage.lists.byIdentityKey(tx, ME, curve25519), own);
  });
});

Deno.test("it is told when the server does not show the own device", async () => {
  const stage = new DeviceStage();
  assertEquals((await stage.learn(new FakeUser(ME, "OTHER"))).own, "missing");
  await stage.mark(ME);
  assertEquals((await stage.ask({ device_keys: {} })).own, "missing");
  await stage.clock.tick(60_000);
  await stage.mark(ME);
  assertEquals((await stage.ask({ device_keys: {}, failures: { "example.org": {} } })).own, undefined);
});

Deno.test("users whom the answer leaves out have no devices, keep their identity, and are asked of again", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A").crossSign());
  await stage.mark(ALICE);
  const changes = await stage.ask({ device_keys: {} });
  assertEquals(changes.removed.map(({ deviceId }) => deviceId), ["A"]);
  assertEquals(await stage.trust(ALICE), {});
  assert(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)));
  assertFalse(stage.lists.isDirty([ALICE]));
  assertEquals(stage.lists.nextQuery(stage.clock.now() + 15_000)?.users, [ALICE]);
});

Deno.test("users of servers out of reach keep their devices and stay dirty, but are not waited for", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  await stage.mark(ALICE);
  const changes = await stage.ask({ device_keys: {}, failures: { "a.example": {} } });
  assertEquals([changes.changed, changes.removed], [[], []]);
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
  assertFalse(stage.lists.isDirty([ALICE]));
  assertEquals(stage.lists.retryAt(), stage.clock.now() + 15_000);
});

Deno.test("what is shown of a server out of reach is taken, but may be out of date", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  await stage.ask({ ...queryResponse(new FakeUser(ALICE, "A")), failures: { "a.example": {} } });
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
  assertEquals(stage.lists.nextQuery(stage.clock.now() + 15_000)?.users, [ALICE]);
});

Deno.test("an answer that is none changes nothing, and is waited for again", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  for (const response of [{}, { device_keys: null }, { device_keys: [] }] as JsonObject[]) {
    await stage.mark(ALICE);
    await stage.clock.tick(120_000);
    assertEquals((await stage.ask(response)).changed, []);
    assertEquals(await stage.trust(ALICE), { A: "unsigned" });
    assert(stage.lists.isDirty([ALICE]));
  }
});

Deno.test("a list of devices that is none changes nothing", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  for (const devices of [null, [], 7]) {
    await stage.mark(ALICE);
    await stage.ask({ device_keys: { [ALICE]: devices } });
    assertEquals(await stage.trust(ALICE), { A: "unsigned" });
  }
});

Deno.test("the answer to a query that was given up changes nothing", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  const query = stage.lists.nextQuery(stage.clock.now());
  assert(query);
  stage.lists.failQuery(query, stage.clock.now());
  const response = queryResponse(new FakeUser(ALICE, "A"));
  const changes = await stage.run((tx) => stage.lists.receiveQuery(tx, query, response));
  assertEquals(changes.changed, []);
  assert(stage.lists.isDirty([ALICE]));
});

Deno.test("a step that comes to nothing leaves the query under way and the version as it was", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  const query = stage.lists.nextQuery(stage.clock.now());
  assert(query);
  const response = queryResponse(new FakeUser(ALICE, "A"));
  const { version } = stage.lists;
  await assertRejects(() =>
    stage.run(async (tx) => {
      await stage.lists.receiveQuery(tx, query, response);
      throw new RangeError("the step fails");
    })
  );
  assertEquals(stage.lists.version, version);
  assertEquals(await stage.trust(ALICE), {});
  await stage.run((tx) => stage.lists.receiveQuery(tx, query, response));
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
});

Deno.test("an instance that has died says nothing of devices: none is lost", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A");
  await stage.learn(alice);
  const { Vodozemac } = await import("@greenroom/vodozemac-wasm");
  const dead = await Vodozemac.create();
  const context = { ...testContext({ vodozemac: dead, clock: stage.clock }) };
  dead[Symbol.dispose]();
  stage.lists = new DeviceLists(context);
  await stage.run((tx) => stage.lists.load(tx));
  // A signature that the runtime does not vouch for, so that vodozemac is asked.
  const response = queryResponse(new FakeUser(ALICE, "B"));
  const keys = response.device_keys[ALICE]?.B as { signatures: Record<string, Record<string, string>> };
  keys.signatures[ALICE] = { "ed25519:B": "A".repeat(86) };
  await stage.mark(ALICE);
  await assertRejects(() => stage.ask(response));
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
});

Deno.test("at most 1,000 devices of a user are kept, those that are known first", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "ZZZ");
  await stage.learn(alice);
  const flood: Record<string, JsonObject> = {};
  for (let index = 0; index < MAX_DEVICES + 5; index++) {
    const device = fakeDevice(`D${index}`);
    flood[device.deviceId] = alice.deviceKeys(device);
  }
  await stage.mark(ALICE);
  const zzz = queryResponse(alice).device_keys[ALICE];
  const changes = await stage.ask({ device_keys: { [ALICE]: { ...flood, ...zzz } } });
  assertEquals(changes.alarms, [{ kind: "too-many-devices", userId: ALICE, count: MAX_DEVICES + 6 }]);
  const trust = await stage.trust(ALICE);
  assertEquals(Object.keys(trust).length, MAX_DEVICES);
  assertEquals(trust.ZZZ, "unsigned");
  await stage.learn(new FakeUser(ALICE));
  await stage.learn(new FakeUser(ALICE, ...Array.from({ length: 20 }, (_, index) => `E${index}`)));
  await stage.learn(new FakeUser(ALICE));
  const record = await stage.run((tx) => tx.get(userKey(ALICE)));
  assertEquals(record?.gone.length, MAX_DEVICES);
  assertEquals(record?.gone.at(-1)?.deviceId, "E9");
});

Deno.test("of devices that are gone, those of which the application said something are forgotten last", async () => {
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

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { newestOf } from "../../../src/crypto/devices/user_answer.ts";
import { ValueError } from "@greenroom/matrix/errors";
import { DeviceStage } from "../support/device_stage.ts";
import { fakeDevice, FakeUser, queryResponse } from "../support/fake_user.ts";
import type { KnownDevice } from "../../../src/crypto/devices/device_keys_check.ts";

const ALICE = "@alice:a.example";
const ME = "@me:example.org";

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
  const { version } = stage.lists.changes;
  const keyOf = (deviceId: string) => alice.device(deviceId).signing.publicKey;
  await stage.run(async (tx) => {
    await stage.lists.setTrust(tx, { userId: ALICE, deviceId: "A", ed25519: keyOf("A") }, "blacklisted");
    assertEquals((await stage.lists.device(tx, ALICE, "A"))?.trust, "blacklisted");
    await stage.lists.setTrust(tx, { userId: ALICE, deviceId: "C", ed25519: keyOf("C") }, "verified");
    assertEquals((await stage.lists.device(tx, ALICE, "C"))?.trust, "verified");
    assertEquals(stage.lists.changes.version, version);
  });
  assertNotEquals(stage.lists.changes.version, version);
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
  await stage.say(ALICE, "A", undefined);
  assertEquals((await stage.trust(ALICE)).A, "cross-signed");
});

Deno.test("the application's decision about a device outlives the device's absence", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A");
  await stage.learn(alice);
  await stage.say(ALICE, "A", "blacklisted");
  await stage.learn(new FakeUser(ALICE));
  assertEquals(await stage.trust(ALICE), {});
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { A: "blacklisted" });
});

Deno.test("former devices with the least trust are forgotten first, and of these the oldest", () => {
  const former = (deviceId: string, facts: Partial<KnownDevice> = {}) => ({
    deviceId,
    curve25519: "",
    ed25519: "",
    ...facts,
  });
  const gone = [
    former("blocked", { local: "blacklisted" }),
    former("verified", { local: "verified" }),
    former("vouched for", { signedBy: "key" }),
    former("vouched for later", { signedBy: "key" }),
    former("unsigned"),
    former("unsigned later"),
  ];
  const kept = (limit: number) => newestOf(gone, limit).map(({ deviceId }) => deviceId);
  assertEquals(kept(5), ["blocked", "verified", "vouched for", "vouched for later", "unsigned later"]);
  assertEquals(kept(3), ["blocked", "verified", "vouched for later"]);
  assertEquals([kept(2), kept(1), kept(0)], [["blocked", "verified"], ["blocked"], []]);
});

Deno.test("the trust of a device that is not known, or is the own one, can't be set", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  const set = (userId: typeof ALICE | typeof ME, deviceId: string) => stage.say(userId, deviceId, "verified");
  await assertRejects(() => set(ALICE, "B"), ValueError, `device "B" of "@alice:a.example"`);
  await assertRejects(() => set(ME, "OWNDEVICE"), ValueError, "this device");
});

Deno.test("the identity that was seen first is pinned, then the one in its place; the first one again makes a violation until it is accepted", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A").crossSign();
  await stage.learn(alice);
  const first = alice.master?.publicKey ?? "";
  const keys = { master: alice.master, selfSigning: alice.selfSigning, userSigning: alice.userSigning };
  const identity = () => stage.run((tx) => stage.lists.identityOf(tx, ALICE));
  assertEquals(await identity(), {
    userId: ALICE,
    pinned: first,
    master: first,
    selfSigning: alice.selfSigning?.publicKey,
    hasChanged: false,
    wasReset: false,
    isVerified: false,
    wasVerified: false,
  });
  alice.crossSign();
  const second = alice.master?.publicKey ?? "";
  const alarm = { kind: "identity-changed", userId: ALICE } as const;
  const taken = (await stage.learn(alice)).alarms;
  assertEquals(taken, [{ ...alarm, previous: first, current: second, isAccepted: true }]);
  for (let time = 0; time < 2; time++) {
    assertEquals(await stage.trust(ALICE), { A: "cross-signed" });
    assertEquals([(await identity())?.pinned, (await identity())?.hasChanged], [second, false]);
    await stage.restart();
    assertEquals((await stage.learn(alice)).alarms, []);
  }
  Object.assign(alice, keys);
  const back = (await stage.learn(alice)).alarms;
  assertEquals(back, [{ ...alarm, previous: second, current: first, isAccepted: false }]);
  await stage.restart();
  assertEquals(await stage.trust(ALICE), { A: "violation" });
  const { version } = stage.lists.changes;
  await stage.acknowledge(ALICE);
  assertNotEquals(stage.lists.changes.version, version);
  assertEquals(await stage.trust(ALICE), { A: "cross-signed" });
  const now = stage.lists.changes.version;
  await stage.acknowledge(ALICE);
  assertEquals(stage.lists.changes.version, now, "there is nothing left to accept");
});

Deno.test("a user without cross-signing keys has no identity, and none to accept", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  assertEquals(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)), undefined);
  await assertRejects(() => stage.acknowledge(ALICE), ValueError, ALICE);
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

/** What is kept of users with whom no encrypted room is shared any more. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { duePruning, UNVOUCHED_USER_DAYS } from "../../../src/crypto/records/mod.ts";
import { userKey, type UserRecord } from "../../../src/crypto/devices/user_record.ts";
import type { UserID } from "@greenroom/matrix/types";
import { DeviceStage } from "../support/device_stage.ts";
import { fakeDevice, FakeUser, queryResponse } from "../support/fake_user.ts";
import { DAY } from "./records.ts";

const ALICE: UserID = "@alice:example.org";

/** Takes all looks that are due; of whom they were. */
async function tidy(stage: DeviceStage): Promise<UserID[]> {
  const due = await stage.run((tx) => duePruning(tx, { now: stage.clock.now(), limit: 100 }));
  for (const { userId } of due) await stage.run((tx) => stage.lists.pruneUser(tx, userId));
  return due.map(({ userId }) => userId);
}

function recordOf(stage: DeviceStage, userId: UserID): Promise<UserRecord | undefined> {
  return stage.run((tx) => tx.get(userKey(userId)));
}

/** A user whose devices were known, and who has left. */
async function left(user: FakeUser, prepare: (stage: DeviceStage) => Promise<unknown> = async () => {}) {
  const stage = new DeviceStage();
  await stage.learn(user);
  await prepare(stage);
  await stage.run((tx) => stage.lists.left(tx, [user.userId]));
  return stage;
}

Deno.test("the devices of a user who has left are kept for a month", async () => {
  const stage = await left(new FakeUser(ALICE, "ONE", "TWO"));
  await stage.clock.tick(29 * DAY);
  assertEquals(await tidy(stage), []);
  await stage.clock.tick(DAY);
  assertEquals(await tidy(stage), [ALICE]);
  const record = await recordOf(stage, ALICE);
  assertEquals(record?.devices, []);
  assertEquals(record?.gone.map(({ deviceId }) => deviceId), ["ONE", "TWO"]);
});

Deno.test("the removal of a user's devices is in the changes since a version, and only once", async () => {
  const stage = await left(new FakeUser(ALICE, "ONE"));
  await stage.clock.tick(30 * DAY);
  const changed: (readonly UserID[])[] = [];
  for (let time = 0; time < 2; time++) {
    const { version } = stage.lists.changes;
    await stage.run((tx) => stage.lists.pruneUser(tx, ALICE));
    changed.push([...stage.lists.changes.since(version) ?? []]);
  }
  assertEquals(changed, [[ALICE], []]);
});

Deno.test("a user without any trust decision is forgotten when the time has passed, not before", async () => {
  const stage = await left(new FakeUser(ALICE, "ONE"));
  const isKept = async () => {
    await stage.run((tx) => stage.lists.pruneUser(tx, ALICE));
    return await recordOf(stage, ALICE) !== undefined;
  };
  assert(await isKept());
  await stage.clock.tick(UNVOUCHED_USER_DAYS * DAY - 1);
  assert(await isKept());
  await stage.clock.tick(1);
  assertFalse(await isKept());
});

Deno.test("a user who comes back keeps the same devices and trust", async () => {
  const alice = new FakeUser(ALICE, "ONE");
  const stage = await left(alice);
  await stage.clock.tick(DAY);
  await stage.learn(alice);
  const before = await recordOf(stage, ALICE);
  await stage.clock.tick(400 * DAY);
  assertEquals(await tidy(stage), [ALICE]);
  assertEquals(await recordOf(stage, ALICE), before);
});

Deno.test("a user who comes back after the removal has the devices again, with the application's decisions", async () => {
  const alice = new FakeUser(ALICE, "ONE", "TWO");
  const stage = await left(
    alice,
    (stage) => stage.say(ALICE, "TWO", "verified"),
  );
  await stage.clock.tick(31 * DAY);
  await tidy(stage);
  assertEquals(await stage.trust(ALICE), {});
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { ONE: "unsigned", TWO: "verified" });
});

Deno.test("T16: a device whose keys were swapped while its user was gone raises the alarm", async () => {
  const alice = new FakeUser(ALICE, "ONE");
  const stage = await left(alice);
  await stage.clock.tick(31 * DAY);
  await tidy(stage);
  alice.replace("ONE", fakeDevice("ONE"));
  const { alarms } = await stage.learn(alice);
  assertEquals(alarms, [{ kind: "keys-changed", userId: ALICE, deviceId: "ONE" }]);
  assertEquals(await stage.trust(ALICE), {});
});

Deno.test("T18: the identity of a user is never forgotten", async () => {
  const alice = new FakeUser(ALICE, "ONE").crossSign();
  const stage = await left(alice);
  for (const days of [31, 400, 4_000]) {
    await stage.clock.tick(days * DAY);
    await tidy(stage);
  }
  await stage.restart();
  alice.crossSign();
  const { alarms } = await stage.learn(alice);
  assertEquals(alarms.map(({ kind }) => kind), ["identity-changed"]);
  assertEquals(await stage.trust(ALICE), { ONE: "cross-signed" });
});

Deno.test("a device that the application has blocked stays blocked", async () => {
  const alice = new FakeUser(ALICE, "ONE");
  const stage = await left(
    alice,
    (stage) => stage.say(ALICE, "ONE", "blacklisted"),
  );
  for (const days of [31, 400, 4_000]) {
    await stage.clock.tick(days * DAY);
    await tidy(stage);
  }
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { ONE: "blacklisted" });
});

Deno.test("a user without an identity is forgotten a year after the devices", async () => {
  const stage = await left(new FakeUser(ALICE, "ONE"));
  await stage.clock.tick(31 * DAY);
  await tidy(stage);
  await stage.clock.tick(364 * DAY);
  await tidy(stage);
  assertEquals((await recordOf(stage, ALICE))?.gone.length, 1);
  await stage.clock.tick(3 * DAY);
  await tidy(stage);
  assertEquals(await recordOf(stage, ALICE), undefined);
});

Deno.test("the newest former devices of a user who has left are kept, and those with a decision of the application", async () => {
  const alice = new FakeUser(ALICE, "FIRST");
  const stage = new DeviceStage();
  await stage.learn(alice);
  await stage.say(ALICE, "FIRST", "blacklisted");
  for (let round = 0; round < 4; round++) {
    alice.devices.splice(0, Infinity, ...Array.from({ length: 40 }, (_, n) => fakeDevice(`R${round}N${n}`)));
    await stage.mark(ALICE);
    await stage.ask(queryResponse(alice));
  }
  await stage.run((tx) => stage.lists.left(tx, [ALICE]));
  await stage.clock.tick(31 * DAY);
  await tidy(stage);
  const gone = (await recordOf(stage, ALICE))?.gone ?? [];
  assertEquals(gone.length, 101);
  assertEquals(gone[0]?.deviceId, "FIRST");
  assertEquals(gone.at(-1)?.deviceId.slice(0, 2), "R3");
});

Deno.test("a user with a device that is gone is looked at when a month has passed", async () => {
  const alice = new FakeUser(ALICE, "ONE", "TWO");
  const stage = new DeviceStage();
  await stage.learn(alice);
  alice.devices.pop();
  await stage.mark(ALICE);
  await stage.ask(queryResponse(alice));
  await stage.clock.tick(30 * DAY);
  assertEquals(await tidy(stage), []);
  await stage.clock.tick(DAY);
  assertEquals(await tidy(stage), [ALICE]);
  assertEquals(await stage.trust(ALICE), { ONE: "unsigned" });
});

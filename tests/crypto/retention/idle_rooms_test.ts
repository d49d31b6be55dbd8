/** What is kept of own sessions in rooms that nothing is said in any more. */

import { assert, assertEquals } from "@std/assert";
import { device } from "../sharing/fakes.ts";
import { ALICE, BOB, ROOM } from "../sharing/room.ts";
import { Stage } from "../sharing/stage.ts";
import { DAY } from "./records.ts";

const KINDS = ["outbound_session", "outbound_share", "outbound_roster"];

async function kept(stage: Stage): Promise<number[]> {
  return await Promise.all(KINDS.map(async (kind) => (await stage.vault.list(["crypto", kind])).length));
}

/** Looks at the room until there is nothing left to do; how many records each step changed. */
async function tidy(stage: Stage): Promise<number[]> {
  const steps: number[] = [];
  for (let outcome = "more"; outcome === "more";) {
    outcome = await stage.step(async (tx) => {
      const result = await stage.outbound.pruneRoom(tx, ROOM);
      steps.push(tx.changes);
      return result;
    });
  }
  return steps;
}

Deno.test("own sessions of a room, and their recipients, are removed a month after the last could be used", async () => {
  const stage = await Stage.open();
  for (let n = 0; n < 4; n++) {
    await stage.send();
    await stage.clock.tick(7 * DAY);
  }
  await stage.send();
  assert((await kept(stage)).every((count) => count > 0));
  await stage.clock.tick(36 * DAY);
  await tidy(stage);
  assertEquals(await kept(stage), [1, 10, 5], "a week of use, and a month");
  await stage.clock.tick(DAY);
  await tidy(stage);
  assertEquals(await kept(stage), [0, 0, 0]);
  assertEquals(stage.outbound.sessionRooms(), []);
});

Deno.test("the next event of such a room can be decrypted by all its members, also after a restart", async () => {
  for (const restart of [false, true]) {
    const stage = await Stage.open();
    const before = await stage.send();
    await stage.clock.tick(60 * DAY);
    await tidy(stage);
    if (restart) await stage.restart();
    const after = await stage.send();
    assert(after.session_id !== before.session_id);
    for (const owner of [...stage.devices.of(ALICE), ...stage.devices.of(BOB)]) {
      assert(stage.canRead(owner, after));
    }
  }
});

Deno.test("a session that may still be used stays, for however long its room has it used", async () => {
  const stage = await Stage.open();
  stage.room.encryption = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_ms: 1_000 * DAY };
  const first = await stage.send();
  await stage.clock.tick(900 * DAY);
  await tidy(stage);
  assertEquals((await stage.send()).session_id, first.session_id);
});

Deno.test("an expired session is kept for a month: its recipients may request it", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.clock.tick(36 * DAY);
  await tidy(stage);
  const [alice] = stage.devices.of(ALICE);
  assert(alice !== undefined);
  const sharedAt = () => stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(session_id), alice));
  assertEquals(await sharedAt(), 0);
  await stage.clock.tick(2 * DAY);
  await tidy(stage);
  assertEquals(await sharedAt(), undefined);
});

Deno.test("nothing is kept of a session that is over because its room would have had it used for years", async () => {
  const stage = await Stage.open();
  stage.room.encryption = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_ms: 1_000 * DAY };
  await stage.send();
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.clock.tick(400 * DAY);
  await tidy(stage);
  assertEquals(await kept(stage), [0, 0, 0]);
});

Deno.test("as long as a key is on its way nothing of its session goes", async () => {
  const stage = await Stage.open();
  await stage.prepare();
  await stage.describe();
  stage.olm.claim();
  for (let round = 0; round < 5 && stage.outbox.pending().length === 0; round++) {
    if ((await stage.prepare()).needs === "keysClaim") stage.olm.claim();
  }
  assert(stage.outbox.pending().length > 0);
  await stage.clock.tick(100 * DAY);
  const before = await kept(stage);
  await tidy(stage);
  assertEquals(await kept(stage), before);
});

Deno.test("as long as an event is on its way its session stays, and goes with it", async () => {
  const stage = await Stage.open();
  await stage.send("one", "txn");
  await stage.clock.tick(100 * DAY);
  await tidy(stage);
  await stage.restart();
  assertEquals(stage.outbox.pending().map(({ txnId }) => txnId), ["txn"]);
  await stage.deliver();
  await tidy(stage);
  assertEquals(await kept(stage), [0, 0, 0]);
});

Deno.test("the share records of a thousand devices are removed in bounded steps, and the session is not used in between", async () => {
  const stage = await Stage.open();
  for (let n = 0; n < 1_000; n++) {
    const userId = `@user${n}:example.org` as const;
    stage.room.members.set(userId, "join");
    stage.devices.put(device(userId, `D${n}`));
  }
  const before = await stage.send();
  await stage.clock.tick(60 * DAY);
  await stage.step(async (tx) => {
    assertEquals(await stage.outbound.pruneRoom(tx, ROOM), "more");
  });
  await stage.restart(); // the process ends between two steps
  await stage.clock.tick(-59 * DAY); // by the clock the session might be used
  assert((await stage.send()).session_id !== before.session_id);
  await stage.clock.tick(90 * DAY);
  const steps = await tidy(stage);
  assert(steps.length > 2 && steps.every((count) => count <= 600), `${steps}`);
  assertEquals(await kept(stage), [0, 0, 0]);
});

Deno.test("devices that come and go do not grow the list of withheld keys without bound", async () => {
  const stage = await Stage.open({ policy: { sendTo: "verified" } });
  for (let round = 0; round < 6; round++) {
    for (const { deviceId } of stage.devices.of(ALICE)) stage.devices.remove(ALICE, deviceId);
    const made = Array.from({ length: 500 }, (_, n) => device(ALICE, `R${round}N${n}`));
    stage.devices.put(...made);
    await stage.send();
  }
  const [record] = await stage.vault.list(["crypto", "outbound_share", ALICE]);
  const { devices } = record?.value as { devices: unknown[] };
  assertEquals(devices.length, 2_000);
});

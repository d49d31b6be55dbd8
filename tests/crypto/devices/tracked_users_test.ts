import { assert, assertEquals, assertFalse } from "@std/assert";
import { RecentMap } from "../../../src/base/recent_map.ts";
import { Transaction } from "../../../src/crypto/records/mod.ts";
import type { UserID } from "@greenroom/matrix/types";
import { cleanStageOf, stageOf, TrackedStage } from "../support/tracked_stage.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";
const BEA = "@bea:b.example";

Deno.test("newly tracked users are dirty until the server has answered", async () => {
  const stage = await stageOf(ALICE);
  assert(stage.tracked.isDirty([ALICE]));
  const query = stage.ask();
  assertEquals(query.users, [ALICE]);
  assert(stage.tracked.isDirty([ALICE]));
  await stage.answer(query);
  assertFalse(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.tracked.nextQuery(0), undefined);
});

Deno.test("tracking a user again changes nothing", async () => {
  const stage = await cleanStageOf(ALICE);
  await stage.run((tx) => stage.tracked.track(tx, [ALICE]));
  assertFalse(stage.tracked.isDirty([ALICE]));
});

Deno.test("a change marks users who are tracked, and no others", async () => {
  const stage = await cleanStageOf(ALICE);
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE, BOB]));
  assertEquals(stage.ask().users, [ALICE]);
  assertFalse(stage.tracked.has(BOB));
});

Deno.test("dirty users stay dirty over a restart, and clean ones clean", async () => {
  const stage = await cleanStageOf(ALICE, BOB);
  await stage.run((tx) => stage.tracked.changed(tx, [BOB]));
  stage.ask();
  await stage.restart();
  assertFalse(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.ask().users, [BOB]);
});

Deno.test("numbers go on after a restart: a change then is newer than every answer before", async () => {
  const stage = await cleanStageOf(ALICE);
  for (let round = 0; round < 3; round++) {
    await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
    await stage.answer(stage.ask());
  }
  await stage.restart();
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
  assert(stage.tracked.isDirty([ALICE]));
  await stage.restart();
  assert(stage.tracked.isDirty([ALICE]));
});

Deno.test("users who left are not queried, and are dirty when they are tracked again", async () => {
  const stage = await cleanStageOf(ALICE, BOB);
  await stage.run((tx) => stage.tracked.left(tx, [ALICE, BEA]));
  assertFalse(stage.tracked.has(ALICE));
  await stage.restart();
  assertFalse(stage.tracked.has(ALICE));
  assertEquals(stage.tracked.nextQuery(0), undefined);
  await stage.run((tx) => stage.tracked.track(tx, [ALICE]));
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("an answer does not make a user clean who has left and come back since the query", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  await stage.run((tx) => {
    stage.tracked.left(tx, [ALICE]);
    stage.tracked.track(tx, [ALICE]);
  });
  await stage.answer(query);
  assert(stage.tracked.isDirty([ALICE]));
});

Deno.test("all users are marked by one record, and stay marked over a restart", async () => {
  const stage = await cleanStageOf(ALICE, BOB);
  const tx = new Transaction(stage.vault, new RecentMap(10));
  stage.tracked.invalidateAll(tx);
  assertEquals(tx.changes, 1);
  await tx.commit();
  for (let again = 0; again < 5; again++) await stage.run((tx) => stage.tracked.invalidateAll(tx));
  await stage.restart();
  assert(stage.tracked.isDirty([ALICE]) && stage.tracked.isDirty([BOB]));
  await stage.answer(stage.ask());
  await stage.restart();
  assertFalse(stage.tracked.isDirty([ALICE, BOB]));
});

Deno.test("marking a dirty user writes nothing", async () => {
  const stage = await stageOf(ALICE);
  const tx = new Transaction(stage.vault, new RecentMap(10));
  stage.tracked.changed(tx, [ALICE]);
  assertEquals(tx.changes, 0);
  await tx.commit();
});

Deno.test("a query is of at most 250 users, and each user is in one query at a time", async () => {
  const users = Array.from({ length: 600 }, (_, index): UserID => `@user${index}:a.example`);
  const stage = await stageOf(...users);
  const queries = [stage.ask(), stage.ask(), stage.ask()];
  assertEquals(queries.map((query) => query.users.length), [250, 250, 100]);
  assertEquals(new Set(queries.flatMap((query) => query.users)).size, 600);
  await stage.run((tx) => stage.tracked.changed(tx, users));
  assertEquals(stage.tracked.nextQuery(0), undefined);
});

Deno.test("a step that comes to nothing leaves everything as it was", async () => {
  const stage = await cleanStageOf(ALICE);
  await stage.run((tx) => stage.tracked.track(tx, [BOB]));
  const query = stage.ask();
  const tx = new Transaction(stage.vault, new RecentMap(10));
  stage.tracked.changed(tx, [ALICE]);
  stage.tracked.track(tx, [BEA]);
  stage.tracked.answered(tx, BOB, query);
  stage.tracked.left(tx, [ALICE]);
  stage.tracked.invalidateAll(tx);
  tx.abort();
  assert(stage.tracked.has(ALICE));
  assertFalse(stage.tracked.has(BEA));
  assertFalse(stage.tracked.isDirty([ALICE]));
  assert(stage.tracked.isDirty([BOB]));
  assertEquals(stage.tracked.asked(query), [BOB]);
});

Deno.test("users who had to wait while the clock was in 2030 are queried as soon as it is right again", async () => {
  const now = Date.UTC(2030, 0, 1);
  for (const wait of ["absent", "failed"] as const) {
    const stage = await stageOf(ALICE);
    const query = stage.ask(now);
    if (wait === "failed") stage.tracked.failed(query, { now, refused: false });
    else await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now }));
    assertEquals(stage.tracked.nextQuery(now), undefined);
    assertEquals(stage.tracked.nextQuery(Date.UTC(2026, 0, 1))?.users, [ALICE]);
  }
});

Deno.test("unknown users are queried again after growing waits, and are not dirty", async () => {
  const stage = await stageOf(ALICE);
  const absent = async (now: number) => {
    const query = stage.ask(now);
    await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now }));
  };
  await absent(0);
  assertFalse(stage.tracked.isDirty([ALICE]));
  let now = 0;
  for (const seconds of [15, 30, 60, 120, 240, 480, 900, 900]) {
    now += 1_000 * seconds;
    assertEquals(stage.tracked.nextQuery(now - 1), undefined);
    await absent(now);
  }
});

Deno.test("an unknown user is dirty again after a change", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now: 0 }));
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
  assert(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("a user who has changed since the query is queried again immediately, absent or not", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
  await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now: 0 }));
  assert(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("users of an unreachable server are neither queried nor dirty, until one of them is answered", async () => {
  const stage = await stageOf(ALICE, BOB);
  const query = stage.ask();
  await stage.run((tx) => stage.tracked.track(tx, [BEA]));
  await stage.run((tx) => stage.tracked.unreachable(tx, BOB, 0));
  await stage.run((tx) => stage.tracked.answered(tx, ALICE, query));
  assertFalse(stage.tracked.isDirty([ALICE, BOB, BEA]));
  assertEquals(stage.tracked.nextQuery(14_999), undefined);
  const again = stage.ask(15_000);
  assertEquals(again.users.toSorted(), [BEA, BOB]);
  await stage.run((tx) => stage.tracked.answered(tx, BEA, again));
  await stage.run((tx) => stage.tracked.unreachable(tx, BOB, 15_000));
  assertEquals(stage.askNotBefore(30_000).users, [BOB]);
});

Deno.test("an unreachable server is counted once for each query, however many of its users are in it", async () => {
  const stage = await stageOf(BOB, BEA);
  stage.ask();
  await stage.run((tx) => {
    stage.tracked.unreachable(tx, BOB, 0);
    stage.tracked.unreachable(tx, BEA, 0);
  });
  assertEquals(stage.askNotBefore(15_000).users, [BOB, BEA]);
});

Deno.test("users of a server that answers again are dirty again", async () => {
  const stage = await stageOf(BOB);
  stage.ask();
  await stage.run((tx) => stage.tracked.unreachable(tx, BOB, 0));
  const query = stage.ask(15_000);
  await stage.run((tx) => stage.tracked.track(tx, [BEA]));
  assertFalse(stage.tracked.isDirty([BEA]));
  await stage.answer(query);
  assert(stage.tracked.isDirty([BEA]));
});

Deno.test("users of a failed query are queried again after a while, and stay dirty", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  stage.tracked.failed(query, { now: 0, refused: false });
  assert(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.tracked.nextQuery(999), undefined);
  stage.tracked.failed(stage.ask(1_000), { now: 1_000, refused: false });
  assertEquals(stage.tracked.asked(query), []);
  assertEquals(stage.askNotBefore(3_000).users, [ALICE]);
});

Deno.test("the user at fault in a refused query is found, and is not dirty", async () => {
  const users = Array.from({ length: 40 }, (_, index): UserID => `@user${index}:a.example`);
  const poison = users[17] as UserID;
  const stage = await stageOf(...users);
  let now = 0;
  for (let queries = 0; stage.tracked.isDirty(users); queries++) {
    assert(queries < 60, "the number of queries is bounded");
    let query = stage.tracked.nextQuery(now);
    for (; query === undefined; now += 1_000) query = stage.tracked.nextQuery(now);
    if (query.users.includes(poison)) stage.tracked.failed(query, { now, refused: true });
    else await stage.answer(query);
  }
  assertEquals(stage.ask(now + 60_000).users, [poison]);
});

Deno.test("the version changes when a user becomes dirty, is tracked or leaves, and not by answers", async () => {
  const stage = await stageOf(ALICE, BOB);
  let version = stage.tracked.version;
  const changes = async (work: (tx: Transaction) => void) => {
    await stage.run(work);
    const changed = stage.tracked.version !== version;
    version = stage.tracked.version;
    return changed;
  };
  const query = stage.ask();
  assertFalse(await changes((tx) => stage.tracked.answered(tx, ALICE, query)));
  assertFalse(await changes((tx) => stage.tracked.unreachable(tx, BOB, 0)));
  assertFalse(await changes((tx) => stage.tracked.track(tx, [ALICE])));
  assert(await changes((tx) => stage.tracked.changed(tx, [ALICE])));
  assert(await changes((tx) => stage.tracked.track(tx, [BEA])));
  const again = stage.ask(15_000);
  assert(await changes((tx) => stage.tracked.answered(tx, BEA, again)), "Bob is waited for again");
  await stage.run((tx) => stage.tracked.answered(tx, BOB, again));
  assert(await changes((tx) => stage.tracked.left(tx, [BEA])));
  assert(await changes((tx) => stage.tracked.invalidateAll(tx)));
});

Deno.test("users of a refused query are not queried together with others", async () => {
  for (const order of [[ALICE, BOB], [BOB, ALICE]] as const) {
    const stage = new TrackedStage();
    for (const userId of order) {
      await stage.run((tx) => stage.tracked.track(tx, [userId]));
      stage.tracked.failed(stage.ask(), { now: 0, refused: userId === ALICE });
    }
    const queries = [stage.ask(1_000), stage.ask(1_000)];
    assertEquals(queries.map(({ users }) => users), order.map((userId) => [userId]));
  }
});

Deno.test("an invalid user ID is not tracked: the server, or the transport, would refuse the query", async () => {
  const bad = [
    "alice",
    "@alice",
    "@alice:",
    "@alice:::",
    "@alice:a_b.example",
    "@alice:a.example:port",
    "alice:a.example",
    `@${"a".repeat(300)}:a.example`,
    "@\ud800:a.example",
    "",
  ];
  const stage = await stageOf(...bad as UserID[]);
  assertEquals(stage.tracked.nextQuery(0), undefined);
});

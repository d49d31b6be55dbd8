/**
 * Who is asked of when, at the edges: queries that come to nothing, several at once, and stores that are not
 * as they should be.
 */

import { assertEquals } from "@std/assert";
import { recordKey, Transaction } from "../../../src/crypto/records/mod.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import type { UserID } from "@greenroom/matrix/types";
import { cleanStageOf, stageOf, TrackedStage } from "../support/tracked_stage.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";
const CAROL = "@carol:c.example";

const people = (count: number, name = "user") =>
  Array.from({ length: count }, (_, index): UserID => `@${name}${index}:a.example`);

Deno.test("users of a refused query are queried in groups of a quarter, with others or without", async () => {
  const users = people(9);
  const stage = await stageOf(...users);
  stage.tracked.failed(stage.ask(), { now: 0, refused: true });
  await stage.run((tx) => stage.tracked.track(tx, people(3, "other")));
  const asked = Array.from({ length: 6 }, () => stage.ask(1_000).users.map((userId) => userId.slice(1, -10)));
  assertEquals(asked, [
    ["user0", "user1"],
    ["user2", "user3"],
    ["user4", "user5"],
    ["user6", "user7"],
    ["user8", "other0"],
    ["other1", "other2"],
  ]);
});

Deno.test("after a failed query, the next ones are still of at most 250 users", async () => {
  const stage = await stageOf(...people(251));
  for (const query of [stage.ask(), stage.ask()]) stage.tracked.failed(query, { now: 0, refused: false });
  assertEquals([stage.ask(1_000), stage.ask(1_000)].map(({ users }) => users.length), [250, 1]);
});

Deno.test("each user whose query failed is queried again in its own time, and is in one query at a time", async () => {
  const stage = await stageOf(ALICE);
  stage.tracked.failed(stage.ask(), { now: 0, refused: false });
  await stage.run((tx) => stage.tracked.track(tx, [BOB]));
  stage.tracked.failed(stage.ask(), { now: 500, refused: false });
  assertEquals(stage.askNotBefore(1_000).users, [ALICE]);
  assertEquals(stage.askNotBefore(1_500).users, [BOB]);
  assertEquals(stage.tracked.nextQuery(1_000_000), undefined);
});

Deno.test("outdate() returns the time of the oldest of the users' queries", async () => {
  const stage = await stageOf(ALICE);
  const users = [ALICE, BOB, CAROL];
  for (const [index, at] of [50, 30, 40].entries()) {
    await stage.run((tx) => stage.tracked.track(tx, users.slice(index, index + 1) as UserID[]));
    await stage.answer(stage.ask(at));
  }
  assertEquals(stage.tracked.outdate(users as UserID[], { since: 0, now: 60 }), 30);
  assertEquals(stage.tracked.nextQuery(60), undefined);
});

Deno.test("outdate() does not count when a user was queried who has left since", async () => {
  const stage = await stageOf(ALICE, BOB);
  await stage.answer(stage.ask(30));
  await stage.run((tx) => stage.tracked.left(tx, [ALICE, BOB]));
  assertEquals(stage.tracked.outdate([ALICE, BOB], { since: 0, now: 60 }), 60);
});

Deno.test("left() returns the users who were tracked, and writes nothing of others", async () => {
  const stage = await cleanStageOf(ALICE);
  const tx = new Transaction(stage.vault, new RecentMap(10));
  assertEquals(stage.tracked.left(tx, [BOB, ALICE]), [ALICE]);
  assertEquals(tx.changes, 1);
  await tx.commit();
});

Deno.test("after an aborted step, a user who is in no query can be queried", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  await stage.answer(query);
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
  const tx = new Transaction(stage.vault, new RecentMap(10));
  stage.tracked.answered(tx, ALICE, query);
  tx.abort();
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("a reload clears the waits and the open queries", async () => {
  const stage = await stageOf(ALICE);
  stage.tracked.failed(stage.ask(), { now: 0, refused: true });
  await stage.run((tx) => stage.tracked.track(tx, [BOB]));
  stage.ask();
  await stage.run((tx) => stage.tracked.load(tx));
  assertEquals(stage.ask().users.toSorted(), [ALICE, BOB]);
});

Deno.test("a damaged record, of an invalid user ID, leads to no query", async () => {
  const stage = new TrackedStage();
  await stage.run((tx) => tx.set(recordKey("tracked", "alice"), { changed: 1, checked: 0 }));
  await stage.restart();
  assertEquals(stage.tracked.nextQuery(0), undefined);
});

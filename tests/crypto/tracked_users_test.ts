import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { RecordCache } from "../../src/crypto/record_cache.ts";
import { type DeviceQuery, TrackedUsers } from "../../src/crypto/tracked_users.ts";
import { Transaction } from "../../src/crypto/transaction.ts";
import type { UserID } from "../../src/types/ids.ts";
import { memoryVault, step } from "./support/vault.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";
const BEA = "@bea:b.example";

/** Users on a vault. */
class Stage {
  readonly vault = memoryVault();
  tracked = new TrackedUsers();

  run(work: (tx: Transaction) => void): Promise<void> {
    return step(this.vault, work);
  }

  ask(now = 0): DeviceQuery {
    const query = this.tracked.nextQuery(now);
    if (query === undefined) throw new RangeError("Nobody is to be asked of");
    return query;
  }

  answer(query: DeviceQuery): Promise<void> {
    return this.run((tx) => {
      for (const userId of this.tracked.asked(query)) this.tracked.answered(tx, userId, query);
    });
  }

  async restart(): Promise<void> {
    this.tracked = new TrackedUsers();
    await step(this.vault, (tx) => this.tracked.load(tx));
  }
}

async function stageOf(...users: UserID[]): Promise<Stage> {
  const stage = new Stage();
  await stage.run((tx) => stage.tracked.track(tx, users));
  return stage;
}

async function cleanStageOf(...users: UserID[]): Promise<Stage> {
  const stage = await stageOf(...users);
  await stage.answer(stage.ask());
  return stage;
}

Deno.test("users who are tracked anew are dirty until the server has answered", async () => {
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

Deno.test("who is dirty is still so after a restart, and who is clean is clean", async () => {
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

Deno.test("users who left are not asked of, and are dirty when they are tracked again", async () => {
  const stage = await cleanStageOf(ALICE, BOB);
  await stage.run((tx) => stage.tracked.left(tx, [ALICE, BEA]));
  assertFalse(stage.tracked.has(ALICE));
  await stage.restart();
  assertFalse(stage.tracked.has(ALICE));
  assertEquals(stage.tracked.nextQuery(0), undefined);
  await stage.run((tx) => stage.tracked.track(tx, [ALICE]));
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("an answer does not make a user clean who has left and come back since it was asked for", async () => {
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
  const tx = new Transaction(stage.vault, new RecordCache(10));
  stage.tracked.invalidateAll(tx);
  assertEquals(tx.changes, 1);
  await tx.commit();
  await stage.restart();
  assert(stage.tracked.isDirty([ALICE]) && stage.tracked.isDirty([BOB]));
  await stage.answer(stage.ask());
  await stage.restart();
  assertFalse(stage.tracked.isDirty([ALICE, BOB]));
});

Deno.test("marking a user who is dirty already writes nothing", async () => {
  const stage = await stageOf(ALICE);
  const tx = new Transaction(stage.vault, new RecordCache(10));
  stage.tracked.changed(tx, [ALICE]);
  assertEquals(tx.changes, 0);
  await tx.commit();
});

Deno.test("a query is of at most 250 users, and nobody is asked of twice at a time", async () => {
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
  const tx = new Transaction(stage.vault, new RecordCache(10));
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

Deno.test("users whom the server does not know are asked of again, later and later, and not waited for", async () => {
  const stage = await stageOf(ALICE);
  const absent = async (now: number) => {
    const query = stage.ask(now);
    await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now }));
  };
  await absent(0);
  assertFalse(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.tracked.retryAt(), 15_000);
  assertEquals(stage.tracked.nextQuery(14_999), undefined);
  await absent(15_000);
  assertEquals(stage.tracked.retryAt(), 45_000);
  for (let round = 0; round < 20; round++) await absent(stage.tracked.retryAt() ?? 0);
  const last = stage.tracked.retryAt() ?? 0;
  await absent(last);
  assertEquals(stage.tracked.retryAt(), last + 900_000);
});

Deno.test("a user whom the server did not know is waited for again after a change", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now: 0 }));
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
  assert(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("a user who has changed since the query is asked of again at once, absent or not", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  await stage.run((tx) => stage.tracked.changed(tx, [ALICE]));
  await stage.run((tx) => stage.tracked.absent(tx, ALICE, { query, now: 0 }));
  assert(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.ask().users, [ALICE]);
});

Deno.test("nobody of a server out of reach is asked of or waited for, until an answer comes from there", async () => {
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
  assertEquals(stage.tracked.retryAt(), 30_000);
});

Deno.test("a server out of reach is counted once for each query, however many of its users it was about", async () => {
  const stage = await stageOf(BOB, BEA);
  stage.ask();
  await stage.run((tx) => {
    stage.tracked.unreachable(tx, BOB, 0);
    stage.tracked.unreachable(tx, BEA, 0);
  });
  assertEquals(stage.tracked.retryAt(), 15_000);
});

Deno.test("users of a server that answers again are waited for again", async () => {
  const stage = await stageOf(BOB);
  stage.ask();
  await stage.run((tx) => stage.tracked.unreachable(tx, BOB, 0));
  const query = stage.ask(15_000);
  await stage.run((tx) => stage.tracked.track(tx, [BEA]));
  assertFalse(stage.tracked.isDirty([BEA]));
  await stage.answer(query);
  assert(stage.tracked.isDirty([BEA]));
});

Deno.test("users of a query that failed are asked of again after a while, and waited for", async () => {
  const stage = await stageOf(ALICE);
  const query = stage.ask();
  stage.tracked.failed(query, { now: 0, refused: false });
  assert(stage.tracked.isDirty([ALICE]));
  assertEquals(stage.tracked.nextQuery(999), undefined);
  stage.tracked.failed(stage.ask(1_000), { now: 1_000, refused: false });
  assertEquals(stage.tracked.retryAt(), 3_000);
  assertEquals(stage.tracked.asked(query), []);
});

Deno.test("of a query that is refused, the one to blame is found, and is not waited for", async () => {
  const users = Array.from({ length: 40 }, (_, index): UserID => `@user${index}:a.example`);
  const poison = users[17] as UserID;
  const stage = await stageOf(...users);
  let now = 0;
  for (let queries = 0; stage.tracked.isDirty(users); queries++) {
    assert(queries < 60, "the number of queries is bounded");
    now = Math.max(now, stage.tracked.retryAt() ?? now);
    const query = stage.ask(now);
    if (query.users.includes(poison)) stage.tracked.failed(query, { now, refused: true });
    else await stage.answer(query);
  }
  now = stage.tracked.retryAt() ?? 0;
  assertEquals(stage.ask(now).users, [poison]);
});

Deno.test("the version changes when somebody becomes dirty, is tracked or left, and not by answers", async () => {
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

Deno.test("what is no user ID is not tracked: the server would refuse the query", async () => {
  const bad = [
    "alice",
    "@alice",
    "alice:a.example",
    `@${"a".repeat(300)}:a.example`,
    "@\ud800:a.example",
    "",
  ];
  const stage = await stageOf(...bad as UserID[]);
  assertEquals(stage.tracked.nextQuery(0), undefined);
});

/** What may happen, in any order. */
type Action = {
  kind: "changed" | "left" | "track" | "invalidate" | "ask" | "restart" | "abort";
  user: UserID;
} | {
  kind: "answer" | "absent" | "unreachable" | "fail" | "refuse";
  which: number;
};

Deno.test("nobody is clean whose devices changed after the last query that was answered had begun", async () => {
  const users: UserID[] = [ALICE, BOB, BEA];
  const user = fc.constantFrom(...users);
  const action: fc.Arbitrary<Action> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("changed", "left", "track", "ask", "ask", "invalidate", "restart", "abort"),
      user,
    }),
    fc.record({
      kind: fc.constantFrom("answer", "answer", "absent", "unreachable", "fail", "refuse"),
      which: fc.nat(3),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const stage = await stageOf(...users);
      /** The plain truth: the time of the last change, and of the beginning of the last query that was answered. */
      const changed = new Map<UserID, number>(users.map((userId) => [userId, 0]));
      const checked = new Map<UserID, number>();
      let open: { query: DeviceQuery; began: number }[] = [];
      let time = 0;
      let now = 0;
      for (const [index, action] of actions.entries()) {
        time++;
        now += 20_000;
        if ("which" in action) {
          const [ended] = open.splice(action.which % Math.max(1, open.length), 1);
          if (ended === undefined) continue;
          const { query, began } = ended;
          if (action.kind === "answer") {
            for (const userId of stage.tracked.asked(query)) checked.set(userId, began);
            await stage.answer(query);
          } else if (action.kind === "absent" || action.kind === "unreachable") {
            await stage.run((tx) => {
              for (const userId of stage.tracked.asked(query)) {
                if (action.kind === "absent") stage.tracked.absent(tx, userId, { query, now });
                else stage.tracked.unreachable(tx, userId, now);
              }
            });
          } else stage.tracked.failed(query, { now, refused: action.kind === "refuse" });
        } else if (action.kind === "ask") {
          const query = stage.tracked.nextQuery(now);
          if (query !== undefined) open.push({ query, began: time });
        } else if (action.kind === "changed") {
          await stage.run((tx) => stage.tracked.changed(tx, [action.user]));
          if (changed.has(action.user)) changed.set(action.user, time);
        } else if (action.kind === "track") {
          await stage.run((tx) => stage.tracked.track(tx, [action.user]));
          if (!changed.has(action.user)) changed.set(action.user, time);
        } else if (action.kind === "left") {
          await stage.run((tx) => stage.tracked.left(tx, [action.user]));
          changed.delete(action.user);
        } else if (action.kind === "invalidate") {
          await stage.run((tx) => stage.tracked.invalidateAll(tx));
          for (const userId of changed.keys()) changed.set(userId, time);
        } else if (action.kind === "restart") {
          await stage.restart();
          open = [];
        } else {
          const tx = new Transaction(stage.vault, new RecordCache(10));
          if (index % 2 === 0) stage.tracked.changed(tx, [action.user]);
          else stage.tracked.left(tx, [action.user]);
          tx.abort();
        }
      }
      // Whoever is dirty can be asked of once nothing is under way and enough time has gone by.
      for (const { query } of open) stage.tracked.failed(query, { now, refused: false });
      const dirty = new Set<UserID>();
      for (;;) {
        const query = stage.tracked.nextQuery(now + 3_600_000);
        if (query === undefined) break;
        for (const userId of query.users) dirty.add(userId);
      }
      const expected = users.filter((userId) => {
        const last = changed.get(userId);
        return last !== undefined && (checked.get(userId) ?? -1) <= last;
      });
      assertEquals([...dirty].toSorted(), expected.toSorted());
    }),
    { numRuns: 300, seed: 5 },
  );
});

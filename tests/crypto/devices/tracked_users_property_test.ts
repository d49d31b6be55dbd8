import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { RecentMap } from "../../../src/base/recent_map.ts";
import type { DeviceQuery } from "../../../src/crypto/devices/mod.ts";
import { Transaction } from "../../../src/crypto/records/mod.ts";
import type { UserID } from "@greenroom/matrix/types";
import { stageOf } from "../support/tracked_stage.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";
const BEA = "@bea:b.example";

/** What may happen, in any order. */
type Action = {
  kind: "changed" | "left" | "track" | "invalidate" | "ask" | "restart" | "abort";
  user: UserID;
} | {
  kind: "answer" | "absent" | "unreachable" | "fail" | "refuse";
  which: number;
};

Deno.test("no user is clean whose devices changed after the last answered query had begun", async () => {
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
      /**
       * The plain truth: the time of the last change, and of the beginning of the last query that
       * was answered.
       */
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
          const tx = new Transaction(stage.vault, new RecentMap(10));
          if (index % 2 === 0) stage.tracked.changed(tx, [action.user]);
          else stage.tracked.left(tx, [action.user]);
          tx.abort();
        }
      }
      // Each dirty user can be queried once nothing is under way and enough time has passed.
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

/** Whatever happens to an engine, it knows when there are no requests to make. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { UserID } from "@greenroom/matrix/types";
import { FakeUser, queryResponse } from "../support/fake_user.ts";
import { BOB, inRoom, joined, ME, quiet, type SyncChange } from "./asked.ts";
import { ENCRYPTION, ROOM } from "./homeserver.ts";

const CAROL: UserID = "@carol:example.org";
const HOUR = 3_600_000;

/** What may happen to an engine whose server answers as it likes. */
const happenings = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("tick" as const), ms: fc.constantFrom(1, 1_000, 15_000, HOUR, -HOUR) }),
    fc.record({ kind: fc.constant("changed" as const), user: fc.nat(4) }),
    fc.record({ kind: fc.constant("left" as const), user: fc.nat(4) }),
    fc.record({ kind: fc.constant("joined" as const), user: fc.nat(4) }),
    fc.record({ kind: fc.constant("counts" as const), oneTimeKeys: fc.constantFrom(0, 20, 50) }),
    fc.record({ kind: fc.constantFrom("poll", "ready", "answer", "absent", "down", "restart") }),
    fc.record({ kind: fc.constant("fail" as const), status: fc.constantFrom(0, 400, 429, 500) }),
  ),
  { minLength: 10, maxLength: 60 },
);

Deno.test("whatever happens, there are no requests when the engine says that there are none", async () => {
  const users: readonly UserID[] = [ME, BOB, CAROL, "@dave:elsewhere.org", "@erin:elsewhere.org"];
  const devices = users.slice(1).map((userId) => new FakeUser(userId, "D"));
  let silent = 0;
  await fc.assert(
    fc.asyncProperty(happenings, async (all) => {
      const asked = await quiet();
      let requests = await asked.engine.requests();
      for (const happening of all) {
        const user = "user" in happening ? [users[happening.user] as UserID] : [];
        const [first, ...others] = requests;
        let change: SyncChange = {};
        switch (happening.kind) {
          case "tick":
            await asked.clock.tick(happening.ms);
            break;
          case "changed":
            change = { changed: user };
            break;
          case "left":
            change = { deviceLists: { changed: [], left: user } };
            break;
          case "joined":
            change = { state: [inRoom(...user.map(joined))] };
            break;
          case "counts":
            change = { oneTimeKeys: happening.oneTimeKeys };
            break;
          case "poll":
            requests = [...requests, ...await asked.engine.requests()];
            break;
          case "ready": {
            const tolerate = { keysQuery: false, keysClaim: true };
            const { needs } = await asked.engine.prepare({ roomId: ROOM, tolerate });
            const members = users.slice(1).map((userId) => ({ userId, membership: "join" as const }));
            const description = {
              roomId: ROOM,
              encryption: ENCRYPTION,
              historyVisibility: undefined,
              members,
            };
            if (needs === "room") await asked.engine.describeRoom(description);
            break;
          }
          case "restart":
            await asked.restart();
            requests = [];
            break;
          case "fail":
            if (first !== undefined) await asked.fail(first, happening.status);
            requests = others;
            break;
          default: {
            const failures = happening.kind === "down" ? { "example.org": {}, "elsewhere.org": {} } : {};
            const shown = happening.kind === "answer" ? queryResponse(...devices) : { device_keys: {} };
            const { device_keys: own } = asked.shown();
            const device_keys = { ...shown.device_keys, ...happening.kind === "answer" ? own as object : {} };
            const counts = { one_time_key_counts: { signed_curve25519: 50 } };
            if (first !== undefined) {
              await asked.answer(first, { device_keys, failures, one_time_keys: {}, ...counts });
            }
            requests = others;
          }
        }
        if ((await asked.sync(change)).mayRequest) continue;
        assertEquals(await asked.engine.requests(), []);
        silent++;
      }
    }),
    { numRuns: 60 },
  );
  assert(silent > 50, `${silent} responses led to no request`);
});

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { CountingStore } from "../support/counting_store.ts";
import { joined, member, message, OWN, state, timeline } from "../support/events.ts";
import { heard, type SyncerStage, syncerStage } from "../support/syncer_stage.ts";

const own = (prev?: string): JsonObject =>
  member(OWN, "join", prev === undefined ? {} : { unsigned: { prev_content: { membership: prev } } });

/** A timeline: `j` is the own join, `p` a change of the own profile, others are messages. */
function eventsOf(order: string, prev?: string): JsonObject[] {
  return order.split(" ").map((name) =>
    name === "j"
      ? own(prev)
      : name === "p"
      ? member(OWN, "join", { event_id: "$profile", content: { membership: "join", displayname: "Own" } })
      : message(name)
  );
}

/** A process to which a response comes that another one had when it ended, with handlers at work. */
async function afterCrash(answer: JsonObject): Promise<SyncerStage> {
  const kv = new CountingStore();
  const never = Promise.withResolvers<void>();
  const before = await syncerStage({ kv, answers: [{ next_batch: "t1" }, answer] });
  before.api.on("m.room.message", () => never.promise);
  before.api.start().catch(() => {});
  await before.settle(); // the process ends here
  return await syncerStage({ kv, answers: [structuredClone(answer)] });
}

Deno.test("After a crash in a response whose state has the own join, what was history is history again", async () => {
  const topic = state("m.room.topic", { topic: "old" });
  const room = { state: { events: [topic, own()] }, ...timeline([message("m0")]) };
  await using after = await afterCrash(joined(room, { next_batch: "t2" }));
  const texts = heard(after);
  after.api.on("m.room.topic", () => void texts.push("topic"));
  after.api.start();
  await after.settle();
  assertEquals(texts, ["m0"]);
});

for (
  const order of [
    "j m0 p m1 m2",
    "j m0 m1 m2 j",
    "j m0 j m1 m2",
    "j j m0 m1 m2",
    "j m0 p m1 j m2",
    "h j m0 m1 j m2",
  ]
) {
  for (const prev of [undefined, "leave", "invite"]) {
    Deno.test(`After a crash in the response ${order}, in which the user was ${prev ?? "not said to be anything"} before, all comes again`, async () => {
      await using after = await afterCrash(joined(timeline(eventsOf(order, prev)), { next_batch: "t2" }));
      const texts = heard(after);
      after.api.on("JOIN", () => void texts.push("JOIN"));
      after.api.start();
      await after.settle();
      assertEquals(texts.toSorted(), ["JOIN", "m0", "m1", "m2"]);
    });
  }
}

/** What is made of what a server leaves out, gets wrong or shows again. */

import { assert, assertEquals } from "@std/assert";
import type { Membership } from "@greenroom/matrix/types";
import { stateChanges } from "../../../src/actors/syncer/sync_batch.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { joined, member, message, OWN, ROOM, state, timeline } from "../support/events.ts";

Deno.test("takeApart() takes what is null as not said, and logs how many parts were malformed", () => {
  const warnings: unknown[] = [];
  const log = { ...console, warn: (...said: unknown[]) => void warnings.push(said) };
  takeApart({ next_batch: "n", rooms: null, presence: null, device_lists: null }, OWN, log);
  assertEquals(warnings, []);
  takeApart({ next_batch: "n", rooms: 5, presence: { events: {} } }, OWN, log);
  assertEquals(warnings, [["Left out malformed parts of a sync response", { parts: 2 }]]);
});

Deno.test("takeApart() takes counts of zero, and leaves out what is no count, no algorithm and no token", () => {
  const parts = takeApart(
    joined(timeline([message("1")], { prev_batch: 5 }), {
      device_one_time_keys_count: { none: 0, some: 3, less: -1, half: 1.5, text: "4" },
      device_unused_fallback_key_types: ["signed_curve25519", 5, null],
    }),
    OWN,
  );
  assertEquals(parts.oneTimeKeyCounts, { none: 0, some: 3 });
  assertEquals(parts.unusedFallbackTypes, ["signed_curve25519"]);
  assertEquals(parts.rooms[0]?.prevBatch, undefined);
});

Deno.test("takeApart() gives no room to what belongs to none", () => {
  const parts = takeApart({
    next_batch: "n",
    to_device: { events: [{ type: "m.dummy", sender: "@bob:a", content: {} }] },
  }, OWN);
  assertEquals(parts.toDevice.map((event) => "room_id" in event), [false]);
});

Deno.test("takeApart() finds the own invitation among other state that bears the own name", () => {
  const invitation = member(OWN, "invite", { sender: "@bob:a" });
  const other = member(OWN, "invite", { type: "org.example.status", sender: "@bob:a" });
  const events = [other, invitation, member(OWN, "leave"), { ...other }];
  const [room] =
    takeApart({ next_batch: "n", rooms: { invite: { [ROOM]: { invite_state: { events } } } } }, OWN).rooms;
  const [own] = room?.state ?? [];
  assertEquals([own?.type, own?.content.membership], ["m.room.member", "invite"]);
  assertEquals(own?.unsigned?.invite_room_state?.map(({ type }) => type), [
    "org.example.status",
    "org.example.status",
  ]);
});

Deno.test("Of events that are shown again a known room takes no state, and a new one each once", () => {
  const topic = state("m.room.topic", { topic: "old" }, { event_id: "$topic" });
  const name = state("m.room.name", { name: "new" }, { event_id: "$name" });
  const events = [topic, name, structuredClone(topic)];
  const changes = (membership: Membership, known: number[]) => {
    const [part] = takeApart(joined(timeline(structuredClone(events))), OWN).rooms;
    assert(part !== undefined);
    const before = { isJoined: membership === "join", shown: "", entries: [] };
    part.news = { before, after: before, added: "", entry: undefined };
    part.shown = new Set(part.timeline.filter((_, index) => known.includes(index)));
    return stateChanges(part).map((event) => "event_id" in event ? event.event_id : "");
  };
  assertEquals(changes("join", [0, 2]), ["$name"]);
  assertEquals(changes("leave", [2]), ["$topic", "$name"]);
  assertEquals(changes("leave", [0, 1, 2]), ["$topic", "$name"]);
});

/**
 * Which events of a room are marked as history: those from before the user was there.
 *
 * Events are written as names: `J` is the own user's join, `L` their leave, `I` their invitation, `o`
 * another user's join, `s` other state that bears the own user's name, and all else a message. A small
 * letter behind a capital says what the event says that the user was before: `Jl` is a join after a leave.
 * A digit tells two of a kind apart.
 */

import { assertEquals } from "@std/assert";
import { entryAmong, isEntry, markHistory } from "../../../src/actors/syncer/membership.ts";
import { type RoomPart, takeApart, type TimelineEvent } from "../../../src/actors/syncer/sync_parts.ts";
import { lookAt, withShown } from "../../../src/actors/store/mod.ts";
import { type EventID, type JsonObject, SyncStream } from "@greenroom/matrix/types";
import { member, message, OWN, ROOM } from "../support/events.ts";

const MEMBERSHIPS: Readonly<Record<string, string>> = { J: "join", L: "leave", I: "invite" };
const ID = (name: string) => `$${name}` as EventID;

function eventOf(name: string): JsonObject {
  const membership = MEMBERSHIPS[name[0] ?? ""];
  const prev = MEMBERSHIPS[(name[1] ?? "").toUpperCase()];
  if (name[0] === "s") return member(OWN, "leave", { event_id: ID(name), type: "org.example.presence" });
  if (name[0] === "o") return member("@other:a", "join", { event_id: ID(name) });
  if (membership === undefined) return message(name);
  return member(OWN, membership, {
    event_id: ID(name),
    ...(prev !== undefined && { unsigned: { prev_content: { membership: prev } } }),
  });
}

const eventsOf = (names = "") => names.split(" ").filter((name) => name !== "").map(eventOf);
const namesOf = (events: readonly { readonly event_id?: string }[]) =>
  events.map(({ event_id = "" }) => event_id.slice(1)).join(" ");

interface Case {
  /** Whether the user was in the room. */
  readonly joined?: boolean;
  /** The own joins that were committed. */
  readonly entries?: string;
  /** Events of the room that were shown to this process. */
  readonly remembered?: string;
  readonly section?: "join" | "leave" | "invite";
  readonly state?: string;
  readonly filled?: string;
  readonly timeline: string;
  /** Events of the timeline that are shown again. */
  readonly shown?: string;
  /** What is marked. */
  readonly history: string;
  /** The own join that is news. */
  readonly entry?: string;
}

function partOf({ section = "join", state, filled, timeline, shown = "" }: Case): RoomPart {
  const list = { events: [...eventsOf(filled), ...eventsOf(timeline)] };
  const room = section === "invite"
    ? { invite_state: { events: eventsOf(state) } }
    : { state: { events: eventsOf(state) }, timeline: list };
  const [part] = takeApart({ next_batch: "n", rooms: { [section]: { [ROOM]: room } } }, OWN).rooms;
  if (part === undefined) throw new Error("The response has no room");
  part.filled = part.timeline.slice(0, eventsOf(filled).length);
  part.timeline = part.timeline.slice(part.filled.length);
  part.shown = new Set(part.timeline.filter((event) => shown.split(" ").includes(namesOf([event]))));
  return part;
}

function rememberedOf({ joined = false, entries = "", remembered = "" }: Case) {
  const events = eventsOf(remembered) as unknown as TimelineEvent[];
  return {
    isJoined: joined,
    entries: entries.split(" ").filter((name) => name !== "").map(ID),
    shown: withShown("", lookAt("", events).added),
  };
}

const CASES: Readonly<Record<string, Case>> = {
  "nothing, while the user stays": { joined: true, state: "o", timeline: "m0 o1 m1", history: "" },
  "what stands before the own join, with all state": {
    ...{ state: "o", timeline: "m0 J m1", history: "o m0", entry: "J" },
  },
  "the same, of a join that says that the user was outside": {
    ...{ state: "o", timeline: "m0 Jl m1", history: "o m0", entry: "Jl" },
  },
  "the same, of a join that follows an invitation": {
    ...{ timeline: "Il m0 Ji m1", history: "Il m0", entry: "Ji" },
  },
  "what came while the user was outside": {
    ...{ joined: true, state: "o", timeline: "m0 Lj m1 Jl m2", history: "m1", entry: "Jl" },
  },
  "the same, where nothing says what the user was": {
    ...{ joined: true, state: "o", timeline: "m0 L m1 J m2", history: "m1", entry: "J" },
  },
  "the same, with what filled a gap": {
    ...{ joined: true, filled: "m0 Lj m1", timeline: "m2 Jl m3", history: "m1 m2", entry: "Jl" },
  },
  "nothing of a room that the user leaves": {
    ...{ joined: true, section: "leave", state: "o", timeline: "m0 Lj", history: "" },
  },
  "what was said behind a leave": { joined: true, section: "leave", timeline: "m0 L m1", history: "m1" },
  "all but the leave, where the user was never in the room": {
    ...{ section: "leave", state: "o", timeline: "m0 L", history: "o m0" },
  },
  "the state but the own join in it, where the timeline begins after that": {
    ...{ state: "o J", timeline: "m0 m1", history: "o", entry: "J" },
  },
  "the whole state, if the own join in it was shown": {
    ...{ remembered: "J", state: "o J", timeline: "m0", history: "o J" },
  },
  "the state but the own join, also before a change of the own profile": {
    ...{ state: "o J", timeline: "m0 Jj m1", history: "o", entry: "J" },
  },
  "no state that comes with a change of the own profile": {
    ...{ joined: true, state: "o", timeline: "m0 Jj m1", history: "" },
  },
  "what stands before the last of two stays, when nothing was handled": {
    ...{ state: "o", timeline: "m0 J m1 L m2 J2 m3", history: "o m0 J m1 L m2", entry: "J2" },
  },
  "only what lies outside two stays, when something was handled": {
    ...{ remembered: "x", state: "o", timeline: "m0 J m1 L m2 J2 m3", history: "o m0 m2", entry: "J2" },
  },
  "nothing between a join and the same shown again": {
    ...{ timeline: "J m0 J2 m1", history: "", entry: "J" },
  },
  "what was before a join that was committed": {
    ...{ joined: true, entries: "J", state: "o", timeline: "m0 J m1", history: "o m0", entry: "J" },
  },
  "the same, when something was handled": {
    ...{
      joined: true,
      entries: "J",
      remembered: "x",
      state: "o",
      timeline: "m0 J m1",
      history: "o m0",
      entry: "J",
    },
  },
  "what was before the first of two joins, if that was committed": {
    ...{ joined: true, entries: "J", timeline: "m0 J m1 Lj m2 Jl m3", history: "m0 m2", entry: "Jl" },
  },
  "the state, if the own join in it was committed": {
    ...{ joined: true, entries: "J", state: "o J", timeline: "m0 Jj m1", history: "o" },
  },
  "no state when something was handled since the own join in it": {
    ...{ joined: true, entries: "J", remembered: "x", state: "o J", timeline: "m0 Jj m1", history: "" },
  },
  "an invitation that was accepted, when something was handled": {
    ...{ remembered: "x", timeline: "I m0 J m1", history: "I m0", entry: "J" },
  },
  "no invitation that was not accepted": {
    ...{ remembered: "x", section: "leave", timeline: "m0 I m1 L", history: "m0 m1" },
  },
  "nothing because of an own join that is shown again": {
    ...{ joined: true, state: "o", timeline: "m0 Jl m1", shown: "Jl", history: "" },
  },
  "the state, if the own join in it was committed, also without a change of the profile": {
    ...{ joined: true, entries: "J", state: "o J", timeline: "m0 m1", history: "o" },
  },
  "the whole state, where the user leaves and comes back in the timeline": {
    ...{ state: "o J", timeline: "m0 Lj m1 Jl m2", history: "o J m0 Lj m1", entry: "Jl" },
  },
  "the state too, if a committed join says that the user was in the room": {
    ...{ joined: true, entries: "Jj", state: "o", timeline: "m1 Jj m2", history: "o m1" },
  },
  "the state too, if the timeline begins with such a join": {
    ...{ joined: true, entries: "Jj", state: "o", timeline: "Jj m2", history: "o" },
  },
  "what was before a committed join, though another followed": {
    ...{ entries: "J", timeline: "m0 J m1 Lj m2 Jl m3", history: "m0 m2", entry: "Jl" },
  },
  "what was before a committed join, and before the leave in front of it": {
    ...{ joined: true, entries: "Jl", timeline: "m0 Lj m1 Jl m2", history: "m0 Lj m1", entry: "Jl" },
  },
  "what was outside, also where a later invitation is declined": {
    ...{ section: "leave", timeline: "m0 Jl m1 Lj m2 I m3 Li m4", history: "m0 m2 m3 m4", entry: "Jl" },
  },
  "the whole state, if the own user left in it": {
    section: "leave",
    state: "o L",
    timeline: "m0",
    history: "o L",
  },
  "nothing because of state that only bears the own name": { joined: true, timeline: "m0 s m1", history: "" },
  "nothing of what comes with an invitation": { section: "invite", state: "o I", timeline: "", history: "" },
};

for (const [what, given] of Object.entries(CASES)) {
  Deno.test(`History is ${what}`, () => {
    const part = partOf(given);
    const entry = markHistory(part, { own: OWN, before: rememberedOf(given) });
    const events = [...part.state, ...part.filled, ...part.timeline];
    const marked = events.filter(({ source }) => (source & SyncStream.HISTORY) !== 0);
    assertEquals([namesOf(marked), entry], [given.history, given.entry && ID(given.entry)]);
  });
}

Deno.test("The user comes in with a join that says they were outside, or, if it says nothing, who was outside", () => {
  const entries = ({ joined }: { readonly joined: boolean }) =>
    partOf({ timeline: "J Jl Ji Jj L Ij o m", history: "" }).timeline
      .filter((event) =>
        isEntry(event, { own: OWN, before: rememberedOf({ joined, timeline: "", history: "" }) })
      );
  assertEquals(namesOf(entries({ joined: false })), "J Jl Ji");
  assertEquals(namesOf(entries({ joined: true })), "Jl Ji");
});

for (
  const [newestFirst, found] of [
    ["m0 o m1", undefined],
    ["m0 Jj m1", undefined],
    ["Jl m0", "Jl"],
    ["m0 Jl m1 Jj", "Jl"],
    ["m0 Jl m1 Jl2 m2", "Jl2"],
    ["m0 Jl m1 Lj m2 Jl2", "Jl"],
    ["Lj m1 Jl m2", "Jl"],
    ["Jl m Lj m1 Jl2", "Jl"],
    ["Jl m Jj m1 Jl2", "Jl2"],
    ["m0 Jl o m1 Jl2", "Jl2"],
    ["Lj m0", undefined],
  ] as const
) {
  Deno.test(`The user came in last with ${found ?? "nothing"} of ${newestFirst}, from new to old`, () => {
    const events = partOf({ timeline: newestFirst, history: "" }).timeline;
    const before = rememberedOf({ timeline: "", history: "" });
    const index = entryAmong(events, { own: OWN, before });
    assertEquals(events[index] && namesOf([events[index]]), found);
  });
}

/**
 * Fuzzes a running client that syncs by sliding sync: each place of an answer, in both spellings,
 * becomes each of a list of hostile values. The next answer is as it should be, and has to be received.
 *
 * `deno task fuzz:fields --sliding [COUNT]`: without a count all are played.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { MemoryStore } from "@greenroom/matrix";
import { SPELLINGS } from "../../tests/support/sliding.ts";
import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import { Bot, NOTE } from "./bot.ts";
import { changedAt, type FieldsOptions, type FieldsPlayed, ODD, places } from "./changed_fields.ts";
import { FuzzClock } from "./fuzz_clock.ts";
import { randomFor } from "./input.ts";
import { jsonText } from "./odd_values.ts";
import { Senders } from "./senders.ts";
import { FuzzServer } from "./server.ts";
import { Watch } from "./watch.ts";

type Json = Record<string, unknown>;
type Spelling = keyof typeof SPELLINGS;

const ALICE = "@alice:example.org";
const KEY = "A".repeat(43);
/** A room whose answers are changed, and one whose are not. */
const [ROOM, QUIET] = ["!changed:example.org", "!quiet:example.org"];
const MINUTE = 60_000;
/** How much more memory may be held in the end, in bytes. */
const MAX_GROWTH = 64 * 2 ** 20;

let events = 0;

function event(type: string, content: Json, more: Json = {}): Json {
  return { type, content, sender: ALICE, event_id: `$s${++events}`, origin_server_ts: 1, ...more };
}

function member(user: string, membership: string): Json {
  return event("m.room.member", { membership }, { state_key: user, sender: user });
}

function note(text: string): Json {
  return { type: NOTE, sender: ALICE, content: { note: text } };
}

/** An answer with all that it can have. */
function answer(spelling: Spelling): Json {
  const isMerged = spelling === "merged";
  const content = { $event: { "m.read": { [ALICE]: { ts: 1 } } } };
  const typing = { user_ids: [ALICE] };
  const room = {
    initial: true,
    ...(isMerged && { membership: "join", lists: ["rooms"] }),
    name: "Room",
    heroes: [{ user_id: ALICE, displayname: "Alice" }],
    required_state: [member(OWN_USER, "join"), event("m.room.name", { name: "Room" }, { state_key: "" })],
    [isMerged ? "timeline_events" : "timeline"]: [
      event("m.room.message", { msgtype: "m.text", body: "hello" }),
    ],
    limited: true,
    prev_batch: "s1_1",
    num_live: 1,
    bump_stamp: 1,
    joined_count: 2,
    is_dm: false,
  };
  const stripped = [member(OWN_USER, "invite"), event("m.room.name", { name: "Other" }, { state_key: "" })];
  const left = { required_state: [member(OWN_USER, "leave")], ...(isMerged && { membership: "leave" }) };
  return {
    pos: "7/s1_2",
    lists: {
      rooms: { count: 2, ...(!isMerged && { ops: [{ op: "SYNC", range: [0, 19], room_ids: [ROOM] }] }) },
    },
    rooms: {
      [ROOM]: room,
      "!invited:example.org": { [isMerged ? "stripped_state" : "invite_state"]: stripped },
      "!left:example.org": left,
    },
    extensions: {
      to_device: { next_batch: "5", events: [{ type: "m.dummy", sender: ALICE, content: {} }] },
      e2ee: {
        device_lists: { changed: [ALICE], left: ["@gone:example.org"] },
        device_one_time_keys_count: { signed_curve25519: 50 },
        device_unused_fallback_key_types: ["signed_curve25519"],
      },
      account_data: {
        global: [{ type: "m.direct", content: { [ALICE]: [ROOM] } }],
        rooms: { [ROOM]: [{ type: "m.tag", content: { tags: { [KEY]: { order: 0.5 } } } }] },
      },
      receipts: { rooms: { [ROOM]: isMerged ? content : { type: "m.receipt", content } } },
      typing: { rooms: { [ROOM]: isMerged ? typing : { type: "m.typing", content: typing } } },
    },
  };
}

/** An answer that has to be received. */
function goodAnswer(number: number, spelling: Spelling, notes: readonly string[]): Json {
  const [said = "", told = "", kept = ""] = notes;
  const isMerged = spelling === "merged";
  const said_ = event("m.room.message", { msgtype: "m.text", body: said });
  return {
    pos: `${number}/s${number}_1`,
    lists: { rooms: { count: 1 } },
    rooms: {
      [QUIET]: {
        ...(number === 1 && { initial: true }),
        ...(isMerged && { membership: "join" }),
        required_state: number === 1 ? [member(OWN_USER, "join"), member(ALICE, "join")] : [],
        [isMerged ? "timeline_events" : "timeline"]: [said_],
        prev_batch: `s${number}_0`,
      },
    },
    extensions: {
      to_device: { next_batch: `${number}`, events: [note(told)] },
      account_data: { global: [note(kept)] },
    },
  };
}

/** Plays changes in one spelling, until one shows a fault. */
export async function playSlidingFields(
  spelling: Spelling,
  { count, seed = 1 }: FieldsOptions = {},
): Promise<FieldsPlayed> {
  const vodozemac = await Vodozemac.load();
  using senders = new Senders(vodozemac, Senders.people(vodozemac));
  const clock = new FuzzClock(Date.UTC(2026, 8, 1));
  const server = new FuzzServer({ seed, index: -1, senders });
  server.alter = (_, answer) => answer;
  const queue: string[] = [];
  let last = JSON.stringify({ pos: "0/s0_0" });
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    if (pathname.endsWith("/versions")) {
      return Response.json({ versions: ["v1.16"], unstable_features: SPELLINGS[spelling] });
    }
    if (!/(?:msc3575|v4)\/sync$/.test(pathname)) return await server.fetch(input, init);
    await new Promise((resolve) => setTimeout(resolve, queue.length === 0 ? 2 : 0));
    init?.signal?.throwIfAborted();
    last = queue.shift() ?? last;
    return new Response(last, { headers: { "content-type": "application/json" } });
  };
  const store = new MemoryStore();
  const bot = new Bot({ server: { fetch }, store, clock, number: 0, sync: "sliding" });
  const watch = new Watch(clock, server);
  const played = new Map<string, number>();
  let [number, doing] = [0, "the start"];
  watch.begin(bot);
  const receives = async (changed?: unknown): Promise<void> => {
    const notes = [`said ${++number}`, `to-device ${number}`, `account data ${number}`];
    if (changed !== undefined) queue.push(jsonText(changed));
    queue.push(jsonText(goodAnswer(number, spelling, notes)));
    await watch.until(() => notes.every((text) => bot.received.has(text)));
    bot.received.clear();
  };
  for (let time = 0; time < 3; time++) await receives();
  const cases = places(answer(spelling)).flatMap((place) => ODD.map((odd) => ({ place, odd })));
  const step = Math.max(1, cases.length / (count ?? cases.length));
  const random = randomFor({ seed, index: 0 }, 5);
  const before = Deno.memoryUsage().heapUsed;
  for (let at = count === undefined ? 0 : random.below(Math.ceil(step)); at < cases.length; at += step) {
    const { place, odd } = cases[Math.floor(at)] as (typeof cases)[number];
    const told = typeof odd === "symbol" ? "absent" : JSON.stringify(odd)?.slice(0, 60);
    doing = `${spelling}, ${place.join(".")}: ${told}`;
    const changed = changedAt(answer(spelling), place, odd);
    await receives(typeof changed === "symbol" ? null : changed);
    if (bot.faults.length > 0) break;
    const kind = place.slice(0, 2).filter((name) => name !== ROOM).join(".");
    played.set(kind, (played.get(kind) ?? 0) + 1);
    clock.advance(MINUTE);
  }
  const grown = Deno.memoryUsage().heapUsed - before;
  if (grown > MAX_GROWTH) bot.fault("memory", `${grown} bytes more`);
  if (bot.faults.length === 0) await bot.close();
  watch.end();
  await bot.close().catch(() => {}); // a fault was recorded
  await store.close();
  const fault = bot.faults.length === 0 ? undefined : `${doing}: ${bot.faults.join("\n")}`;
  return { all: cases.length, played, fault, sent: 0 };
}

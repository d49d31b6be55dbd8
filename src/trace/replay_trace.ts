/**
 * Plays a trace to a bot on a homeserver in the process, and compares what it sends.
 *
 * @module
 */

import { checkOptions } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { BotTester, TestedBot, TestedBotOptions } from "../testing/mod.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { checkKeep, type KeptWord, Redaction } from "./redaction.ts";
import {
  membersAtStart,
  OWN,
  ownerOf,
  readTrace,
  sorted,
  type TraceEvent,
  type TraceLine,
  type TraceRoom,
} from "./record_trace.ts";

/** Options of {@linkcode replayTrace}. */
export interface ReplayTraceOptions {
  /** How long a pause between two events may be, in milliseconds: longer ones are cut. Default: a day. */
  readonly maxPause?: number;
  /** The words that stayed in texts: the same as for `recordTrace()`. Default: none. */
  readonly keep?: readonly (string | RegExp)[];
}

/** Something that a bot has sent. */
export interface TraceMessage {
  /** The type of the event. */
  readonly type: string;
  /** Its content, redacted. */
  readonly content: JsonObject;
}

/** Where a bot has sent something else than in the trace. */
export interface ReplayDifference {
  /** The room, as it is called in the trace. */
  readonly room: string;
  /** Which of the bot's events in the room it is, from 0. */
  readonly index: number;
  /** What the trace has; undefined: nothing. */
  readonly recorded: TraceMessage | undefined;
  /** What the bot has sent; undefined: nothing. */
  readonly sent: TraceMessage | undefined;
}

/** What became of a replay. */
export interface ReplayReport {
  /** How many events of others were played. */
  readonly played: number;
  /** How many events the bot has sent. */
  readonly sent: number;
  /** Where the bot has sent something else. Empty: it did as in the trace. */
  readonly differences: readonly ReplayDifference[];
  /** Events of others that the homeserver has refused, and why. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

const DAY = 86_400_000;
/** The own part of an ID of a trace. */
const USER = /^@([a-z]+\d*):trace$/;

/**
 * Plays a trace of {@linkcode recordTrace} to a bot, and compares what it sends with what it sent then.
 *
 * The rooms, members and events of the trace are made on a homeserver in the process, and its clock moves as
 * time has passed. Encrypted rooms are played in clear. What the bot sends is redacted as the trace was: a
 * reply that quotes what was said has the same shape.
 *
 * @param trace What `recordTrace()` has written.
 * @param make Makes the bot, as for `BotTester`.
 * @param options How long pauses may be.
 * @returns What was played and sent, and where it differs.
 * @throws {ValueError} If it is no trace.
 *
 * @example
 * ```ts
 * import { Bot } from "@greenroom/matrix/bot";
 * import { replayTrace } from "@greenroom/matrix/trace";
 * import { assertEquals } from "@std/assert";
 *
 * const trace = [
 *   { line: "start", version: 1 },
 *   { line: "room", room: "!r1:trace", before: true, state: [] },
 *   { line: "event", room: "!r1:trace", id: "$e1", sender: "@u1:trace", type: "m.room.message", at: 0,
 *     content: { msgtype: "m.text", body: "!ping" } },
 * ].map((line) => JSON.stringify(line)).join("\n"); // the bot said nothing then
 * const { differences } = await replayTrace(trace, (options) => {
 *   const bot = new Bot(options);
 *   bot.command("ping", (c) => c.reply("pong"));
 *   return bot;
 * }, { keep: ["!ping", "pong"] });
 * assertEquals(differences.map(({ sent }) => sent?.content.body), ["pong"]);
 * ```
 */
export async function replayTrace(
  trace: string,
  make: (options: TestedBotOptions) => TestedBot,
  options: ReplayTraceOptions = {},
): Promise<ReplayReport> {
  checkOptions(options, { maxPause: true, keep: true }, "replay a trace");
  const { maxPause = DAY, keep = [] } = options;
  if (!(maxPause >= 0)) {
    throw new ValueError("Cannot replay a trace: maxPause must be a number of milliseconds");
  }
  checkKeep(keep, "replay a trace");
  const lines = readTrace(trace);
  const { BotTester } = await import("../testing/mod.ts"); // who only records does without
  await using tester = new BotTester(make);
  return await new Replay(tester, lines, keep).run(maxPause);
}

/** A room of a trace that has been made. */
interface PlayedRoom {
  readonly name: string;
  readonly id: string;
  /** The localpart of who made it. */
  readonly owner: string;
  /** What the bot sent, in the trace. */
  readonly recorded: readonly TraceEvent[];
  /** What it has sent now. */
  readonly sent: TraceMessage[];
  /** How many events of the room have been looked at. */
  seen: number;
}

class Replay {
  readonly #tester: BotTester;
  readonly #lines: readonly TraceLine[];
  readonly #redaction: Redaction;
  /** What stands for IDs of the trace. */
  readonly #ids = new Map<string, string>();
  readonly #rooms = new Map<string, PlayedRoom>();
  readonly #refused: { id: string; reason: string }[] = [];

  constructor(tester: BotTester, lines: readonly TraceLine[], keep: readonly KeptWord[]) {
    [this.#tester, this.#lines, this.#redaction] = [tester, lines, new Redaction(keep)];
    this.#name(OWN, tester.mxid);
  }

  async run(maxPause: number): Promise<ReplayReport> {
    const rooms = this.#lines.filter((line): line is TraceRoom => line.line === "room");
    for (const room of rooms) if (room.before) await this.#create(room);
    await this.#tester.start();
    this.#look();
    for (const room of this.#rooms.values()) room.sent.length = 0; // what the bot says at its start
    let [played, last] = [0, 0];
    for (const line of this.#lines) {
      if (line.line === "room" && !line.before) await this.#create(line);
      if (line.line !== "event") continue;
      await this.#tester.pass(Math.min(Math.max(0, line.at - last), maxPause));
      last = line.at;
      this.#look();
      if (line.sender === OWN) continue;
      played++;
      await this.#play(line);
      await this.#tester.settle();
      this.#look();
    }
    await this.#tester.settle();
    this.#look();
    return this.#report(played);
  }

  #name(name: string, id: string): void {
    this.#ids.set(name, id);
    this.#redaction.call(id, name);
  }

  /** The localpart of a user of the trace, who is made if need be. */
  #user(name: string): string {
    const [, localpart = "somebody"] = USER.exec(name) ?? [];
    this.#name(name, this.#tester.userId(localpart));
    return localpart;
  }

  async #create({ room: name, state }: TraceRoom): Promise<void> {
    const events = this.#lines.filter((line): line is TraceEvent =>
      line.line === "event" && line.room === name
    );
    const members = membersAtStart(state, events);
    const owner = this.#user(ownerOf(state, members));
    for (const member of members) this.#user(member);
    const levels = state.find(({ type }) => type === "m.room.power_levels")?.content ?? {};
    const users = { ...(isJsonObject(levels.users) ? this.#real(levels.users) : {}), [this.#id(owner)]: 100 };
    const { room_id: id } = await this.#tester.request(owner, "POST", "/createRoom", {
      room_version: "10",
      preset: "private_chat",
      invite: [...members, OWN].map((member) => this.#ids.get(member)).filter((member) =>
        member !== this.#id(owner)
      ),
      power_level_content_override: { ...this.#real(levels), users },
    });
    this.#name(name, String(id));
    for (const member of [...members, OWN]) {
      const localpart = this.#user(member);
      if (localpart !== owner) {
        await this.#tester.request(localpart, "POST", `/join/${encodeURIComponent(String(id))}`, {});
      }
    }
    const recorded = events.filter(({ sender, stateKey }) => sender === OWN && stateKey !== OWN);
    this.#rooms.set(name, { name, id: String(id), owner, recorded, sent: [], seen: 0 });
    await this.#tester.settle();
  }

  #id(localpart: string): string {
    return this.#tester.userId(localpart);
  }

  async #play(event: TraceEvent): Promise<void> {
    const room = this.#rooms.get(event.room);
    if (room === undefined) throw new ValueError(`Cannot replay a trace: it has no room ${event.room}`);
    try {
      const answer = await this.#send(event, room);
      if (typeof answer.event_id === "string") this.#name(event.id, answer.event_id);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.#refused.push({ id: event.id, reason: error.message });
    }
  }

  async #send(
    { id, sender, type, stateKey, content, redacts }: TraceEvent,
    room: PlayedRoom,
  ): Promise<JsonObject> {
    const path = `/rooms/${encodeURIComponent(room.id)}`;
    const user = this.#user(sender);
    const request = (method: string, way: string, body: JsonObject) =>
      this.#tester.request(user, method, `${path}${way}`, body);
    if (type === "m.room.member" && stateKey !== undefined) {
      const target = this.#id(this.#user(stateKey));
      const isOwn = sender === stateKey;
      const { membership } = content;
      if (membership === "join") {
        // It is refused if the user is in the room.
        await this.#tester.request(room.owner, "POST", `${path}/invite`, { user_id: target }).catch(() => {});
        return await this.#tester.request(user, "POST", `/join/${encodeURIComponent(room.id)}`, {});
      }
      if (membership === "leave") {
        return await request("POST", isOwn ? "/leave" : "/kick", isOwn ? {} : { user_id: target });
      }
      return await request("POST", membership === "ban" ? "/ban" : "/invite", { user_id: target });
    }
    const way = encodeURIComponent(type);
    if (redacts !== undefined) {
      const target = encodeURIComponent(String(this.#real({ target: redacts }).target));
      return await request("PUT", `/redact/${target}/${encodeURIComponent(id)}`, {});
    }
    if (stateKey === undefined) {
      return await request("PUT", `/send/${way}/${encodeURIComponent(id)}`, this.#real(content));
    }
    const key = encodeURIComponent(String(this.#real({ stateKey }).stateKey));
    return await request("PUT", `/state/${way}/${key}`, this.#real(content));
  }

  /** A content with what stands for IDs of the trace. */
  #real(content: JsonObject): JsonObject {
    const text = JSON.stringify(content).replace(/[@!][a-z]\w*:trace|\$e\d+/g, (name) => {
      if (name.startsWith("@")) this.#user(name);
      return this.#ids.get(name) ?? name;
    });
    return JSON.parse(text);
  }

  /** Takes what the bot has sent. */
  #look(): void {
    for (const room of this.#rooms.values()) {
      const { events } = this.#tester.homeserver.room(room.id as `!${string}`);
      for (const { sender, type, content, event_id, state_key } of events.slice(room.seen)) {
        if (sender !== this.#tester.mxid || (type === "m.room.member" && state_key === sender)) continue;
        const name = room.recorded[room.sent.length]?.id;
        if (name !== undefined) this.#name(name, event_id);
        room.sent.push({ type, content: this.#redaction.content(content, type) });
      }
      room.seen = events.length;
    }
  }

  #report(played: number): ReplayReport {
    const differences: ReplayDifference[] = [];
    let count = 0;
    for (const { name, recorded, sent } of this.#rooms.values()) {
      count += sent.length;
      for (let index = 0; index < Math.max(recorded.length, sent.length); index++) {
        const [then, now] = [messageOf(recorded[index]), sent[index]];
        if (JSON.stringify(sorted(then)) === JSON.stringify(sorted(now))) continue;
        differences.push({ room: name, index, recorded: then, sent: now });
      }
    }
    return { played, sent: count, differences, refused: this.#refused };
  }
}

function messageOf(event: TraceEvent | undefined): TraceMessage | undefined {
  return event && { type: event.type, content: event.content };
}

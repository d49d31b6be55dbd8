/**
 * Writes down what a bot receives and sends, as a trace: lines, each of which is JSON.
 *
 * Over 300 lines because the lines are what it writes.
 *
 * @module
 */

import type { Client } from "../../mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { checkOptions } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { ClientEvent } from "../types/events/event.ts";
import type { RoomID } from "../types/ids.ts";
import { isJsonObject, type JsonObject, objectOf } from "../types/json.ts";
import { checkKeep, Redaction } from "./redaction.ts";

/** Options of {@linkcode recordTrace}. */
export interface RecordTraceOptions {
  /**
   * Gets each line, with its end. The next one waits until it has settled.
   *
   * @example
   * ```ts ignore
   * const file = await Deno.open(`bot-${Date.now()}.trace`, { createNew: true, write: true });
   * const write = (line: string) => file.write(new TextEncoder().encode(line));
   * ```
   */
  readonly write: (line: string) => unknown;
  /**
   * Words that stay in texts as they are: each a word, such as `!ping`, or an expression that fits all of a
   * word, such as `/\d+[smhd]/`. Default: none.
   */
  readonly keep?: readonly (string | RegExp)[];
  /** Says when an event was delivered. Default: the system's clock. */
  readonly clock?: Clock;
}

/** A recording under way. */
export interface TraceRecording extends AsyncDisposable {
  /** Ends it. Resolves when all lines are written. */
  stop(): Promise<void>;
}

/** What of a room's state a trace has. */
const STATE = new Set([
  "m.room.power_levels",
  "m.room.encryption",
  "m.room.join_rules",
  "m.room.history_visibility",
  "m.room.member",
]);
/** How many members of a room a trace has. */
const MAX_STATE = 1_000;

/**
 * Records what a client receives and sends, for a bug report or for a test with {@linkcode replayTrace}.
 *
 * A trace has the shape of events and not what is in them. Users, rooms, events and media are called
 * `@u1:trace`, `!r1:trace`, `$e1` and so on, letters are `x` and digits `0`, other numbers `0`. Types of
 * events, names of members in letters, values of the specification, power levels, sizes and the words of
 * {@linkcode RecordTraceOptions.keep} stay. So a trace still says how long texts are and who answers whom.
 * What came encrypted is in it as it was decrypted, redacted in the same way.
 *
 * @param client The client, of a bot of the kit `bot.client`.
 * @param options Where the lines go, and which words stay.
 * @returns The recording.
 * @throws {ValueError} If it is given no client, or no function to write with, or words that are none.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 * import { recordTrace } from "@greenroom/matrix/trace";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * const room = await client.createRoom();
 *
 * let trace = "";
 * await using recording = recordTrace(client, { write: (line) => void (trace += line), keep: ["!ping"] });
 * await client.syncOnce();
 * await client.sendText(room, "!ping hunter2");
 * await client.syncOnce();
 * await recording.stop();
 * console.assert(trace.includes("!ping xxxxxx0"));
 * ```
 */
export function recordTrace(client: Client, options: RecordTraceOptions): TraceRecording {
  checkOptions(options, { write: true, keep: true, clock: true }, "record a trace");
  if (typeof options?.write !== "function") {
    throw new ValueError("Cannot record a trace: write must be a function that takes a line");
  }
  checkKeep(options.keep, "record a trace");
  if (typeof client?.stateStore?.getJoinedRooms !== "function") {
    throw new ValueError(
      "Cannot record a trace: the first argument must be a client; of a bot, give bot.client",
    );
  }
  return new Recording(client, options);
}

function isRoomEvent(event: object): event is ClientEvent {
  return "event_id" in event && "room_id" in event && "sender" in event;
}

class Recording implements TraceRecording {
  readonly #client: Client;
  readonly #options: RecordTraceOptions;
  readonly #clock: Clock;
  readonly #redaction: Redaction;
  readonly #rooms = new Set<RoomID>();
  readonly #handler = (event: object) => this.#record(event);
  /** The rooms that the client was in at the start. */
  readonly #before: Promise<ReadonlySet<RoomID>>;
  #tail: Promise<void>;
  /** Whether it was stopped, or a line could not be written. */
  #isOver = false;
  readonly #start: number;

  constructor(client: Client, options: RecordTraceOptions) {
    const { keep = [], clock = systemClock } = options;
    [this.#client, this.#options, this.#clock] = [client, options, clock];
    this.#redaction = new Redaction(keep);
    this.#start = clock.now();
    this.#before = client.stateStore.getJoinedRooms().then((rooms) => new Set(rooms));
    this.#before.catch(() => {}); // the first event's line rejects with it
    this.#tail = this.#line({ line: "start", version: 1 });
    this.#tail.catch(() => {}); // and with this
    client.on(this.#handler);
  }

  async stop(): Promise<void> {
    this.#end();
    await this.#tail;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #end(): void {
    this.#isOver = true;
    this.#client.removeEventHandler(this.#handler);
  }

  #record(event: object): Promise<void> | undefined {
    if (this.#isOver || !isRoomEvent(event)) return undefined;
    this.#tail = this.#tail.then(() => this.#event(event));
    return this.#tail.catch((error) => {
      if (this.#isOver) return; // stop() rejects with it
      this.#end();
      throw error; // the client logs it
    });
  }

  async #event(event: ClientEvent): Promise<void> {
    const { room_id: roomId, event_id: eventId, sender, type, state_key: stateKey } = event;
    this.#nameSelf();
    if (!this.#rooms.has(roomId)) await this.#room(roomId);
    const redaction = this.#redaction;
    const redacts = type === "m.room.redaction" ? event.redacts ?? event.content.redacts : undefined;
    const line: TraceEvent = {
      line: "event",
      room: redaction.id(roomId),
      id: redaction.id(eventId),
      sender: redaction.id(sender),
      type,
      ...(stateKey !== undefined && { stateKey: redaction.text(stateKey) }),
      content: type === "m.room.encrypted" ? {} : redaction.content(event.content, type),
      ...(typeof redacts === "string" && { redacts: redaction.id(redacts) }),
      at: this.#clock.now() - this.#start,
    };
    await this.#line(line);
  }

  async #room(roomId: RoomID): Promise<void> {
    this.#rooms.add(roomId);
    const redaction = this.#redaction;
    const all = await this.#client.stateStore.listState(roomId);
    const state: TraceState[] = all.filter(({ type }) => STATE.has(type)).slice(0, MAX_STATE).map((
      { type, state_key: stateKey, sender, content },
    ) => ({
      type,
      stateKey: redaction.text(stateKey),
      sender: redaction.id(sender),
      content: redaction.content(content, type),
    }));
    await this.#line({
      line: "room",
      room: redaction.id(roomId),
      before: (await this.#before).has(roomId),
      state,
    });
  }

  #nameSelf(): void {
    const { mxid } = this.#client;
    if (mxid !== undefined) this.#redaction.call(mxid, OWN);
  }

  async #line(line: TraceLine): Promise<void> {
    await this.#options.write(`${JSON.stringify(line)}\n`);
  }
}

/** The first line. */
interface TraceStart {
  readonly line: "start";
  /** The version of the format. */
  readonly version: 1;
}

/** A room, before its first event. */
export interface TraceRoom {
  readonly line: "room";
  readonly room: string;
  /** Whether the bot was in it when the recording began. */
  readonly before: boolean;
  readonly state: readonly TraceState[];
}

/** One piece of a room's state. */
interface TraceState {
  readonly type: string;
  readonly stateKey: string;
  readonly sender: string;
  readonly content: JsonObject;
}

/** An event, received or sent. */
export interface TraceEvent {
  readonly line: "event";
  readonly room: string;
  readonly id: string;
  readonly sender: string;
  readonly type: string;
  /** Undefined: it is no state event. */
  readonly stateKey?: string;
  readonly content: JsonObject;
  /** The event that it redacts. */
  readonly redacts?: string;
  /** How long after the start it was delivered, in milliseconds. */
  readonly at: number;
}

export type TraceLine = TraceStart | TraceRoom | TraceEvent;

/** What a user's own bot is called in a trace. */
export const OWN = "@bot:trace";

/**
 * Reads a trace. A last line that a crash cut off is left out.
 *
 * @throws {ValueError} If it is none.
 */
export function readTrace(text: string): readonly TraceLine[] {
  if (typeof text !== "string") {
    throw new ValueError(
      "Cannot read a trace: it must be a string; decode bytes, or read the file with Deno.readTextFile()",
    );
  }
  const texts = text.split("\n").filter((line) => line !== "");
  const isCut = texts.length > 1 && !text.endsWith("\n") && parsed(texts.at(-1)) === undefined;
  const lines = (isCut ? texts.slice(0, -1) : texts).map((line, index) => {
    const value = parsed(line);
    if (isLine(value)) return value;
    throw new ValueError(`Cannot read a trace: line ${index + 1} is not one of a trace`);
  });
  const [start] = lines;
  if (start?.line !== "start" || start.version !== 1) {
    throw new ValueError(
      "Cannot read a trace: it does not begin as one of version 1; give what recordTrace() wrote",
    );
  }
  const second = lines.findIndex(({ line }, index) => index > 0 && line === "start");
  if (second !== -1) {
    throw new ValueError(
      `Cannot read a trace: a second recording begins at line ${
        second + 1
      }; write each into a file of its own`,
    );
  }
  return lines;
}

function parsed(line = ""): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isLine(line: unknown): line is TraceLine {
  if (!isJsonObject(line)) return false;
  if (line.line === "start") return true;
  if (typeof line.room !== "string") return false;
  if (line.line === "room") return Array.isArray(line.state) && line.state.every(isState);
  const { id, sender, at } = line;
  return line.line === "event" && [id, sender].every((each) => typeof each === "string") &&
    typeof at === "number" && at >= 0 && isTyped(line);
}

function isState(state: unknown): boolean {
  return isJsonObject(state) && typeof state.stateKey === "string" && typeof state.sender === "string" &&
    isTyped(state);
}

function isTyped({ type, content }: JsonObject): boolean {
  return typeof type === "string" && isJsonObject(content);
}

/** The users, besides the bot, who are in a room before the first event of it. */
export function membersAtStart(
  state: readonly TraceState[],
  events: readonly TraceEvent[],
): ReadonlySet<string> {
  const joined = state.filter(({ type, content }) =>
    type === "m.room.member" && content.membership === "join"
  );
  const members = new Set(joined.map(({ stateKey }) => stateKey));
  const seen = new Set<string>();
  for (const { type, stateKey, sender, content: { membership } } of events) {
    const user = type === "m.room.member" && stateKey !== undefined ? stateKey : sender;
    if (seen.has(user)) continue;
    seen.add(user);
    const isLate = type === "m.room.member" && (membership === "join" || membership === "invite");
    if (isLate) members.delete(user);
    else members.add(user);
  }
  members.delete(OWN);
  return members;
}

/** Returns who makes the room: the user with the highest power level, or any. */
export function ownerOf(state: readonly TraceState[], members: ReadonlySet<string>): string {
  const users = state.find(({ type }) => type === "m.room.power_levels")?.content.users;
  const levels = objectOf(users);
  const [first = "@owner:trace"] = [...members].sort((one, other) =>
    Number(levels[other] ?? 0) - Number(levels[one] ?? 0)
  );
  return first;
}

/** The same with the members of each object in order. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => one < other ? -1 : 1));
}

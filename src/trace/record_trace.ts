/**
 * Writes down what a bot receives and sends.
 *
 * @module
 */

import type { Client } from "../../mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { checkOptions } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { ClientEvent } from "../types/events/event.ts";
import type { RoomID } from "../types/ids.ts";
import { checkKeep, Redaction } from "./redaction.ts";
import { OWN, type TraceEvent, type TraceLine, type TraceState } from "./trace_lines.ts";

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
 * A trace has the shape of events and not what is in them. Users, rooms, events and media are called `@u1:trace`,
 * `!r1:trace`, `$e1` and so on, letters are `x` and digits `0`, other numbers `0`. Types of events, names of
 * members in letters, values of the specification, power levels, sizes and the words of
 * {@linkcode RecordTraceOptions.keep} stay. So a trace still says how long texts are and who
 * answers whom. What came encrypted is in it as it was decrypted, redacted in the same way.
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

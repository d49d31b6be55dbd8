/**
 * A client that is given messages at a rate, and answers each: how long that takes, on the wire.
 *
 * @module
 */

import type { InputResponse } from "../inputs/inputs.ts";
import type { InputEvent } from "../inputs/room_inputs.ts";
import type { Bodies } from "./stub_session.ts";

/** How answers came at a rate. */
export interface Pace {
  /** Messages a second. */
  readonly rate: number;
  /** How many messages there were. */
  readonly messages: number;
  /** How many were answered in time. */
  readonly answered: number;
  /** Milliseconds from a message to its answer: the middle one, that of 99 %, and the longest. */
  readonly median: number;
  readonly most: number;
  readonly longest: number;
}

/** A message, and the keys that come with it. */
interface Message {
  readonly roomId: string;
  readonly event: InputEvent;
  readonly keys: readonly InputEvent[];
}

interface Run {
  /** The message that it begins with. */
  readonly from: number;
  readonly messages: number;
  readonly rate: number;
  readonly start: number;
  readonly times: number[];
  readonly done: PromiseWithResolvers<void>;
}

/** As many as Synapse gives of a timeline, for each of some rooms. */
const MOST_AT_ONCE = 500;
/** How long answers may come after the last message, in milliseconds. */
const PATIENCE_MS = 5_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const COUNTS = {
  device_one_time_keys_count: { signed_curve25519: 50 },
  device_unused_fallback_key_types: ["signed_curve25519"],
};

/** A client's session. */
export class PacedSession {
  readonly #bodies: () => Bodies;
  #first: Uint8Array<ArrayBuffer> | undefined;
  #messages: Message[] = [];
  /** How many messages it was given. */
  #given = 0;
  #run: Run | undefined;
  #released = Promise.withResolvers<void>();
  readonly #greeted = Promise.withResolvers<void>();
  /** When the messages came that are not answered, by rooms. */
  readonly #open = new Map<string, number[]>();

  /** @param bodies Makes the responses: the first, and then one for each message. */
  constructor(bodies: () => Bodies) {
    this.#bodies = bodies;
  }

  /** The response to a sync request, when there is to be one. */
  async sync(since: string | null, timeout: number): Promise<Uint8Array<ArrayBuffer>> {
    if (since === null || since === "") return this.#begin();
    const index = Number.parseInt(since.slice(1));
    const end = performance.now() + timeout;
    let waited = false;
    for (;;) {
      const [now, due] = [performance.now(), this.#due()];
      if (due > index) {
        return this.#give(index, Math.min(due, index + MOST_AT_ONCE), waited ? now : undefined);
      }
      if (now >= end) return encoder.encode(JSON.stringify({ next_batch: since, ...COUNTS }));
      waited = true;
      await this.#wait(Math.min(end, this.#dueAt(index)) - now);
    }
  }

  /** Notes an answer: the first to the oldest message of the room that has none. */
  answered(roomId: string): void {
    const came = this.#open.get(roomId)?.shift();
    const run = this.#run;
    if (came === undefined || run === undefined) {
      if (this.#isIdle()) this.#greeted.resolve();
      return;
    }
    run.times.push(performance.now() - came);
    if (run.times.length === run.messages) run.done.resolve();
  }

  /** Resolves when the messages of the first response are answered. */
  async greeted(): Promise<object> {
    await this.#greeted.promise;
    return {};
  }

  /** Has messages come at a rate. */
  async pace(rate: number, seconds: number): Promise<Pace> {
    const [messages, done] = [rate * seconds, Promise.withResolvers<void>()];
    this.#open.clear();
    const run: Run = { from: this.#given, messages, rate, start: performance.now(), times: [], done };
    this.#run = run;
    this.#released.resolve();
    this.#released = Promise.withResolvers();
    const patience = setTimeout(done.resolve, seconds * 1_000 + PATIENCE_MS);
    await done.promise;
    clearTimeout(patience);
    const times = run.times.toSorted((one, other) => one - other);
    const at = (part: number) => times[Math.ceil(times.length * part) - 1] ?? NaN;
    return { rate, messages, answered: times.length, median: at(0.5), most: at(0.99), longest: at(1) };
  }

  #begin(): Uint8Array<ArrayBuffer> {
    if (this.#first !== undefined) return this.#first;
    const [first, ...others] = this.#bodies().map((body) => JSON.parse(decoder.decode(body)));
    this.#messages = others.flatMap(messagesOf);
    for (const { roomId } of messagesOf(first)) this.#note(roomId, performance.now());
    return this.#first = encoder.encode(JSON.stringify({ ...first, next_batch: "p0" }));
  }

  /** How many messages there are by now. */
  #due(): number {
    if (this.#run === undefined) return 0;
    const { from, messages, rate, start } = this.#run;
    return from + Math.min(messages, Math.floor((performance.now() - start) * rate / 1_000));
  }

  /** When a message is there. */
  #dueAt(index: number): number {
    if (this.#run === undefined || index >= this.#run.from + this.#run.messages) return Infinity;
    return this.#run.start + (index - this.#run.from + 1) * 1_000 / this.#run.rate;
  }

  async #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.min(ms, 2 ** 30));
    await Promise.race([promise, this.#released.promise]);
    clearTimeout(timer);
  }

  /** @param at When the client got them, if it was waiting. */
  #give(from: number, to: number, at: number | undefined): Uint8Array<ArrayBuffer> {
    const join: Record<string, { timeline: { events: InputEvent[]; limited: boolean; prev_batch: string } }> =
      {};
    const keys: InputEvent[] = [];
    for (let index = from; index < to; index++) {
      const message = this.#messages[index];
      if (message === undefined) throw new Error(`Cannot sync: there is no message ${index}`);
      const room = join[message.roomId] ??= {
        timeline: { events: [], limited: false, prev_batch: `p${from}` },
      };
      room.timeline.events.push(message.event);
      keys.push(...message.keys);
      this.#note(message.roomId, at ?? this.#dueAt(index));
    }
    this.#given = to;
    const response = { next_batch: `p${to}`, ...COUNTS, rooms: { join } };
    return encoder.encode(
      JSON.stringify(keys.length === 0 ? response : { ...response, to_device: { events: keys } }),
    );
  }

  #note(roomId: string, at: number): void {
    const open = this.#open.get(roomId);
    if (open === undefined) this.#open.set(roomId, [at]);
    else open.push(at);
  }

  #isIdle(): boolean {
    return [...this.#open.values()].every((open) => open.length === 0);
  }
}

function messagesOf(response: InputResponse & { to_device?: { events: InputEvent[] } }): Message[] {
  let keys = response.to_device?.events ?? [];
  return Object.entries(response.rooms.join).flatMap(([roomId, { timeline }]) =>
    timeline.events.map((event) => {
      const message = { roomId, event, keys };
      keys = [];
      return message;
    })
  );
}

/**
 * A send in a queue, its record and what becomes of it; and the sends of a room that wait, in memory and in
 * the store, in the same order.
 *
 * Over 300 lines because a send and the queue that it waits in are one thing.
 *
 * @module
 */

import { ActorStoppedError } from "../../actors/kernel/mod.ts";
import { checkedType, identified, outgoingEvent, type SendingUser } from "../../api/http/mod.ts";
import { type MessagesAPI, type SendHelpersAPI, sendHelpersAPI } from "../../api/messages/mod.ts";
import type { Clock } from "../../base/clock.ts";
import { outsideOfHandlers } from "../../base/handler_call.ts";
import { Turns } from "../../base/runs.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { defineSession, type SessionKey } from "../../types/events/define_session.ts";
import type { EventType } from "../../types/events/event_type.ts";
import type { EventID, RoomID, TransactionID } from "../../types/ids.ts";
import type { ListSessionsOptions, SessionsAPI, StoredSession, TasksAPI } from "../sessions_api.ts";
import type { QueuedSend, QueuedSendOptions } from "./send_queue.ts";

/** A send as it is stored. */
export interface StoredSend {
  readonly eventType: string;
  readonly content: object;
  readonly txnId: TransactionID;
  readonly disableEncryption: boolean;
}

/** The same with its key. */
export interface Entry {
  readonly key: string;
  readonly record: StoredSend;
}

/** What waits in queues: by the room, and a number that grows. */
export const QUEUED = defineSession({
  name: "greenroom.queue",
  per: "member",
  initial: (): StoredSend => ({ eventType: "", content: {}, txnId: "", disableEncryption: false }),
});

/** What became of a send. */
export type Outcome =
  | { readonly eventId: EventID }
  | { readonly refusal: string }
  | { readonly isCancelled: true };

/** How many outcomes stay in a room when its queue is read. */
const MAX_OUTCOMES = 100;
/** How long an outcome is kept, in milliseconds. */
const OUTCOME_AGE = 24 * 60 * 60 * 1_000;

/** An outcome, and when that came. */
interface NotedOutcome {
  readonly at: number;
  readonly outcome: Outcome;
}

/** What became of a send that another process had added: that one may still wait to hear of it. */
const OUTCOMES = defineSession({
  name: "greenroom.queue.outcomes",
  per: "member",
  initial: (): NotedOutcome => ({ at: 0, outcome: { isCancelled: true } }),
});

/**
 * Removes outcomes that nobody waits for any more: old ones, and those of a room before its last ones.
 * Does not fail: what stays is removed later.
 *
 * @param place The room. Default: all rooms.
 */
export async function forgetOutcomes(
  kept: Pick<SessionsAPI, "list" | "end">,
  now: number,
  place?: ListSessionsOptions,
): Promise<void> {
  const noted = await outcomes(kept, place);
  const old = noted.filter(({ key, state }, index) =>
    state.at < now - OUTCOME_AGE || noted[index + MAX_OUTCOMES]?.key[0] === key[0]
  );
  await forget(kept, old.map(({ key }) => key));
}

/** The outcomes of a room, or of all; none, if they can't be read. */
async function outcomes(
  kept: Pick<SessionsAPI, "list">,
  place?: ListSessionsOptions,
): Promise<StoredSession<NotedOutcome>[]> {
  return await Array.fromAsync(kept.list(OUTCOMES, place)).catch(() => []);
}

async function forget(kept: Pick<SessionsAPI, "end">, keys: readonly SessionKey[]): Promise<void> {
  const forgotten = keys.map((key) => outsideOfHandlers(() => kept.end(OUTCOMES, key)));
  await Promise.allSettled(forgotten);
}

/** A send of the queue. */
export class Queued implements QueuedSend {
  readonly #stored = Promise.withResolvers<TransactionID>();
  readonly #sent = Promise.withResolvers<EventID>();
  readonly #cancel: (send: Queued) => Promise<boolean>;
  /** Ends the wait for its next try. */
  readonly over = new AbortController();
  /** What is stored; undefined until it has its place. */
  entry: Entry | undefined;
  /** Whether another process has added it. */
  isForeign = false;
  /** Whether it is in the store. */
  isStored = false;
  /** Resolves when the try of it that is under way has ended; undefined: none is. */
  tried: Promise<void> | undefined;
  /** At how many tries in a row the server itself has failed. */
  failures = 0;

  constructor(cancel: (send: Queued) => Promise<boolean>) {
    this.#cancel = cancel;
    this.stored.catch(() => {});
    this.sent.catch(() => {});
  }

  get stored(): Promise<TransactionID> {
    return this.#stored.promise;
  }

  get sent(): Promise<EventID> {
    return this.#sent.promise;
  }

  get eventType(): string {
    return this.entry?.record.eventType ?? "";
  }

  get content(): object {
    return structuredClone(this.entry?.record.content ?? {});
  }

  cancel(): Promise<boolean> {
    return this.#cancel(this);
  }

  hasStored(txnId: TransactionID): void {
    this.isStored = true;
    this.#stored.resolve(txnId);
  }

  hasSent(eventId: EventID): void {
    this.#sent.resolve(eventId);
  }

  /** It won't be sent by this client. */
  fail(error: unknown): void {
    this.#stored.reject(error);
    this.#sent.reject(error);
  }

  /** It is the same as another. */
  follow(twin: Queued): void {
    this.entry = twin.entry;
    const fail = (error: unknown) => this.fail(error);
    twin.stored.then((txnId) => this.hasStored(txnId), fail);
    twin.sent.then((eventId) => this.hasSent(eventId), fail);
  }
}

const OPTIONS: OptionNames<QueuedSendOptions> = { disableEncryption: true, key: true, txnId: true };

/** Nothing asks for this: files are not sent by a queue. */
const NO_FILES = {} as Parameters<typeof sendHelpersAPI>[1];

/** Makes an event with a helper, or hands one out. */
export type Make = (helpers: SendHelpersAPI, add: MessagesAPI["sendMessageEvent"]) => Promise<unknown>;

/**
 * Makes the record of a send, of what is given now.
 *
 * @param make Makes the event.
 * @param options How it is sent.
 * @param roomId The room.
 * @param user Who sends.
 */
export async function storedSend(
  make: Make,
  options: QueuedSendOptions,
  roomId: RoomID,
  user: SendingUser,
): Promise<StoredSend> {
  if (options === null || typeof options !== "object") {
    throw new ValueError("Cannot queue a send: its options must be an object");
  }
  const { txnId } = options;
  if (txnId !== undefined && (typeof txnId !== "string" || txnId === "")) {
    throw new ValueError("Cannot queue a send: its txnId must be a string that is not empty");
  }
  const made = Promise.withResolvers<StoredSend>();
  const record = async (
    type: EventType,
    given: object,
    { disableEncryption = false, ...options }: QueuedSendOptions,
  ) => {
    checkOptions(options, OPTIONS, "queue a send");
    const { eventType, content } = await outgoingEvent(type, "message", given);
    const { txnId } = await identified({ roomId, type: eventType, content }, options, user);
    made.resolve({ eventType, content, txnId, disableEncryption });
  };
  const add = async (_: RoomID, type: EventType, content: object, options: QueuedSendOptions = {}) => {
    // What JSON would make something else of is refused before it does.
    void outgoingEvent(checkedType(type, "message"), "message", content);
    await record(type, copyOf(content), options);
    return "" as EventID; // nothing asks for it
  };
  await make(sendHelpersAPI(add, NO_FILES), add);
  return await made.promise;
}

/**
 * Refuses what is no text.
 *
 * @throws {ValueError} If it is neither a string nor `null`.
 */
export function checkText(text: string | null): string | null {
  if (typeof (text ?? "") === "string") return text;
  throw new ValueError("Cannot queue a send: its text must be a string, or null");
}

function copyOf(content: object): object {
  try {
    return JSON.parse(JSON.stringify(content) ?? "null");
  } catch (cause) {
    throw new ValueError("Cannot queue a send: its content can't be written as JSON", { cause });
  }
}

/** Digits of a number in a key, so that their order is that of text. */
const DIGITS = 15;
/** Comes behind all keys of a room. */
const LAST = "~";

/** What the sends of a room belong to. */
interface WaitingParts {
  readonly roomId: RoomID;
  /** Has them. */
  readonly kept: SessionsAPI;
  /** Changes several of them together. */
  readonly runTask: TasksAPI["runTask"];
  /** Says how old outcomes are. */
  readonly clock: Pick<Clock, "now">;
  /** Takes one out, as its user asks. */
  readonly cancel: (send: Queued) => Promise<boolean>;
  /** What a use of the store that has ended fails with. */
  readonly over: () => Error;
}

export class WaitingSends {
  readonly #parts: WaitingParts;
  /** In order; the last ones may not be stored yet. */
  readonly #sends: Queued[] = [];
  /** The number of the next one. */
  #next = 0;
  /** Stores those that are added. */
  readonly #adding = new Turns();

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#sends.length;
  }

  /** The one that is to be sent. */
  get first(): Queued | undefined {
    return this.#sends[0];
  }

  [Symbol.iterator](): ArrayIterator<Queued> {
    return this.#sends.values();
  }

  find(txnId: TransactionID | undefined): Queued | undefined {
    return this.#sends.find(({ entry }) => entry?.record.txnId === txnId);
  }

  /** Reads what another process has left, where nothing waits. */
  async load(): Promise<void> {
    const left: Queued[] = [];
    for await (const entry of this.#stored()) {
      const send = new Queued(this.#parts.cancel);
      [send.entry, send.isForeign] = [entry, true];
      send.hasStored(entry.record.txnId);
      left.push(send);
      this.#next = parseInt(entry.key) + 1;
    }
    for (const send of left) this.#sends.push(send);
    const { kept, clock } = this.#parts;
    if (left.length > 0) await forgetOutcomes(kept, clock.now(), this.#place);
  }

  /**
   * Takes out of memory what another process has taken out of the store. Returns that, and what became of it.
   */
  async gone(): Promise<(readonly [send: Queued, outcome: Outcome | undefined])[]> {
    const before = this.#sends.filter(({ isStored }) => isStored);
    const keys = new Set<string>();
    for await (const { key } of this.#stored()) keys.add(key);
    const gone = before.filter((send) => !keys.has(keyOf(send)) && this.#sends.includes(send));
    for (const send of gone) this.takeOut(send);
    if (gone.length === 0) return [];
    const noted = await outcomes(this.#parts.kept, this.#place);
    const known = new Map<string, Outcome>(noted.map(({ key, state }) => [key[1] ?? "", state.outcome]));
    const heard = gone.filter(({ isForeign }) => !isForeign).map(keyOf).filter((key) => known.has(key));
    await forget(this.#parts.kept, heard.map((key) => [this.#parts.roomId, key]));
    return gone.map((send) => [send, known.get(keyOf(send))]);
  }

  get #place() {
    const { roomId } = this.#parts;
    return { after: [roomId, ""], before: [roomId, LAST] } as const;
  }

  async *#stored(): AsyncGenerator<Entry> {
    const { kept } = this.#parts;
    for await (const { key, state } of kept.list(QUEUED, this.#place)) {
      yield { key: key[1] ?? "", record: state };
    }
  }

  /** Adds one as the last. Resolves when it is stored. */
  add(send: Queued, record: StoredSend): Promise<void> {
    const key = `${String(this.#next++).padStart(DIGITS, "0")}-${
      crypto.getRandomValues(new Uint8Array(8)).toHex()
    }`; // another process may count, too
    send.entry = { key, record };
    this.#sends.push(send);
    // One after the other: what a crash leaves has no gap, into which an application could not add again.
    return this.#adding.take(() => this.#write(key, record));
  }

  /** Takes one out of the store, and then out of memory. */
  async remove(send: Queued, outcome: Outcome): Promise<void> {
    await this.erase(send, outcome);
    this.takeOut(send);
  }

  /** Takes one out of the store. */
  async erase(send: Queued, outcome: Outcome): Promise<void> {
    const key = keyOf(send);
    if (send.isForeign) return await this.#note(key, outcome);
    await send.stored.catch(() => {}); // else it is stored behind this
    await this.#write(key, null);
  }

  /** Takes one out of the store, and notes what became of it for the process that has added it. */
  async #note(key: string, outcome: Outcome): Promise<void> {
    const { roomId, runTask, clock } = this.#parts;
    const at = clock.now();
    await this.#using(() =>
      runTask(`${QUEUED.name} ${key}`, (ctx) => { // one commit
        ctx.updateSession(OUTCOMES, [roomId, key], () => ({ at, outcome }));
        ctx.updateSession(QUEUED, [roomId, key], () => null);
      })
    );
  }

  /** Takes one out of memory. */
  takeOut(send: Queued): void {
    const place = this.#sends.indexOf(send);
    if (place >= 0) this.#sends.splice(place, 1);
  }

  async #write(key: string, record: StoredSend | null): Promise<void> {
    const { roomId, kept } = this.#parts;
    await this.#using(() => kept.update(QUEUED, [roomId, key], () => record));
  }

  async #using(change: () => Promise<void>): Promise<void> {
    try {
      await outsideOfHandlers(change);
    } catch (error) {
      throw error instanceof ActorStoppedError ? this.#parts.over() : error;
    }
  }
}

/** The key of one that has its place. */
function keyOf({ entry }: Queued): string {
  return (entry as Entry).key;
}

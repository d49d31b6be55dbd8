/**
 * The outbox: the exact bytes on their way to devices and rooms, kept until the server has accepted
 * them.
 *
 * What is encrypted is committed together with the ratchet that it was encrypted with, and sent
 * after that. A repetition sends the same bytes under the same transaction ID.
 *
 * @module
 */

import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { RoomID, TransactionID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { LoneFailures, type ServerSigns } from "./retries.ts";

export { LoneFailures, RateLimit, Retries, type ServerSigns, SharedRateLimit } from "./retries.ts";

/** Contents for devices, by user and device. */
export type DeviceMessages = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

/** A message to be sent. */
type OutgoingMessage =
  | {
    /** To devices. */
    readonly kind: "toDevice";
    readonly eventType: string;
    /** Contents by user and device, for at most 250 devices. */
    readonly messages: DeviceMessages;
    /** The group session that it is about: events of that session wait for it. */
    readonly sessionId?: string;
  }
  | {
    /** To a room: an encrypted event. */
    readonly kind: "roomEvent";
    readonly roomId: RoomID;
    /** The content of the `m.room.encrypted` event. */
    readonly content: RoomEncryptedContent;
  };

/** A message on its way. */
export type OutboxEntry = OutgoingMessage & {
  /** Its unique ID, which also gives the order. */
  readonly id: string;
  /** Makes a repetition of the request one request. */
  readonly txnId: TransactionID;
  /** When it was put in, in milliseconds since the epoch. */
  readonly createdAt: number;
};

/** An encrypted event on its way. */
export type RoomEventEntry = Extract<OutboxEntry, { kind: "roomEvent" }>;

/** Keeps the messages on their way, in their order. */
export class Outbox {
  readonly #entries = new Map<string, OutboxEntry>();
  /** The events for rooms: each message looks one up among possibly many. */
  readonly #roomEvents = new Map<RoomID, Map<TransactionID, RoomEventEntry>>();
  #last = 0;

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#entries.clear();
    this.#roomEvents.clear();
    for (const [, entry] of await tx.list<OutboxEntry>("outbox")) this.#put(entry);
    this.#last = Number([...this.#entries.keys()].at(-1) ?? 0);
  }

  /** Adds what an earlier process has left in records of the caller's. */
  restore(events: readonly RoomEventEntry[]): void {
    const all = [...this.#entries.values(), ...events].sort((one, other) => one.id < other.id ? -1 : 1);
    this.#entries.clear();
    this.#roomEvents.clear();
    for (const entry of all) this.#put(entry);
    this.#last = Number(all.at(-1)?.id ?? 0);
  }

  /**
   * Puts something in; it may be sent once the step is durable.
   *
   * @returns The entry's ID.
   */
  add(tx: Transaction, message: OutgoingMessage, when: { txnId: TransactionID; now: number }): string {
    const entry = this.enter(tx, message, when);
    this.store(tx, entry);
    tx.leadsToRequest ||= message.kind === "toDevice"; // events are sent by who has them encrypted
    return entry.id;
  }

  /** The same, but that the caller stores the entry, in a record that it writes anyway. */
  enter<Message extends OutgoingMessage>(
    tx: Transaction,
    message: Message,
    { txnId, now }: { txnId: TransactionID; now: number },
  ): Message & Pick<OutboxEntry, "id" | "txnId" | "createdAt"> {
    const id = String(++this.#last).padStart(16, "0"); // the order of the keys is the order of sending
    const entry = { ...message, id, txnId, createdAt: now };
    tx.onCommit(() => this.#put(entry));
    return entry;
  }

  /** Stores an entry that the caller has stored until now. */
  store(tx: Transaction, entry: OutboxEntry): void {
    tx.set(outboxKey(entry.id), entry);
  }

  /** The durable messages that have not arrived, in order. */
  pending(): OutboxEntry[] {
    return [...this.#entries.values()];
  }

  /** An entry that has not arrived. */
  get(id: string): OutboxEntry | undefined {
    return this.#entries.get(id);
  }

  /** The event that is on its way to a room under a transaction ID. */
  roomEvent(roomId: RoomID, txnId: TransactionID): RoomEventEntry | undefined {
    return this.#roomEvents.get(roomId)?.get(txnId);
  }

  /** Returns whether something about a group session has not arrived yet. */
  isSharing(sessionId: string): boolean {
    return this.pending().some((entry) => entry.kind === "toDevice" && entry.sessionId === sessionId);
  }

  /** Takes an entry out: it has arrived, or never will. */
  remove(tx: Transaction, id: string): void {
    tx.delete(outboxKey(id));
    tx.onCommit(() => this.#take(id));
  }

  /** The same, of one that the caller has stored. */
  forget(tx: Transaction, id: string): void {
    tx.onCommit(() => this.#take(id));
  }

  #put(entry: OutboxEntry): void {
    this.#entries.set(entry.id, entry);
    if (entry.kind !== "roomEvent") return;
    const { roomId, txnId } = entry;
    const ofRoom = this.#roomEvents.getOrInsertComputed(
      roomId,
      () => new Map<TransactionID, RoomEventEntry>(),
    );
    ofRoom.getOrInsert(txnId, entry); // should there be two, the first counts
  }

  #take(id: string): void {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    if (entry?.kind !== "roomEvent") return;
    const { roomId, txnId } = entry;
    const ofRoom = this.#roomEvents.get(roomId);
    if (ofRoom?.get(txnId)?.id !== id) return;
    ofRoom.delete(txnId);
    if (ofRoom.size === 0) this.#roomEvents.delete(roomId);
  }
}

function outboxKey(id: string): RecordKey<OutboxEntry> {
  return { ...recordKey<OutboxEntry>("outbox", id), held: true };
}

/** What failed. */
interface Refused {
  /** How often. */
  readonly failures: number;
  /** How much the server had taken when it failed for the first time. */
  readonly taken: number;
}

/** What to do with a refused message: send it again later, send it in halves, or give it up. */
type Verdict = "later" | "halves" | "never";

/** Failures after which the same request would fail again. */
const HOPELESS = new Set([400, 403, 404, 405, 413]);
/**
 * How often the server may fail over a message before it is split, or given up if the server
 * accepts others. If there are no others, it is given up much later.
 */
const MAX_FAILURES = 2;

/** Remembers what the server did not take, in memory only: a new process may well try once more. */
export class RefusedMessages {
  readonly #refused = new Map<string, Refused>();
  /** The halves of refused messages. */
  readonly #parts = new Set<string>();
  readonly #lone: LoneFailures;
  #taken = 0;

  /** @param server How often the server has answered. */
  constructor(server: ServerSigns) {
    this.#lone = new LoneFailures(server);
  }

  /**
   * The order in which to send: messages that were refused least often first, so that one does not
   * hold up the rest.
   */
  sorted(entries: readonly OutboxEntry[]): readonly OutboxEntry[] {
    if (this.#refused.size === 0) return entries;
    const failures = ({ id }: OutboxEntry): number => this.#refused.get(id)?.failures ?? 0;
    return entries.toSorted((one, other) => failures(one) - failures(other));
  }

  /** The server has taken something. */
  took({ id }: OutboxEntry): void {
    this.#taken++;
    this.#refused.delete(id);
    this.#lone.forget(id);
    this.#parts.delete(id);
  }

  /** Notes that a message is half of a refused one: if it is refused too, it alone is at fault. */
  divided(id: string): void {
    this.#parts.add(id);
  }

  /** Returns whether something is such a part; it is asked for once. */
  takePart({ id }: OutboxEntry): boolean {
    return this.#parts.delete(id);
  }

  /**
   * Decides about a message that the server has not accepted; `status` is 0 if the server could not
   * be reached.
   */
  judge(entry: OutboxEntry, status: number): Verdict {
    const { id } = entry;
    const many = entry.kind === "toDevice" && countOf(entry.messages) > 1;
    if (HOPELESS.has(status)) {
      this.#refused.delete(id);
      return many && isDivisible(status) ? "halves" : "never";
    }
    if (status < 500) return "later";
    const before = this.#refused.get(id) ?? { failures: 0, taken: this.#taken };
    const failures = before.failures + 1;
    this.#refused.set(id, { ...before, failures });
    if (entry.kind !== "toDevice" || failures < MAX_FAILURES) return "later";
    const works = this.#taken > before.taken;
    if (!many && !works && !this.#lone.failed(id)) return "later"; // the whole server may be out of order
    this.#refused.delete(id);
    this.#lone.forget(id);
    return many ? "halves" : "never";
  }
}

/** Returns whether a smaller request may succeed: this one had a bad part, or was too large. */
export function isDivisible(status: number): boolean {
  return status === 400 || status === 413;
}

/** Returns whether the server has understood a request, and does not want it. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Messages for devices, in two: users are kept together as far as that goes. */
export function halves(messages: DeviceMessages): readonly DeviceMessages[] {
  const all = Object.entries(messages).flatMap(([userId, devices]) =>
    Object.entries(devices).map(([deviceId, content]) => ({ userId, deviceId, content }))
  );
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)].map((part) => {
    // Names come off the wire.
    const half: Record<string, Record<string, typeof all[number]["content"]>> = Object.create(null);
    for (const { userId, deviceId, content } of part) {
      const devices = half[userId] ??= Object.create(null) as typeof half[string];
      devices[deviceId] = content;
    }
    return half;
  });
}

function countOf(messages: DeviceMessages): number {
  return Object.values(messages).reduce((sum, devices) => sum + Object.keys(devices).length, 0);
}

/** How a request failed. */
export interface RequestFailure {
  /** The HTTP status; 0 if the server could not be reached. */
  readonly status: number;
  /** The server's errcode, if it said one. */
  readonly errcode: string | undefined;
  /** The error in words. */
  readonly message: string;
}

/** Whether a failed request is `settled`: it is made in another way, or not again. */
export type FailureOutput = Readonly<Record<"settled", boolean>>;

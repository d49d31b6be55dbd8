/**
 * The outbox: the exact bytes that are on their way to devices and rooms, kept until the server has taken them.
 *
 * What is encrypted is committed together with the ratchet that it was encrypted with, and sent after that. A repetition sends
 * the same bytes under the same transaction ID.
 *
 * @module
 */

import type { RoomID, TransactionID } from "../../types/ids.ts";
import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { JsonObject } from "../../types/json.ts";
import { type RecordKey, recordKey } from "../records/record_key.ts";
import type { Transaction } from "../records/transaction.ts";

/** Contents for devices, by user and device. */
export type DeviceMessages = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

/** What is to be sent. */
export type Parcel =
  | {
    /** To devices. */
    readonly kind: "toDevice";
    /** The type of the event. */
    readonly eventType: string;
    /** Contents by user and device, for at most 250 devices. */
    readonly messages: DeviceMessages;
    /** The group session that it is about: no event of that session is sent before this has arrived. */
    readonly sessionId?: string;
  }
  | {
    /** To a room: an encrypted event. */
    readonly kind: "roomEvent";
    /** The room. */
    readonly roomId: RoomID;
    /** The content of the `m.room.encrypted` event. */
    readonly content: RoomEncryptedContent;
  };

/** What is on its way. */
export type OutboxEntry = Parcel & {
  /** Tells it from all others, and says the order. */
  readonly id: string;
  /** Makes a repetition of the request one request. */
  readonly txnId: TransactionID;
  /** When it was put in, in milliseconds since the epoch. */
  readonly createdAt: number;
};

type RoomEventEntry = Extract<OutboxEntry, { kind: "roomEvent" }>;

/** Keeps what is on its way, in the order in which it was put in. */
export class Outbox {
  readonly #entries = new Map<string, OutboxEntry>();
  /** Those among them that go to rooms: each message looks for one, and many may be on their way. */
  readonly #roomEvents = new Map<RoomID, Map<TransactionID, RoomEventEntry>>();
  #last = 0;

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#entries.clear();
    this.#roomEvents.clear();
    for (const [, entry] of await tx.list<OutboxEntry>("outbox")) this.#put(entry);
    this.#last = Number([...this.#entries.keys()].at(-1) ?? 0);
  }

  /**
   * Puts something in; it may be sent once the step is durable.
   *
   * @returns The entry's ID.
   */
  add(tx: Transaction, parcel: Parcel, { txnId, now }: { txnId: TransactionID; now: number }): string {
    const id = String(++this.#last).padStart(16, "0"); // the order of the keys is the order of sending
    const entry: OutboxEntry = { ...parcel, id, txnId, createdAt: now };
    tx.set(outboxKey(id), entry);
    tx.onCommit(() => this.#put(entry));
    return id;
  }

  /** What is durable and has not arrived, in order. */
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

  /** Whether something about a group session has not arrived yet. */
  isSharing(sessionId: string): boolean {
    return this.pending().some((entry) => entry.kind === "toDevice" && entry.sessionId === sessionId);
  }

  /** Takes an entry out: it has arrived, or never will. */
  remove(tx: Transaction, id: string): void {
    tx.delete(outboxKey(id));
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

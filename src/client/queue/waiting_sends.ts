/**
 * The sends of a room that wait: in memory and in the store, in the same order.
 *
 * @module
 */

import { ActorStoppedError } from "../../actors/kernel/mod.ts";
import { outsideOfHandlers } from "../../base/handler_call.ts";
import type { RoomID, TransactionID } from "../../types/ids.ts";
import type { SessionsAPI } from "../sessions_api.ts";
import { type Entry, QUEUED, Queued, type StoredSend } from "./queued.ts";

/** Digits of a number in a key, so that their order is that of text. */
const DIGITS = 15;
/** Comes behind all keys of a room. */
const LAST = "~";

/** What the sends of a room belong to. */
export interface WaitingParts {
  readonly roomId: RoomID;
  /** Has them. */
  readonly kept: SessionsAPI;
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
      send.entry = entry;
      send.hasStored(entry.record.txnId);
      left.push(send);
      this.#next = parseInt(entry.key) + 1;
    }
    for (const send of left) this.#sends.push(send);
  }

  /** Takes out of memory what another process has taken out of the store. Returns what that was. */
  async gone(): Promise<Queued[]> {
    const before = this.#sends.filter(({ isStored }) => isStored);
    const keys = new Set<string>();
    for await (const { key } of this.#stored()) keys.add(key);
    const gone = before.filter((send) => !keys.has(keyOf(send)) && this.#sends.includes(send));
    for (const send of gone) this.takeOut(send);
    return gone;
  }

  async *#stored(): AsyncGenerator<Entry> {
    const { roomId, kept } = this.#parts;
    const place = { after: [roomId, ""], before: [roomId, LAST] } as const;
    for await (const { key, state } of kept.list(QUEUED, place)) yield { key: key[1] ?? "", record: state };
  }

  /** Adds one as the last. Resolves when it is stored. */
  add(send: Queued, record: StoredSend): Promise<void> {
    const key = `${String(this.#next++).padStart(DIGITS, "0")}-${
      crypto.getRandomValues(new Uint8Array(8)).toHex()
    }`; // another process may count, too
    send.entry = { key, record };
    this.#sends.push(send);
    return this.#write(key, record);
  }

  /** Takes one out of the store, and then out of memory. */
  async remove(send: Queued): Promise<void> {
    await this.erase(send);
    this.takeOut(send);
  }

  /** Takes one out of the store. */
  erase(send: Queued): Promise<void> {
    return this.#write(keyOf(send), null);
  }

  /** Takes one out of memory. */
  takeOut(send: Queued): void {
    const place = this.#sends.indexOf(send);
    if (place >= 0) this.#sends.splice(place, 1);
  }

  async #write(key: string, record: StoredSend | null): Promise<void> {
    const { roomId, kept, over } = this.#parts;
    try {
      await outsideOfHandlers(() => kept.update(QUEUED, [roomId, key], () => record));
    } catch (error) {
      throw error instanceof ActorStoppedError ? over() : error;
    }
  }
}

/** The key of one that has its place. */
function keyOf({ entry }: Queued): string {
  return (entry as Entry).key;
}

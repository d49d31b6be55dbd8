/**
 * Which rooms are known not to be encrypted: the server has said so, and a sync would show that they have
 * become it.
 *
 * A homeserver that was restored from a backup counts on from an earlier place than the one up to which this
 * client has been told. What happens there until the places meet again is never shown, and that may be the
 * encryption of a room. Nothing in a response tells it. But such a server was away, so that a sync has failed,
 * or there was a time without one.
 *
 * @module
 */

import { type Clock, elapsed } from "../../base/clock.ts";
import type { RoomID, SyncToken } from "../../types/ids.ts";

/** No homeserver is restored in this time, in milliseconds. */
const UNNOTICED = 1_000;

/** A response to a sync. */
export interface SyncAnswer {
  /** Where it begins; undefined: from the start, or nothing is known of that. */
  readonly since: SyncToken | undefined;
  /** Where it ends. */
  readonly nextBatch: SyncToken;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly asked: number;
}

/** Remembers what the server has said while nothing can have been left out. */
export class ClearRooms {
  readonly #clock: Clock;
  readonly #rooms = new Set<RoomID>();
  /** Counts from when on what the server said is remembered. */
  #stretch = 0;
  /** Whether what comes next may leave something out. */
  #isCut = true;
  #lastAnswer = -Infinity;

  /** @param clock The wall clock. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a sync has failed. */
  interrupted(): void {
    this.#isCut = true;
    this.#begin();
  }

  /** Notes a response. After one that goes on from where it began, all that happens is shown. */
  answered({ since, nextBatch, asked }: SyncAnswer): void {
    // A request that was under way before the last response has left no time without one.
    if (asked > this.#lastAnswer && elapsed(asked, this.#lastAnswer) > UNNOTICED) this.interrupted();
    this.#lastAnswer = this.#clock.now();
    if (!this.#isCut || since === nextBatch) return;
    this.#isCut = false;
    this.#begin();
  }

  /** Whether a room is known not to be encrypted. */
  has(roomId: RoomID): boolean {
    return this.#rooms.has(roomId);
  }

  /** Begins to ask the server about a room; what is returned notes that it is not encrypted. */
  asks(roomId: RoomID): () => void {
    const stretch = this.#stretch;
    return () => {
      if (!this.#isCut && stretch === this.#stretch) this.#rooms.add(roomId);
    };
  }

  #begin(): void {
    this.#stretch++;
    this.#rooms.clear();
  }
}

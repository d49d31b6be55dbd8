/**
 * How many one-time keys the server has: what syncs say of it, and its answers to uploads. The public halves of
 * those that are kept are packed into one value.
 *
 * @module
 */

import { type Clock, elapsed } from "../../base/clock.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Transaction } from "../records/mod.ts";
import { SIGNED_CURVE25519 } from "./key_upload.ts";
import { concat } from "@std/bytes/concat";

/** How many one-time keys a server has said that it has. */
export interface CountedKeys {
  /** How many. */
  readonly count: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/** How long the answer to an upload counts more than what syncs say, in milliseconds, where they disagree. */
const PATIENCE = 20 * 60_000;

/** Decides what to believe of a server that may say nothing, or anything. */
export class KeyCounts {
  readonly #clock: Clock;
  readonly #most: number;
  #isToAsk = false;
  #askedAt = -Infinity;

  /**
   * @param clock The wall clock.
   * @param most How many there should be.
   */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Whether the server is to be asked, by an upload of no keys. */
  get isToAsk(): boolean {
    return this.#isToAsk;
  }

  /**
   * How many the server is taken to have. It has more than there should be only if a sync said too few, or
   * nothing: then what it answered to the last upload counts for a while, and is asked for again after that.
   *
   * @param count What a sync says.
   * @param answered What the last upload was answered.
   */
  believed(tx: Transaction, count: number, answered: CountedKeys | undefined): number {
    if (answered === undefined || answered.count <= this.#most) return count;
    const now = this.#clock.now();
    if (elapsed(now, answered.at) >= PATIENCE && elapsed(now, this.#askedAt) >= PATIENCE) {
      this.#isToAsk = tx.leadsToRequest = true;
      this.#askedAt = now;
    }
    return Math.max(count, answered.count);
  }

  /** Learns that an upload has failed: a server that refuses to be asked is not asked all the time. */
  failed(): void {
    this.#isToAsk = false;
  }

  /** What an upload was answered; undefined: nothing of it. */
  answered(tx: Transaction, { one_time_key_counts: counts }: JsonObject): CountedKeys | undefined {
    if (!isJsonObject(counts)) return undefined;
    tx.onCommit(() => this.#isToAsk = false);
    return { count: countOf(counts), at: this.#clock.now() };
  }
}

/** How many one-time keys the server has, by its own count; one that is missing has none. */
export function countOf(counts: Readonly<Record<string, unknown>>): number {
  const count = counts[SIGNED_CURVE25519];
  return typeof count === "number" && count > 0 ? Math.floor(count) : 0;
}

/** How many bytes a public key has. */
const KEY_BYTES = 32;

/** Appends keys to packed ones. */
export function withKeys(packed: Uint8Array, keys: readonly Uint8Array[]): Uint8Array {
  return concat([packed, ...keys]);
}

/** Removes a key from packed ones; returns the same array if it is not among them. */
export function withoutKey(packed: Uint8Array, key: Uint8Array): Uint8Array {
  for (let start = 0; start < packed.length; start += KEY_BYTES) {
    const end = start + KEY_BYTES;
    if (!packed.subarray(start, end).every((byte, index) => byte === key[index])) continue;
    return concat([packed.subarray(0, start), packed.subarray(end)]);
  }
  return packed;
}

/** Splits off the oldest of packed keys. */
export function oldestKey(packed: Uint8Array): { key: Uint8Array; rest: Uint8Array } | undefined {
  if (packed.length === 0) return undefined;
  return { key: packed.slice(0, KEY_BYTES), rest: packed.slice(KEY_BYTES) };
}

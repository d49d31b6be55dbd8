/**
 * What the Store keeps of events that were begun, and which no process has lived to see handled.
 *
 * @module
 */

import type { KvMutation } from "../../store/kv_store.ts";
import { isJsonObject } from "../../types/json.ts";
import type { Attempt, Attempted } from "./store_protocol.ts";
import { set, type StoreWriter } from "./store_writer.ts";

/** In how many lives an event was begun and not ended, how much speaks for it that it has ended them, and whether it was left out. */
interface AttemptRecord {
  readonly lives: number;
  readonly weight: number;
  readonly isOut?: boolean;
}

/** The first part of the key. */
const ATTEMPTS = "attempts";
/**
 * What a life weighs that ended soon after the event was begun, and one that ended later: what ends a process does so fast, and what
 * is slow is often in the middle of its work when somebody else ends it.
 */
const WEIGHT = { soon: 20, late: 3 };
/** From which weight on an event is not begun any more: three lives that ended soon, or twenty that ended later. */
const LIMIT = 60;

/** Keeps them. */
export class StoreAttempts {
  readonly #writer: StoreWriter;
  #attempts: Map<string, AttemptRecord> | undefined;
  /** What this life has added to the weights, of what has been begun and not ended. */
  readonly #added = new Map<string, number>();
  #isEnding = false;

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** Notes, before it is begun, what may end the process; not if it must not be begun, or if the process is about to end anyway. */
  async begin({ id, ended }: Attempt): Promise<Attempted> {
    const attempts = await this.#all();
    for (const each of ended) this.#forget(attempts, each);
    const { lives, weight, isOut = false } = attempts.get(id) ?? { lives: 0, weight: 0 };
    if (isOut || weight >= LIMIT) return { lives, verdict: isOut ? "out" : "poison" };
    if (!this.#isEnding) {
      attempts.set(id, { lives: lives + 1, weight: weight + WEIGHT.soon });
      this.#added.set(id, WEIGHT.soon);
      await this.#writer.commit([this.#mutation(attempts)]);
    }
    return { lives, verdict: "begin" };
  }

  /** Notes, at once, that the process lives on long after something was begun. */
  async outlived(id: string): Promise<void> {
    const attempts = await this.#all();
    const record = attempts.get(id);
    if (record === undefined || this.#added.get(id) !== WEIGHT.soon) return;
    attempts.set(id, { ...record, weight: record.weight - WEIGHT.soon + WEIGHT.late });
    this.#added.set(id, WEIGHT.late);
    await this.#writer.commit([this.#mutation(attempts)]);
  }

  /** Notes, at once, that what was begun has ended. */
  async ended(ids: readonly string[]): Promise<void> {
    const attempts = await this.#all();
    const before = attempts.size;
    for (const id of ids) this.#forget(attempts, id);
    if (attempts.size < before) await this.#writer.commit([this.#mutation(attempts)]);
  }

  /** What it takes to note that an event is left out, should its response come again. */
  async leavingOut(id: string): Promise<KvMutation[]> {
    const attempts = await this.#all();
    attempts.set(id, { lives: 0, weight: 0, isOut: true });
    return [this.#mutation(attempts)];
  }

  /** Forgets all: everything up to another token has been handled. */
  async marked(): Promise<void> {
    const attempts = await this.#all();
    if (attempts.size === 0) return;
    attempts.clear();
    this.#added.clear();
    this.#writer.defer(this.#mutation(attempts));
  }

  /** What it takes that this life does not count, since it ends by itself; or that it counts, from what is begun next on. */
  async ending(isEnding: boolean): Promise<KvMutation[]> {
    this.#isEnding = isEnding;
    if (!isEnding || this.#added.size === 0) return [];
    const attempts = await this.#all();
    for (const [id, added] of this.#added) {
      const { lives = 0, weight = 0 } = attempts.get(id) ?? {};
      if (lives > 1) attempts.set(id, { lives: lives - 1, weight: weight - added });
      else attempts.delete(id);
    }
    this.#added.clear();
    return [this.#mutation(attempts)];
  }

  #forget(attempts: Map<string, AttemptRecord>, id: string): void {
    attempts.delete(id);
    this.#added.delete(id);
  }

  #mutation(attempts: ReadonlyMap<string, AttemptRecord>): KvMutation {
    const key = this.#writer.keys.record([ATTEMPTS]);
    return attempts.size === 0 ? { type: "delete", key } : set(key, Object.fromEntries(attempts));
  }

  async #all(): Promise<Map<string, AttemptRecord>> {
    if (this.#attempts !== undefined) return this.#attempts;
    const kept = await this.#writer.get<Record<string, AttemptRecord>>(this.#writer.keys.record([ATTEMPTS]));
    const known = Object.entries(kept ?? {}).filter(([, record]) => isJsonObject(record)); // once it was a number
    return this.#attempts = new Map(known);
  }
}

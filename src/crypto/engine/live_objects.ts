/**
 * The instance of vodozemac, and its objects in use, which are restored from records when they are
 * needed.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Logger } from "../../base/log.ts";
import type { Transaction } from "../records/transaction.ts";

/** What a living instance needs. */
export interface LivingVodozemacOptions {
  /** Logs that an instance has failed. */
  readonly log: Logger;
  /** Frees all objects of a failed instance; they are restored from their records. */
  readonly forget: () => void;
}

/** An instance of vodozemac that is replaced after it has trapped. */
export class LivingVodozemac {
  readonly #options: LivingVodozemacOptions;
  #instance: Vodozemac;

  private constructor(options: LivingVodozemacOptions, instance: Vodozemac) {
    this.#options = options;
    this.#instance = instance;
  }

  /** Loads vodozemac. */
  static async load(options: LivingVodozemacOptions): Promise<LivingVodozemac> {
    return new LivingVodozemac(options, await Vodozemac.load());
  }

  /** The instance, to be read at each use. */
  get instance(): Vodozemac {
    return this.#instance;
  }

  /**
   * Runs some work. If vodozemac traps, its memory is of no use any more: the work runs again with
   * another instance.
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#instance.dead) await this.#revive();
    try {
      return await work();
    } catch (error) {
      if (!this.#instance.dead) throw error;
      this.#options.log.error("The cryptographic library has failed, and is started anew", {
        error: String(error),
      });
      await this.#revive();
      return await work();
    }
  }

  async #revive(): Promise<void> {
    this.#instance = await Vodozemac.load();
    this.#options.forget();
  }
}

interface Kept<Live> {
  readonly object: Live;
  /** When it was added, or moved to the end: the count of arrivals. */
  since: number;
}

/**
 * Which part of the objects is evicted at once: to find the oldest one costs more than to evict it.
 */
const PART = 1 / 16;

/**
 * Keeps the objects that were used last, so that they need not be restored for each message.
 *
 * A step that changes an object in place calls {@link LiveObjects.changing}: if the step is
 * aborted, the object is evicted, and the next use restores it from the unchanged record.
 *
 * A used object moves to the end only once half of the limit has come after it, for the reason that
 * the weighed cache gives.
 */
export class LiveObjects<Live extends Disposable> {
  readonly #limit: number;
  readonly #objects = new Map<string, Kept<Live>>();
  #arrivals = 0;

  /**
   * @param limit How many objects it keeps between steps at most; the half that was used last is
   * sure to stay.
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of objects. */
  get size(): number {
    return this.#objects.size;
  }

  /**
   * The object with an ID.
   *
   * @param make Restores it from its record.
   */
  get(tx: Transaction, id: string, make: () => Live): Live {
    const kept = this.#objects.get(id);
    if (kept !== undefined) {
      if (this.#arrivals - kept.since >= this.#limit / 2) this.#put(id, kept.object);
      return kept.object;
    }
    const object = make();
    this.#put(id, object);
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.#trim());
    return object;
  }

  /** Announces that a step changes an object. */
  changing(tx: Transaction, id: string): void {
    tx.onAbort(() => this.evict(id));
  }

  /** Adds a new object, which has no record yet. */
  add(tx: Transaction, id: string, object: Live): void {
    this.evict(id);
    this.#put(id, object);
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.evict(id));
  }

  /** Frees an object, even if the step is aborted. */
  evict(id: string): void {
    this.#objects.get(id)?.object[Symbol.dispose]();
    this.#objects.delete(id);
  }

  /** Frees all objects. */
  clear(): void {
    for (const { object } of this.#objects.values()) object[Symbol.dispose]();
    this.#objects.clear();
  }

  /** Puts an object at the end. */
  #put(id: string, object: Live): void {
    this.#objects.delete(id);
    this.#objects.set(id, { object, since: ++this.#arrivals });
  }

  #trim(): void {
    if (this.#objects.size <= this.#limit) return;
    const left = Math.floor(this.#limit * (1 - PART));
    for (const id of this.#objects.keys()) {
      if (this.#objects.size <= left) return;
      this.evict(id);
    }
  }
}

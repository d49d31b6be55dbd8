/**
 * The lock that goes with a lease, by which it is known at once that a process has ended.
 *
 * Whoever takes a device leaves the ID of the lease in the device's lock, if the store has locks.
 * The system lets go of a lock with its process, however that ends. So whoever gets the lock and
 * finds the ID in it of the one who holds the device knows that this one writes no more, and need
 * not wait for the rest of the lease. That is all that the lock is good for: who may write is said
 * by the record `owner`. A process that stands still keeps its lock, and a lock that somebody has
 * removed or could not have proves nothing; then the lease counts.
 *
 * @module
 */

import type { Logger } from "../../base/log.ts";
import type { KvKey, KvLock, KvStore } from "../kv_store.ts";

/** How often to try for a lock that another has, in milliseconds. */
const PAUSE = 250;

/** The lock of a device. */
export class LeaseLock {
  readonly #kv: KvStore;
  readonly #prefix: KvKey;
  readonly #log: Logger;
  #lock: KvLock | undefined;
  #canBe: boolean;

  /**
   * @param kv Where the device is kept.
   * @param prefix What the keys of the device begin with.
   * @param log Where it is told that there can be no lock.
   */
  constructor(kv: KvStore, prefix: KvKey, log: Logger) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#log = log;
    this.#canBe = kv.lock !== undefined;
  }

  /** Gets the lock, if it is to be had. */
  async take(): Promise<void> {
    if (this.#canBe && this.#lock === undefined) {
      await this.#try(async () => this.#lock = await this.#kv.lock?.(this.#prefix));
    }
  }

  /** After how long to try again, in milliseconds; undefined if that is no use. */
  get pause(): number | undefined {
    return this.#canBe && this.#lock === undefined ? PAUSE : undefined;
  }

  /**
   * Whether a lease has ended with its process.
   *
   * @param id The lease.
   */
  isEndOf(id: string | undefined): boolean {
    return id !== undefined && this.#lock?.left === id;
  }

  /**
   * Says whose lock it is.
   *
   * @param id The lease.
   */
  async sign(id: string): Promise<void> {
    await this.#try(async () => await this.#lock?.leave(id));
  }

  /** Lets go of the lock. */
  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  /** Without a lock all goes on, but slower one day. */
  async #try(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#canBe = false;
      this.#log.info("There is no lock for the device: after a kill, its lease is waited for", {
        device: this.#prefix.join(" "),
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }
}

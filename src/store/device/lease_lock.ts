/**
 * The lock beside a lease, which shows immediately that a process has ended.
 *
 * A process that takes a device writes the ID of its lease into the device's lock before the records say
 * so, if the store has locks, and leaves those there that it has found: it may end before the records
 * do. The system releases the lock when the process ends, however that happens. So a process
 * that gets the lock, and finds the current owner's ID in it, need not wait for the lease to
 * expire. The lock does nothing else: who may write is decided by the record `owner`. A process
 * that is suspended keeps its lock. A lock that was removed, or could not be taken, proves nothing;
 * then the lease decides.
 *
 * @module
 */

import type { Logger } from "../../base/log.ts";
import type { KvKey, KvLock, KvStore } from "../base/mod.ts";

/** How long to wait between tries for the lock, in milliseconds. */
const PAUSE = 250;
/** How many leases are in a lock: of processes that ended, one after the other, while they took the device. */
const LEASES = 10;

/** The stores of which the log has said what is wrong with their files. */
const warned = new WeakSet<KvStore>();

/** The lock of a device. */
export class LeaseLock {
  readonly #kv: KvStore;
  readonly #prefix: KvKey;
  readonly #log: Logger;
  #lock: KvLock | undefined;
  #canBe: boolean;

  /**
   * @param kv The store of the device.
   * @param prefix The beginning of the device's keys.
   * @param log Logs that there can be no lock.
   */
  constructor(kv: KvStore, prefix: KvKey, log: Logger) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#log = log;
    this.#canBe = kv.lock !== undefined;
  }

  /** Takes the lock, if it is free. */
  async take(): Promise<void> {
    if (this.#canBe && this.#lock === undefined) {
      await this.#try(async () => {
        this.#lock = await this.#kv.lock?.(this.#prefix);
        const { warning } = this.#lock ?? {};
        if (warning === undefined || warned.has(this.#kv)) return;
        warned.add(this.#kv);
        this.#log.warn(warning);
      });
    }
  }

  /** How long to wait before the next try, in milliseconds; undefined if a try is of no use. */
  get pause(): number | undefined {
    return this.#canBe && this.#lock === undefined ? PAUSE : undefined;
  }

  /**
   * Whether the process of a lease has ended.
   *
   * @param id The lease.
   */
  isEndOf(id: string | undefined): boolean {
    return id !== undefined && this.#left.includes(id);
  }

  /**
   * Writes the lease's ID into the lock, before the device is taken.
   *
   * @param id The lease.
   */
  async sign(id: string): Promise<void> {
    const others = this.#left.filter((each) => each !== id);
    await this.#try(async () => await this.#lock?.leave([id, ...others].slice(0, LEASES).join(" ")));
  }

  /** The leases that stand in the lock, the latest first. */
  get #left(): string[] {
    return this.#lock?.left.split(" ") ?? [];
  }

  /** Releases the lock. */
  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  /** Without a lock everything works, but waits longer after a kill. */
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

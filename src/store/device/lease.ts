/**
 * The lease of a device: which process may write its records.
 *
 * Two records lie below the device's prefix. `owner` names the process that took the device last,
 * and changes only when another takes it. Every commit checks that it has not changed, so a process
 * that has lost the device can't write, whatever its clock says. `lease` says until when no other
 * process may take the device, and is renewed.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";
import { type Clock, elapsed, systemClock } from "../../base/clock.ts";
import { StoreError, StoreInUseError } from "../../errors/store_error.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import { StoreKeys } from "./keys.ts";
import type { Store, StoreCheck, StoreKey, StoreMutation } from "../base/mod.ts";
import {
  inUse,
  LeaseLock,
  look,
  readOwner,
  readUntil,
  type Seen,
  take,
  type Taking,
} from "./lease_records.ts";

/** The default length of a lease, in milliseconds. */
export const DEFAULT_LEASE = 15_000;
/** The shortest lease, in milliseconds. */
export const MIN_LEASE = 1_000;

/** How long a pass waits before it looks again whether the device is free, in milliseconds. */
const PASS_PAUSE = 100;

/**
 * How a client holds its device: the client writes it, and its Store obeys.
 *
 * - `kept`: from the first use until it is stopped or closed.
 * - `pass`: for a pass, which hands it back.
 * - `late`: for a pass whose time is over. The lease is not renewed, and runs out.
 * - `between`: not, since no pass is under way, or it was stopped.
 */
export interface Holding {
  /** How. */
  mode: "kept" | "pass" | "late" | "between";
  /** Whether another process holds the device, and this one waits. */
  isWaiting: boolean;
}

/** How a device is taken. */
export interface LeaseOptions {
  /** The wall clock. Default: the machine's own. */
  readonly clock?: Clock;
  /** What to do while another process has the device: wait, or throw. Default: `wait`. */
  readonly held?: "wait" | "refuse";
  /**
   * The owner's name, as others see it. Default: `process`, with the process ID if there is one.
   */
  readonly owner?: string;
  /** How long the device stays reserved after a renewal, in milliseconds. Default: 15,000. */
  readonly duration?: number;
  /** How the client holds it, as of now. Default: it keeps it. */
  readonly holding?: Holding;
  /** Logs that another process is waited for. */
  readonly log?: Logger;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** A device that this process has taken. */
export class Lease {
  readonly #kv: Store;
  readonly #keys: StoreKeys;
  readonly #device: string;
  readonly #clock: Clock;
  readonly #duration: number;
  /** How long to wait between looks whether the lease is to be renewed, in milliseconds. */
  readonly third: number;
  readonly #id: string;
  readonly #lock: LeaseLock;
  #renewedAt: number;
  /**
   * The versionstamp of the latest request for the device that a round was made for; undefined: not read yet.
   */
  #heard: string | null | undefined;
  /** The checks for every commit: no other process has taken the device. */
  readonly checks: readonly StoreCheck[];

  private constructor(taking: Taking, versionstamp: string, takenAt: number) {
    const { kv, prefix, clock, duration, id, lock } = taking;
    this.#kv = kv;
    this.#keys = new StoreKeys(prefix);
    this.#device = prefix.join(" ");
    this.#clock = clock;
    this.#duration = duration;
    this.third = Math.floor(duration / 3);
    this.#id = id;
    this.#lock = lock;
    this.#renewedAt = takenAt;
    this.checks = [{ key: this.#keys.owner(), versionstamp }];
  }

  /**
   * Takes a device: immediately if it is free, its owner has released it, has ended as the store's
   * lock shows, or has not renewed the lease in time.
   *
   * @param kv The store of the device.
   * @param prefix The beginning of the device's keys.
   * @param options Options.
   * @returns The lease, to be renewed and released.
   * @throws {StoreInUseError} If another process has it, and `held` is `refuse`.
   */
  static async acquire(kv: Store, prefix: StoreKey, options: LeaseOptions = {}): Promise<Lease> {
    const {
      clock = systemClock,
      held = "wait",
      owner = processName(),
      duration = DEFAULT_LEASE,
      signal,
      holding,
    } = options;
    const log = loggerOf(options.log, clock, "store");
    const lock = new LeaseLock(kv, prefix, log);
    const taking: Taking = { kv, prefix, clock, duration, owner, id: crypto.randomUUID(), lock };
    const seen: Seen = { versionstamp: undefined, at: 0 };
    let isTold = false;
    try {
      for (;;) {
        signal?.throwIfAborted();
        await lock.take(); // before the records are read: its last owner may have written them
        const holder = await look(taking, seen);
        const takenAt = clock.now();
        if (holder.until <= takenAt || lock.isEndOf(holder.id)) {
          const versionstamp = await take(taking, holder);
          if (versionstamp !== undefined) return new Lease(taking, versionstamp, takenAt);
          continue;
        }
        if (held === "refuse") throw inUse(prefix, holder);
        const isPass = holding?.mode === "pass";
        if (!isTold) {
          isTold = true;
          if (holding !== undefined) holding.isWaiting = true;
          // Once, and before the device is looked at again: its holder makes one more round.
          if (isPass) {
            await kv.commit([{ type: "set", key: new StoreKeys(prefix).wanted(), value: { owner } }]);
          }
          log[isPass ? "info" : "warn"]("Waiting for a device that another process holds", {
            device: prefix.join(" "),
            owner: holder.owner,
            until: new Date(holder.until).toISOString(),
          });
          if (isPass) continue;
        }
        const pause = isPass ? PASS_PAUSE : lock.pause ?? duration / 3;
        await clock.delay(Math.min(holder.until - takenAt, pause), { signal });
      }
    } catch (error) {
      lock.release();
      throw error;
    } finally {
      if (holding !== undefined) holding.isWaiting = false;
    }
  }

  /**
   * The change that renews the lease, to be committed with others: none before a third of the lease
   * has passed.
   *
   * @param now The time, in milliseconds since the epoch.
   */
  renewal(now: number = this.#clock.now()): StoreMutation[] {
    if (this.#dueIn(now) > 0) return [];
    this.#renewedAt = now;
    return [this.#until(now + this.#duration)];
  }

  /** In how many milliseconds {@link Lease.renewal} has something to write. */
  get dueIn(): number {
    return this.#dueIn(this.#clock.now());
  }

  /**
   * Notes who has asked for the device by now: {@link Lease.handBack} succeeds if nobody else has since.
   */
  async listen(): Promise<void> {
    const [wanted] = await this.#kv.getMany([this.#keys.wanted()]);
    this.#heard = wanted?.versionstamp ?? null;
  }

  /** The same, unless it was done before. */
  async listenOnce(): Promise<void> {
    if (this.#heard === undefined) await this.listen();
  }

  /**
   * Commits last changes and hands the device back, to take it again later.
   *
   * @param changes The changes.
   * @param hears Whether a request for the device since {@link Lease.listen} prevents it.
   * @returns Whether it was handed back; if not, nothing has changed, and another process has asked for it.
   * @throws {StoreError} If another process has taken the device.
   */
  async handBack(changes: readonly StoreMutation[], hears: boolean): Promise<boolean> {
    const { checks } = this;
    const before = this.#heard ?? null;
    const wanted = { key: this.#keys.wanted(), versionstamp: before };
    if (await this.#kv.commit([...changes, this.#until(0)], hears ? [...checks, wanted] : checks)) {
      this.#lock.release();
      return true;
    }
    if (hears) await this.listen();
    if (!hears || this.#heard === before) throw await this.lost();
    return false;
  }

  /**
   * Takes the device again, which was handed back.
   *
   * @returns Whether nobody else has had it in the meantime; if not, nothing has changed.
   */
  async retake(): Promise<boolean> {
    await this.#lock.take();
    await this.#lock.sign(this.#id);
    const now = this.#clock.now();
    if (!await this.#kv.commit([this.#until(now + this.#duration)], this.checks)) {
      this.#lock.release();
      return false;
    }
    this.#renewedAt = now;
    return true;
  }

  /**
   * Commits last changes, and releases the device.
   *
   * @returns Whether the device was still this process's; if not, nothing has changed.
   */
  async release(changes: readonly StoreMutation[] = []): Promise<boolean> {
    try {
      return await this.#kv.commit([...changes, this.#until(0)], this.checks);
    } finally {
      this.#lock.release();
    }
  }

  /** The error for {@link Lease.checks} that failed. */
  async lost(): Promise<StoreError> {
    const [entry, lease] = await this.#kv.getMany([this.#keys.owner(), this.#keys.lease()]);
    const { id, owner } = readOwner(entry);
    if (id === undefined || id === this.#id) {
      return new StoreError(
        `Cannot write to the store of ${this.#device}: who may write was changed from outside, and nothing was written; make a new Client`,
      );
    }
    return new StoreInUseError(
      `Cannot write to the store of ${this.#device}: ${owner} has taken it over, since this process was stopped, or paused past its lease; nothing was written`,
      { owner, until: readUntil(lease) },
    );
  }

  #until(until: number): StoreMutation {
    return { type: "set", key: this.#keys.lease(), value: { until } };
  }

  /** A clock that was set back may never reach the time again: then it is due now. */
  #dueIn(now: number): number {
    // Whole milliseconds, else the wait would not end.
    return Math.max(this.third - elapsed(now, this.#renewedAt), 0);
  }
}

/** The default name of a process. */
function processName(): string {
  const { pid } = platform.process;
  return pid === undefined ? "process" : `process ${pid}`;
}

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

import { type Clock, elapsed, systemClock } from "../../base/clock.ts";
import { StoreError, StoreInUseError } from "../../errors/store_error.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import { isJsonObject } from "../../types/json.ts";
import { StoreKeys } from "./keys.ts";
import type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "../kv_store.ts";
import { LeaseLock } from "./lease_lock.ts";

/** The default length of a lease, in milliseconds. */
export const DEFAULT_LEASE = 15_000;
/** The shortest lease, in milliseconds. */
export const MIN_LEASE = 1_000;
/** The longest lease, in milliseconds. */
export const MAX_LEASE = 600_000;

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
  /** Logs that another process is waited for. */
  readonly log?: Logger;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** A device that this process has taken. */
export class Lease {
  readonly #kv: KvStore;
  readonly #keys: StoreKeys;
  readonly #device: string;
  readonly #clock: Clock;
  readonly #duration: number;
  readonly #id: string;
  readonly #lock: LeaseLock;
  #renewedAt: number;
  /** The checks for every commit: no other process has taken the device. */
  readonly checks: readonly KvCheck[];

  private constructor(taking: Taking, versionstamp: string, takenAt: number) {
    const { kv, prefix, clock, duration, id, lock } = taking;
    this.#kv = kv;
    this.#keys = new StoreKeys(prefix);
    this.#device = prefix.join(" ");
    this.#clock = clock;
    this.#duration = duration;
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
  static async acquire(kv: KvStore, prefix: KvKey, options: LeaseOptions = {}): Promise<Lease> {
    const {
      clock = systemClock,
      held = "wait",
      owner = processName(),
      duration = DEFAULT_LEASE,
      signal,
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
        if (!isTold) {
          isTold = true;
          log.warn("Waiting for a device that another process holds", {
            device: prefix.join(" "),
            owner: holder.owner,
            until: holder.until,
          });
        }
        await clock.delay(Math.min(holder.until - takenAt, lock.pause ?? duration / 3), { signal });
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * The change that renews the lease, to be committed with others: none before a third of the lease
   * has passed.
   *
   * @param now The time, in milliseconds since the epoch.
   */
  renewal(now: number = this.#clock.now()): KvMutation[] {
    if (this.#dueIn(now) > 0) return [];
    this.#renewedAt = now;
    return [this.#until(now + this.#duration)];
  }

  /** In how many milliseconds {@link Lease.renewal} has something to write. */
  get dueIn(): number {
    return this.#dueIn(this.#clock.now());
  }

  /**
   * Commits last changes, and releases the device.
   *
   * @returns Whether the device was still this process's; if not, nothing has changed.
   */
  async release(changes: readonly KvMutation[] = []): Promise<boolean> {
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
      `Cannot write to the store of ${this.#device}: ${owner} has taken it over, since this process was paused past its lease; nothing was written`,
      { owner, until: readUntil(lease) },
    );
  }

  #until(until: number): KvMutation {
    return { type: "set", key: this.#keys.lease(), value: { until } };
  }

  /** A clock that was set back may never reach the time again: then it is due now. */
  #dueIn(now: number): number {
    const third = Math.floor(this.#duration / 3); // whole milliseconds, else the wait would not end
    return Math.max(third - elapsed(now, this.#renewedAt), 0);
  }
}

/** A device that is being taken. */
interface Taking {
  readonly kv: KvStore;
  readonly prefix: KvKey;
  readonly clock: Clock;
  readonly duration: number;
  /** The new owner's name. */
  readonly owner: string;
  /** The lease's ID. */
  readonly id: string;
  readonly lock: LeaseLock;
}

/** The last renewal, and when it was seen first. */
interface Seen {
  versionstamp: string | undefined;
  at: number;
}

/** The owner of a device, and the checks for taking it. */
interface Holder {
  readonly id: string | undefined;
  readonly owner: string;
  readonly epoch: number;
  readonly until: number;
  readonly checks: readonly KvCheck[];
}

/** No lease is longer than {@link MAX_LEASE}: a longer one was written by a wrong clock. */
async function look({ kv, prefix, clock }: Taking, seen: Seen): Promise<Holder> {
  const keys = new StoreKeys(prefix);
  const places = [keys.owner(), keys.lease()];
  const entries = await kv.getMany(places);
  const [entry, lease] = entries;
  if (seen.versionstamp !== lease?.versionstamp || clock.now() < seen.at) {
    seen.versionstamp = lease?.versionstamp;
    seen.at = clock.now();
  }
  const { id, owner, epoch } = readOwner(entry);
  const until = entry === undefined ? 0 : Math.min(readUntil(lease), seen.at + MAX_LEASE);
  // That the lease was not renewed in between is checked too: a renewal wins over a takeover.
  const checks = places.map((key, index) => ({ key, versionstamp: entries[index]?.versionstamp ?? null }));
  return { id, owner, epoch, until, checks };
}

/** @returns The versionstamp of the owner's record; undefined if another was faster. */
async function take(taking: Taking, { epoch, checks }: Holder): Promise<string | undefined> {
  const { kv, prefix, clock, duration, owner, id, lock } = taking;
  const keys = new StoreKeys(prefix);
  const mutations: KvMutation[] = [
    { type: "set", key: keys.owner(), value: { epoch: epoch + 1, owner, id } },
    { type: "set", key: keys.lease(), value: { until: clock.now() + duration } },
  ];
  if (!await kv.commit(mutations, checks)) return undefined;
  const [entry] = await kv.getMany([keys.owner()]);
  if (readOwner(entry).id !== id) return undefined;
  await lock.sign(id);
  return entry?.versionstamp;
}

function readOwner(entry: KvEntry | undefined): { id: string | undefined; owner: string; epoch: number } {
  const { id, owner, epoch } = isJsonObject(entry?.value) ? entry.value : {};
  return {
    id: typeof id === "string" ? id : undefined,
    owner: typeof owner === "string" ? owner : "another process",
    epoch: typeof epoch === "number" ? epoch : 0,
  };
}

function readUntil(entry: KvEntry | undefined): number {
  const { until } = isJsonObject(entry?.value) ? entry.value : {};
  return typeof until === "number" ? until : 0;
}

function inUse(prefix: KvKey, { owner, until }: Holder): StoreInUseError {
  const time = new Date(until).toISOString();
  return new StoreInUseError(
    `Cannot use the store of ${
      prefix.join(" ")
    }: ${owner} holds it until ${time}, and longer while it runs; stop it, or wait for it`,
    { owner, until },
  );
}

/** The default name of a process. There may be no `Deno` where this runs. */
function processName(): string {
  return typeof Deno === "undefined" ? "process" : `process ${Deno.pid}`;
}

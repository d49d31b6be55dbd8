/**
 * The lease of a device: who may write what is kept of it.
 *
 * Two records lie below the device's prefix. `owner` says who took the device last, and changes
 * only when somebody takes it: that it has not changed is a condition of every commit, so whoever
 * lost the device can't write, whatever its clock says. `lease` says until when nobody else may
 * take it, and is set again and again.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { elapsed } from "../../base/elapsed.ts";
import { StoreError, StoreInUseError } from "../../errors/store_error.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import { isJsonObject } from "../../types/json.ts";
import { StoreKeys } from "./keys.ts";
import type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "../kv_store.ts";
import { LeaseLock } from "./lease_lock.ts";

/** How long a lease lasts if nothing else is said, in milliseconds. */
export const DEFAULT_LEASE = 15_000;
/** The shortest lease, in milliseconds. */
export const MIN_LEASE = 1_000;
/** The longest lease, in milliseconds. */
export const MAX_LEASE = 600_000;

/** How a device is taken. */
export interface LeaseOptions {
  /** The wall clock. Default: the machine's own. */
  readonly clock?: Clock;
  /**
   * What to do while another holds the device: wait until it is free, or throw. Default: `wait`.
   */
  readonly held?: "wait" | "refuse";
  /**
   * What others are told of who holds the device. Default: `process`, with the process's number if
   * there is one.
   */
  readonly owner?: string;
  /**
   * How long others leave the device alone after a sign of life, in milliseconds. Default: 15,000.
   */
  readonly duration?: number;
  /** Where it is told that somebody is waited for. */
  readonly log?: Logger;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** A device that has been taken. */
export class Lease {
  readonly #kv: KvStore;
  readonly #keys: StoreKeys;
  readonly #device: string;
  readonly #clock: Clock;
  readonly #duration: number;
  readonly #id: string;
  readonly #lock: LeaseLock;
  #renewedAt: number;
  /** What every commit must go with: nobody else has taken the device. */
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
   * Takes a device: at once if nobody holds it, or who did has released it, ended as the store's
   * lock shows, or given no sign of life for the time of its lease.
   *
   * @param kv Where the device is kept.
   * @param prefix What the keys of the device begin with.
   * @param options How to take it.
   * @returns The lease, which has to be renewed and released.
   * @throws {StoreInUseError} If another holds it, and it is not to be waited for.
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
        await lock.take(); // before the records are read, which its last holder may have written
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
   * What keeps others away for longer, to go along with a commit: nothing before a third of the
   * lease is gone.
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
   * Makes last changes, and lets others take the device.
   *
   * @returns Whether nobody had taken it already; if somebody had, nothing has changed.
   */
  async release(changes: readonly KvMutation[] = []): Promise<boolean> {
    try {
      return await this.#kv.commit([...changes, this.#until(0)], this.checks);
    } finally {
      this.#lock.release();
    }
  }

  /** Why {@link Lease.checks} did not hold. */
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

  /** A clock that was set back is not trusted to come to the time again. */
  #dueIn(now: number): number {
    const third = Math.floor(this.#duration / 3); // a wait for less than the clock can tell would not end
    return Math.max(third - elapsed(now, this.#renewedAt), 0);
  }
}

/** A device that is about to be taken. */
interface Taking {
  readonly kv: KvStore;
  readonly prefix: KvKey;
  readonly clock: Clock;
  readonly duration: number;
  /** What others are told of the new owner. */
  readonly owner: string;
  /** What tells it from others. */
  readonly id: string;
  readonly lock: LeaseLock;
}

/** A sign of life, and when it was seen first. */
interface Seen {
  versionstamp: string | undefined;
  at: number;
}

/** Who holds a device, and what must not have changed for it to be taken. */
interface Holder {
  readonly id: string | undefined;
  readonly owner: string;
  readonly epoch: number;
  readonly until: number;
  readonly checks: readonly KvCheck[];
}

/**
 * No lease is longer than {@link MAX_LEASE}: one that seems to be was written by a clock that is
 * wrong.
 */
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
  // That no lease was written in between counts too: a sign of life comes before a seizure.
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
    owner: typeof owner === "string" ? owner : "somebody",
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

/**
 * What a process is called that has given itself no name. There may be no `Deno` where this runs.
 */
function processName(): string {
  return typeof Deno === "undefined" ? "process" : `process ${Deno.pid}`;
}

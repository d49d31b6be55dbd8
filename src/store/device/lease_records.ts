/**
 * The two records of a lease, who holds the device, and until when; and the lock beside them, which shows
 * immediately that a process has ended.
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

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { StoreInUseError } from "../../errors/store_error.ts";
import { isJsonObject } from "../../types/json.ts";
import type { Store, StoreCheck, StoreEntry, StoreKey, StoreLock, StoreMutation } from "../base/mod.ts";
import { StoreKeys } from "./keys.ts";

/** How long to wait between tries for the lock, in milliseconds. */
const PAUSE = 250;
/**
 * How many leases are in a lock: of processes that ended, one after the other, while they took the device.
 */
const LEASES = 10;

/** The stores of which the log has said what is wrong with their files. */
const warned = new WeakSet<Store>();

/** The lock of a device. */
export class LeaseLock {
  readonly #kv: Store;
  readonly #prefix: StoreKey;
  readonly #log: Logger;
  #lock: StoreLock | undefined;
  #canBe: boolean;

  /**
   * @param kv The store of the device.
   * @param prefix The beginning of the device's keys.
   * @param log Logs that there can be no lock.
   */
  constructor(kv: Store, prefix: StoreKey, log: Logger) {
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
   * Returns whether the process of a lease has ended.
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
      this.#log.info(
        "There is no lock for the device: after a kill, the next process waits for the end of its lease",
        {
          device: this.#prefix.join(" "),
          reason: error instanceof Error ? error.message : String(error),
        },
      );
    }
  }
}

/** The longest lease, in milliseconds. */
export const MAX_LEASE = 600_000;

/** A device that is being taken. */
export interface Taking {
  readonly kv: Store;
  readonly prefix: StoreKey;
  readonly clock: Clock;
  readonly duration: number;
  /** The new owner's name. */
  readonly owner: string;
  /** The lease's ID. */
  readonly id: string;
  readonly lock: LeaseLock;
}

/** The last renewal, and when it was seen first. */
export interface Seen {
  versionstamp: string | undefined;
  at: number;
}

/** The owner of a device, and the checks for taking it. */
interface Holder {
  readonly id: string | undefined;
  readonly owner: string;
  readonly epoch: number;
  readonly until: number;
  readonly checks: readonly StoreCheck[];
}

/** No lease is longer than {@link MAX_LEASE}: a longer one was written by a wrong clock. */
export async function look({ kv, prefix, clock }: Taking, seen: Seen): Promise<Holder> {
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
export async function take(taking: Taking, { epoch, checks }: Holder): Promise<string | undefined> {
  const { kv, prefix, clock, duration, owner, id, lock } = taking;
  const keys = new StoreKeys(prefix);
  const mutations: StoreMutation[] = [
    { type: "set", key: keys.owner(), value: { epoch: epoch + 1, owner, id } },
    { type: "set", key: keys.lease(), value: { until: clock.now() + duration } },
  ];
  await lock.sign(id); // first: the process may end right behind the commit
  if (!await kv.commit(mutations, checks)) return undefined;
  const [entry] = await kv.getMany([keys.owner()]);
  return readOwner(entry).id === id ? entry?.versionstamp : undefined;
}

export function readOwner(
  entry: StoreEntry | undefined,
): { id: string | undefined; owner: string; epoch: number } {
  const { id, owner, epoch } = isJsonObject(entry?.value) ? entry.value : {};
  return {
    id: typeof id === "string" ? id : undefined,
    owner: typeof owner === "string" ? owner : "another process",
    epoch: typeof epoch === "number" ? epoch : 0,
  };
}

export function readUntil(entry: StoreEntry | undefined): number {
  const { until } = isJsonObject(entry?.value) ? entry.value : {};
  return typeof until === "number" ? until : 0;
}

export function inUse(prefix: StoreKey, { owner, until }: Holder): StoreInUseError {
  const time = new Date(until).toISOString();
  return new StoreInUseError(
    `Cannot use the store of ${
      prefix.join(" ")
    }: ${owner} holds it until ${time}, and longer while it runs; stop it, or wait for it`,
    { owner, until },
  );
}

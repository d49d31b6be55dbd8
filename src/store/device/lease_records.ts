/**
 * The two records of a lease: who holds the device, and until when.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { StoreInUseError } from "../../errors/store_error.ts";
import { isJsonObject } from "../../types/json.ts";
import { StoreKeys } from "./keys.ts";
import type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "../base/mod.ts";
import type { LeaseLock } from "./lease_lock.ts";

/** The longest lease, in milliseconds. */
export const MAX_LEASE = 600_000;

/** A device that is being taken. */
export interface Taking {
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
  readonly checks: readonly KvCheck[];
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
  const mutations: KvMutation[] = [
    { type: "set", key: keys.owner(), value: { epoch: epoch + 1, owner, id } },
    { type: "set", key: keys.lease(), value: { until: clock.now() + duration } },
  ];
  await lock.sign(id); // first: the process may end right behind the commit
  if (!await kv.commit(mutations, checks)) return undefined;
  const [entry] = await kv.getMany([keys.owner()]);
  return readOwner(entry).id === id ? entry?.versionstamp : undefined;
}

export function readOwner(
  entry: KvEntry | undefined,
): { id: string | undefined; owner: string; epoch: number } {
  const { id, owner, epoch } = isJsonObject(entry?.value) ? entry.value : {};
  return {
    id: typeof id === "string" ? id : undefined,
    owner: typeof owner === "string" ? owner : "another process",
    epoch: typeof epoch === "number" ? epoch : 0,
  };
}

export function readUntil(entry: KvEntry | undefined): number {
  const { until } = isJsonObject(entry?.value) ? entry.value : {};
  return typeof until === "number" ? until : 0;
}

export function inUse(prefix: KvKey, { owner, until }: Holder): StoreInUseError {
  const time = new Date(until).toISOString();
  return new StoreInUseError(
    `Cannot use the store of ${
      prefix.join(" ")
    }: ${owner} holds it until ${time}, and longer while it runs; stop it, or wait for it`,
    { owner, until },
  );
}

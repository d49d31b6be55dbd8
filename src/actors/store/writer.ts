/**
 * Reads and writes for the Store: every commit goes through here. Over 300 lines because each of
 * its steps decides by the others' state.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import {
  kindOf,
  Lease,
  type LeaseOptions,
  readSchema,
  schemaUpgrade,
  StoreKeys,
} from "../../store/device/mod.ts";
import type { Store, StoreEntry, StoreKey, StoreListOptions, StoreMutation } from "../../store/base/mod.ts";
import { SharedRuns } from "../../base/runs.ts";
import type { Logger } from "../../base/log.ts";
import { fatal } from "../kernel/mod.ts";
import { acceptableChanges, type Parts } from "./acceptable_changes.ts";

/** A commit that hands the device back. */
interface Parting {
  readonly hears: boolean;
  isDone: boolean;
}

const NOTHING: ReadonlyMap<string, StoreMutation> = new Map();

/** Reads and writes the records of a device. */
export class StoreWriter {
  readonly #taking: LeaseOptions | undefined;
  readonly #log: Logger | undefined;
  readonly #kv: Store;
  #keys: StoreKeys | undefined;
  #lease: Lease | undefined;
  /** Changes that wait for the next commit, by key. */
  #deferred = new Map<string, StoreMutation>();
  /** The deferred changes of the commit under way: reads may not see them yet. */
  #committing: ReadonlyMap<string, StoreMutation> = NOTHING;
  /** Other changes that the next commit makes. */
  #gathered: (readonly StoreMutation[])[] = [];
  #owes = false;
  readonly #parts = new WeakMap<StoreMutation, Parts>();
  /** After a commit has failed, all later ones fail. */
  readonly #commits = new SharedRuns(() => this.#commitAll());
  #hasFailed = false;
  /** Is called once when a change waits for the next commit. */
  onDeferred: (() => void) | undefined;
  /** Whether the device was handed back: it is this process's until another takes it. */
  #isFree = false;
  /** Whether the next commit hands it back, unless another process has come for it, and whether it has. */
  #parting: Parting | undefined;

  /**
   * @param kv The store.
   * @param lease How the device is taken; absent: the store is this client's own.
   * @param log Logs what the store refused.
   */
  constructor(kv: Store, lease?: LeaseOptions, log?: Logger) {
    this.#kv = kv;
    this.#taking = lease;
    this.#log = log;
  }

  /**
   * Takes the device, and upgrades its records if necessary.
   *
   * @param prefix What the keys of the device begin with.
   * @param signal Ends the wait for another process that holds the device.
   * @returns The lease that has to be renewed; undefined if there is none.
   * @throws What is fatal to the actor, unless it is the signal's reason.
   */
  async open(prefix: StoreKey, signal: AbortSignal): Promise<Lease | undefined> {
    const lease = this.#taking;
    if (lease !== undefined && this.#lease === undefined) {
      try {
        await readSchema(this.#kv, prefix);
        this.#lease = await Lease.acquire(this.#kv, prefix, { ...lease, signal });
        await this.#upgrade(prefix);
      } catch (error) {
        throw signal.aborted && error === signal.reason ? error : fatal(error);
      }
    }
    this.#keys = new StoreKeys(prefix);
    return this.#lease;
  }

  /**
   * The keys of the records.
   *
   * @throws {ValueError} If the store has not been opened.
   */
  get keys(): StoreKeys {
    if (this.#keys !== undefined) return this.#keys;
    throw new ValueError("Cannot use the store: it has not been opened for an account yet");
  }

  /**
   * Reads several values. They were written through this class, and have the type that was written.
   */
  async getMany<T>(keys: readonly StoreKey[]): Promise<(T | undefined)[]> {
    if (keys.length === 0) return [];
    // A commit may end while a read that came before that is on its way.
    const before = this.#deferredAt(keys);
    const entries = await this.#kv.getMany(keys);
    const now = this.#deferredAt(keys);
    return entries.map((entry, index) => {
      const deferred = now[index] ?? before[index];
      if (deferred === undefined) return entry?.value as T | undefined;
      return deferred.type === "set" ? deferred.value as T : undefined;
    });
  }

  /** Reads a value. */
  async get<T>(key: StoreKey): Promise<T | undefined> {
    const [value] = await this.getMany<T>([key]);
    return value;
  }

  /** Reads values below a prefix. */
  async list<T>(prefix: StoreKey, options?: StoreListOptions): Promise<T[]> {
    return (await this.entries(prefix, options)).map(({ value }) => value as T);
  }

  /** Reads values below a prefix, with their keys. */
  async entries(prefix: StoreKey, options?: StoreListOptions): Promise<StoreEntry[]> {
    return await Array.fromAsync(this.#kv.list(prefix, options));
  }

  /** The first keys below a prefix. */
  async keysBelow(prefix: StoreKey, limit: number): Promise<StoreKey[]> {
    return await Array.fromAsync(this.#kv.list(prefix, { limit }), ({ key }) => key);
  }

  /** Reads another actor's records below a prefix, with keys relative to the account's. */
  async listRecords(
    prefix: StoreKey,
    { after, limit }: StoreListOptions = {},
  ): Promise<{ key: StoreKey; value: unknown }[]> {
    await this.settled;
    if (this.#owes) await this.flush();
    const from = this.keys.record([]).length;
    const entries = this.#kv.list(this.keys.record(prefix), {
      after: after && this.keys.record(after),
      limit,
    });
    return await Array.fromAsync(entries, ({ key, value }) => ({ key: key.slice(from), value }));
  }

  /**
   * Takes the device, if it was handed back.
   *
   * @returns Whether what this process knows of its records holds: nobody else has had them.
   */
  async take(): Promise<boolean> {
    const lease = this.#lease;
    if (lease === undefined) return true;
    if (this.#isFree) {
      if (!await lease.retake()) return false;
      this.#isFree = false;
    }
    await lease.listenOnce();
    return true;
  }

  /**
   * Commits the deferred changes and hands the device back.
   *
   * @param hears Whether it is kept if another process has come for it since it was taken.
   * @returns Whether it was handed back.
   */
  async handBack(hears: boolean): Promise<boolean> {
    if (this.#lease === undefined || this.#isFree) return true;
    const parting = this.#parting = { hears, isDone: false };
    await this.#commits.next();
    return parting.isDone;
  }

  /** How long to wait before a look whether the lease is to be renewed, in milliseconds. */
  get dueIn(): number {
    const { third = 0, dueIn = 0 } = this.#lease ?? {};
    return this.#isHeld ? dueIn : third;
  }

  /** Whether the device is held until the client is stopped or closed, not from pass to pass. */
  get isKept(): boolean {
    return (this.#taking?.holding?.mode ?? "kept") === "kept";
  }

  /** Whether the device is held without a pass that will hand it back. */
  get isLeftOver(): boolean {
    return !this.#isFree && this.#taking?.holding?.mode === "between";
  }

  /**
   * Makes a change with the next commit, so that it needs none of its own. It is lost if there is
   * none.
   */
  defer(mutation: StoreMutation): void {
    this.#deferred.set(JSON.stringify(mutation.key), mutation);
    this.onDeferred?.();
  }

  /**
   * Says what to do if the store refuses a change: delete its record, and make smaller changes instead.
   * Only for records that a commit can go without.
   *
   * @param mutation The change.
   * @param parts Makes the smaller changes.
   * @returns The same change.
   */
  divisible(mutation: StoreMutation, parts: Parts): StoreMutation {
    this.#parts.set(mutation, parts);
    return mutation;
  }

  /** Whether changes wait for a commit to go along with. */
  get hasDeferred(): boolean {
    return this.#deferred.size > 0;
  }

  /** Makes changes with the next commit, which has to come before anything else depends on them. */
  owe(mutations: readonly StoreMutation[]): void {
    for (const mutation of mutations) this.defer(mutation);
    this.#owes = true;
  }

  /** Whether a commit has to come. */
  get owes(): boolean {
    return this.#owes;
  }

  /**
   * Makes changes, provided that no other process has taken the device. Does nothing if there are
   * none.
   *
   * @throws What is fatal to the actor: it is unknown whether a commit that failed took effect, so
   *   nothing may go on from there. Records that others fill, and that the store refuses, are left
   *   out.
   */
  commit(mutations: readonly StoreMutation[]): Promise<void> {
    return mutations.length > 0 ? this.flush(mutations) : Promise.resolve();
  }

  /**
   * Makes changes that reads see immediately. All that come until the next commit begins are part of it.
   *
   * @param mutations The changes.
   * @returns Resolves when they are durable.
   * @throws As {@link StoreWriter.commit} does.
   */
  share(mutations: readonly StoreMutation[]): Promise<void> {
    for (const mutation of mutations) this.#deferred.set(JSON.stringify(mutation.key), mutation);
    return this.flush();
  }

  /**
   * Commits the deferred changes, and renews the lease if it is due. If a commit is under way, the
   * next one comes after it, with all changes until then.
   *
   * @param mutations What else is to be changed.
   * @returns Resolves when the changes are durable.
   * @throws As {@link StoreWriter.commit} does.
   */
  flush(mutations: readonly StoreMutation[] = []): Promise<void> {
    if (mutations.length > 0) this.#gathered.push(mutations);
    return this.#commits.next();
  }

  /** Resolves when all changes so far are durable; undefined: they are. */
  get settled(): Promise<void> | undefined {
    return this.#commits.pending;
  }

  /**
   * Commits the deferred changes, and releases the device. If that fails, the lease runs out by
   * itself.
   */
  async close(): Promise<void> {
    // They may depend on what was not written.
    const changes = this.#hasFailed ? [] : [...this.#deferred.values()];
    const lease = this.#lease;
    if (lease === undefined) {
      if (changes.length > 0) await this.#kv.commit(changes);
    } else if (this.#isFree) {
      // Nothing is lost if another process has had the device: it has done what they are about.
      if (changes.length > 0) await this.#kv.commit(changes, lease.checks);
    } else if (changes.length === 0) {
      await lease.release().catch(() => {});
    } else if (!await lease.release(changes)) {
      throw await lease.lost();
    }
  }

  /** The changes of these keys that wait for a commit, or for its end. */
  #deferredAt(keys: readonly StoreKey[]): readonly (StoreMutation | undefined)[] {
    if (this.#deferred.size === 0 && this.#committing.size === 0) return [];
    return keys.map((key) => {
      const id = JSON.stringify(key);
      return this.#deferred.get(id) ?? this.#committing.get(id);
    });
  }

  async #commitAll(): Promise<void> {
    const parting = this.#parting;
    this.#parting = undefined;
    const renewal = this.#isHeld && parting === undefined ? this.#lease?.renewal() ?? [] : [];
    const changes = [...this.#deferred.values(), ...this.#gathered.flat(), ...renewal];
    if (changes.length === 0 && parting === undefined) return;
    this.#committing = this.#deferred;
    this.#deferred = new Map();
    this.#gathered = [];
    this.#owes = false;
    try {
      await this.#apply(changes, parting).catch((error) => this.#applyOthers(changes, error));
    } catch (error) {
      this.#hasFailed = true;
      throw fatal(error);
    } finally {
      this.#committing = NOTHING;
    }
  }

  /** Upgrades the records, now that no other process can change them. */
  async #upgrade(prefix: StoreKey): Promise<void> {
    const { mutations, isNeeded } = await schemaUpgrade(this.#kv, prefix);
    if (isNeeded) await this.#apply(mutations);
    else mutations.forEach((mutation) => this.defer(mutation));
  }

  /** Commits without the records that the store refuses, if they are expendable. */
  async #applyOthers(changes: readonly StoreMutation[], error: unknown): Promise<void> {
    const prefix = this.keys.record([]);
    const acceptable = await acceptableChanges(this.#kv, changes, { error, prefix, parts: this.#parts });
    if (acceptable === undefined) throw error;
    await this.#apply(acceptable.changes);
    const kinds = acceptable.refused.map(kindOf);
    if (kinds.length === 0) return;
    this.#log?.error("Left out records that the store does not take", {
      count: kinds.length,
      kinds: [...new Set(kinds)].sort().join(", "),
      error: String(error),
    });
  }

  /** Whether the device is held, and the lease to be renewed. */
  get #isHeld(): boolean {
    return !this.#isFree && this.#taking?.holding?.mode !== "late";
  }

  async #apply(mutations: readonly StoreMutation[], parting?: Parting): Promise<void> {
    if (parting !== undefined && await this.#lease?.handBack(mutations, parting.hears)) {
      this.#isFree = parting.isDone = true;
      return;
    }
    if (mutations.length === 0) return;
    if (!await this.#kv.commit(mutations, this.#lease?.checks)) throw await this.#lease?.lost();
  }
}

/** The change that sets a value. */
export function set(key: StoreKey, value: unknown): StoreMutation {
  return { type: "set", key, value };
}

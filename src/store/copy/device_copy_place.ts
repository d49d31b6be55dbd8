/**
 * Where a device is imported to: nothing counts before everything is there.
 *
 * The records are put where they belong, in several commits. A mark beside them says that they do not count; the last commit
 * removes it. A client does not use the place while the mark is there, and the next import begins with removing what it finds.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../errors/store_error.ts";
import { hasRecords, isOfPlace } from "./device_copy_mark.ts";
import { StoreKeys } from "../device/keys.ts";
import type { KvKey, KvMutation, KvStore } from "../kv_store.ts";
import { Lease } from "../device/lease.ts";
import { assertNotSealed } from "../sealed/sealed_mark.ts";

/** For how long others leave the place alone after a sign of life: the stream may be slow. */
export const COPY_LEASE = 60_000;

/** How much goes into one commit: changes, and bytes. */
const MAX_CHANGES = 500;
const MAX_BYTES = 500_000;

/** How a place is taken. */
export interface ImportPlaceOptions {
  /** The wall clock. */
  readonly clock?: Clock;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** A place for a device's records. */
export class ImportPlace {
  readonly #store: KvStore;
  readonly #prefix: KvKey;
  readonly #keys: StoreKeys;
  readonly #lease: Lease;
  #pack: KvMutation[] = [];
  #bytes = 0;

  private constructor(store: KvStore, prefix: KvKey, lease: Lease) {
    this.#store = store;
    this.#prefix = prefix;
    this.#keys = new StoreKeys(prefix);
    this.#lease = lease;
  }

  /**
   * Takes a place, and makes it empty if an import has left something there.
   *
   * @param store The store.
   * @param prefix What the device's keys begin with.
   * @param options How.
   * @throws {StoreKeyError} If the store is sealed, without its seal around it.
   * @throws {StoreInUseError} If somebody else has it.
   * @throws {StoreError} If the device is there already.
   */
  static async take(
    store: KvStore,
    prefix: KvKey,
    { clock, signal }: ImportPlaceOptions,
  ): Promise<ImportPlace> {
    await assertNotSealed(store);
    await assertFree(store, prefix); // before anything is written
    const options = { clock, signal, held: "refuse", owner: "an import", duration: COPY_LEASE } as const;
    const lease = await Lease.acquire(store, prefix, options);
    const place = new ImportPlace(store, prefix, lease);
    try {
      await assertFree(store, prefix);
      await place.#mark();
      await place.#empty();
    } catch (error) {
      await lease.release().catch(() => {}); // it ends by itself
      throw error;
    }
    return place;
  }

  /**
   * Puts a record.
   *
   * @param path Its key, without the parts that name the device.
   * @param value The value.
   * @param size About how many bytes it has.
   */
  async put(path: KvKey, value: unknown, size: number): Promise<void> {
    const isFull = this.#pack.length === MAX_CHANGES || this.#bytes + size > MAX_BYTES;
    if (isFull || this.#lease.dueIn === 0) await this.#flush();
    this.#pack.push({ type: "set", key: [...this.#prefix, ...path], value });
    this.#bytes += size;
  }

  /** Makes everything count. */
  async finish(): Promise<void> {
    const changes: KvMutation[] = [...this.#pack, { type: "delete", key: this.#keys.importing() }];
    if (!await this.#lease.release(changes)) throw await this.#lease.lost();
  }

  /** Removes everything. What can't be removed does not count, and is removed by the next import. */
  async abandon(): Promise<void> {
    try {
      await this.#mark(); // it is gone if the last commit counts although it failed
      await this.#empty();
      const left = [this.#keys.importing(), this.#keys.owner(), this.#keys.lease()];
      await this.#commit(left.map((key): KvMutation => ({ type: "delete", key })));
    } catch {
      // Why the import has failed is what counts.
    } finally {
      await this.#lease.release().catch(() => {});
    }
  }

  async #mark(): Promise<void> {
    await this.#commit([{ type: "set", key: this.#keys.importing(), value: { format: 1 } }]);
  }

  async #empty(): Promise<void> {
    this.#pack = [];
    for await (const { key } of this.#store.list(this.#prefix)) {
      if (isOfPlace(key.slice(this.#prefix.length))) continue;
      this.#pack.push({ type: "delete", key });
      if (this.#pack.length === MAX_CHANGES) await this.#flush();
    }
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const pack = this.#pack;
    this.#pack = [];
    this.#bytes = 0;
    const mutations = [...pack, ...this.#lease.renewal()];
    if (mutations.length > 0) await this.#commit(mutations);
  }

  async #commit(mutations: readonly KvMutation[]): Promise<void> {
    if (!await this.#store.commit(mutations, this.#lease.checks)) throw await this.#lease.lost();
  }
}

/** A place with a mark is free: what is there does not count. */
async function assertFree(store: KvStore, prefix: KvKey): Promise<void> {
  const [mark] = await store.getMany([new StoreKeys(prefix).importing()]);
  if (mark !== undefined || !await hasRecords(store, prefix)) return;
  throw new StoreError(
    `Cannot import the device ${prefix.join(" ")}: the store has records of it already; use another store`,
  );
}

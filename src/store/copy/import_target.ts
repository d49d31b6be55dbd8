/**
 * What a copy contains, the user and device, the records, and their number; and how an import writes it, all
 * or nothing.
 *
 * The records are written in several commits. The record `importing` beside them says that they do
 * not count yet, and the last commit removes it. While it is there, no client uses the device, and
 * the next import begins by removing what it finds.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { decodeValue, encodeValue, type Store, type StoreKey, type StoreMutation } from "../base/mod.ts";
import {
  assertNoSeal,
  assertNotSealed,
  hasRecords,
  isLocal,
  Lease,
  sealKey,
  StoreKeys,
} from "../device/mod.ts";
import { damaged } from "./chunks.ts";

/** The user and the device, which come first. */
type DeviceItem = readonly ["device", UserID, DeviceID];
/** A record: its key, without the parts that name the device, and its value. */
type RecordItem = readonly ["record", StoreKey, unknown];
/** The number of records, which comes last. */
type EndItem = readonly ["end", number];

/** A record that was read. */
interface CopiedRecord {
  /** Its key, without the parts that name the device. */
  readonly path: StoreKey;
  readonly value: unknown;
  /** The bytes of both in the copy. */
  readonly size: number;
}

/** The most bytes of an item, which is in memory as a whole. */
const MAX_ITEM_BYTES = 2 ** 28;

/**
 * Encodes an item.
 *
 * @throws {StoreError} If it is too large.
 */
export function writeItem(item: DeviceItem | RecordItem | EndItem): Uint8Array {
  const bytes = encodeValue(item);
  if (bytes.length > MAX_ITEM_BYTES) {
    throw new StoreError(
      `Cannot copy a record: it has ${bytes.length} bytes, and ${MAX_ITEM_BYTES} are allowed; make it smaller`,
    );
  }
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, bytes.length);
  return concat([head, bytes]);
}

/** Reads the items of a copy. */
export class ItemReader {
  readonly #items: AsyncGenerator<ReadItem>;

  /** @param chunks The bytes of the copy. */
  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#items = items(chunks);
  }

  /**
   * Reads the user and device.
   *
   * @throws {StoreFormatError} If the copy does not begin with them.
   */
  async device(): Promise<{ mxid: UserID; deviceId: DeviceID }> {
    const { value } = await this.#items.next();
    const [kind, mxid, deviceId] = value?.item ?? [];
    const isRight = kind === "device" && typeof mxid === "string" && mxid.startsWith("@") &&
      typeof deviceId === "string";
    if (!isRight) throw damaged();
    return { mxid: mxid as UserID, deviceId }; // begins as one does
  }

  /**
   * Reads the records. Ends only when all have been read.
   *
   * @throws {StoreFormatError} If one is malformed, or the number is wrong.
   */
  async *records(): AsyncGenerator<CopiedRecord> {
    let records = 0;
    let isEnded = false;
    for await (const { item, size } of this.#items) {
      const [kind, key, value] = item;
      if (isEnded) throw damaged();
      if (kind === "end") {
        if (key !== records) throw damaged();
        isEnded = true;
        continue;
      }
      if (kind !== "record" || item.length !== 3 || !isKey(key) || isLocal(key)) throw damaged();
      records++;
      yield { path: key, value, size };
    }
    if (!isEnded) throw damaged();
  }
}

interface ReadItem {
  readonly item: readonly unknown[];
  readonly size: number;
}

async function* items(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReadItem> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let wanted = 4;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size < wanted) continue;
    let rest: Uint8Array = concat(parts);
    while (rest.length >= 4) {
      wanted = 4 + new DataView(rest.buffer, rest.byteOffset).getUint32(0);
      if (wanted > MAX_ITEM_BYTES + 4) throw damaged();
      if (rest.length < wanted) break;
      const item = decodeValue(rest.slice(4, wanted));
      if (!Array.isArray(item)) throw damaged();
      yield { item, size: wanted };
      rest = rest.subarray(wanted);
      wanted = 4;
    }
    parts = [rest];
    size = rest.length;
  }
  if (size > 0) throw damaged();
}

function isKey(key: unknown): key is StoreKey {
  return Array.isArray(key) && key.length > 0 && key.every((part) => typeof part === "string");
}

/** How long the device stays reserved after a renewal, in milliseconds: the stream may be slow. */
export const COPY_LEASE = 60_000;

/** The most changes and bytes of a commit. */
const MAX_CHANGES = 500;
const MAX_BYTES = 500_000;

/** The device of a store that an import writes to. */
export class ImportTarget {
  readonly #store: Store;
  readonly #prefix: StoreKey;
  readonly #keys: StoreKeys;
  readonly #lease: Lease;
  #pack: StoreMutation[] = [];
  #bytes = 0;

  private constructor(store: Store, prefix: StoreKey, lease: Lease) {
    this.#store = store;
    this.#prefix = prefix;
    this.#keys = new StoreKeys(prefix);
    this.#lease = lease;
  }

  /**
   * Reserves the device, and removes what an earlier import has left of it.
   *
   * @param store The store.
   * @param prefix The beginning of the device's keys.
   * @param options The clock and the signal.
   * @throws {StoreKeyError} If the store is sealed and not opened as a `SealedStore`.
   * @throws {StoreInUseError} If another process uses the device.
   * @throws {StoreError} If the store has records of the device.
   */
  static async take(
    store: Store,
    prefix: StoreKey,
    clock?: Clock,
    signal?: AbortSignal,
  ): Promise<ImportTarget> {
    await assertNotSealed(store);
    await assertFree(store, prefix); // before anything is written
    const options = { clock, signal, held: "refuse", owner: "an import", duration: COPY_LEASE } as const;
    const lease = await Lease.acquire(store, prefix, options);
    const target = new ImportTarget(store, prefix, lease);
    try {
      await assertFree(store, prefix);
      await target.#begin();
      await target.#empty();
    } catch (error) {
      await lease.release().catch(() => {}); // it expires by itself
      throw error;
    }
    return target;
  }

  /**
   * Writes a record.
   *
   * @param path Its key, without the parts that name the device.
   * @param value The value.
   * @param size Its size in bytes, about.
   */
  async put(path: StoreKey, value: unknown, size: number): Promise<void> {
    const isFull = this.#pack.length === MAX_CHANGES || this.#bytes + size > MAX_BYTES;
    if (isFull || this.#lease.dueIn === 0) await this.#flush();
    this.#pack.push({ type: "set", key: [...this.#prefix, ...path], value });
    this.#bytes += size;
  }

  /** Makes all records count. */
  async finish(): Promise<void> {
    const changes: StoreMutation[] = [...this.#pack, { type: "delete", key: this.#keys.importing() }];
    if (!await this.#lease.release(changes)) throw await this.#lease.lost();
  }

  /**
   * Removes all records. Those that can't be removed do not count, and the next import removes
   * them.
   */
  async abandon(): Promise<void> {
    try {
      await this.#begin(); // the record is gone if the last commit was made although it rejected
      await this.#empty();
      const left = [this.#keys.importing(), this.#keys.owner(), this.#keys.lease()];
      await this.#commit(left.map((key): StoreMutation => ({ type: "delete", key })));
    } catch {
      // The error of the import is the one to report.
    } finally {
      await this.#lease.release().catch(() => {});
    }
  }

  async #begin(): Promise<void> {
    await this.#commit([{ type: "set", key: this.#keys.importing(), value: { format: 1 } }]);
  }

  async #empty(): Promise<void> {
    this.#pack = [];
    for await (const { key } of this.#store.list(this.#prefix)) {
      if (isLocal(key.slice(this.#prefix.length))) continue;
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

  async #commit(mutations: readonly StoreMutation[]): Promise<void> {
    if (!await this.#store.commit(mutations, this.#lease.checks)) throw await this.#lease.lost();
  }
}

/** A device with an unfinished import is free: its records do not count. */
async function assertFree(store: Store, prefix: StoreKey): Promise<void> {
  const [importing] = await store.getMany([new StoreKeys(prefix).importing()]);
  if (importing !== undefined || !await hasRecords(store, prefix)) return;
  throw new StoreError(
    `Cannot import the device ${prefix.join(" ")}: the store has records of it already; use another store`,
  );
}

/**
 * Checks that the records of a device may be read: the store is not a sealed one without its
 * `SealedStore`, and no import of the device is unfinished.
 *
 * @param store The store.
 * @param prefix The beginning of the device's keys.
 * @throws {StoreKeyError} If the store is sealed.
 * @throws {StoreError} If an import is unfinished, so that records may be missing.
 */
export async function assertUsable(store: Store, prefix: StoreKey): Promise<void> {
  const [seal, importing] = await store.getMany([sealKey, new StoreKeys(prefix).importing()]);
  assertNoSeal(seal);
  if (importing === undefined) return;
  throw new StoreError(
    `Cannot use the store of ${
      prefix.join(" ")
    }: it is being imported, or that was not finished; wait, or import it again`,
  );
}

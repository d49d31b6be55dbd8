/**
 * What a copy contains: the user and device, the records, and their number.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { StoreError } from "../../errors/store_error.ts";
import { isLocal } from "../device/mod.ts";
import { damaged } from "./chunks.ts";
import { decodeValue, encodeValue, type KvKey } from "../base/mod.ts";

/** The user and the device, which come first. */
type DeviceItem = readonly ["device", UserID, DeviceID];
/** A record: its key, without the parts that name the device, and its value. */
type RecordItem = readonly ["record", KvKey, unknown];
/** The number of records, which comes last. */
type EndItem = readonly ["end", number];

/** A record that was read. */
interface CopiedRecord {
  /** Its key, without the parts that name the device. */
  readonly path: KvKey;
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

function isKey(key: unknown): key is KvKey {
  return Array.isArray(key) && key.length > 0 && key.every((part) => typeof part === "string");
}

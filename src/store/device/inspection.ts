/**
 * What a store contains, in numbers: no secrets, and no content.
 *
 * @module
 */

import { checkOptions } from "../../errors/known_names.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { DEVICE_PARTS, isDeviceKey, isLocal, kindOf, StoreKeys } from "./keys.ts";
import { encodeValue, type Store, type StoreEntry, type StoreKey } from "../base/mod.ts";
import { assertNotSealed } from "./schema.ts";

/** A user's device. */
export interface StoredDevice {
  /** Whose device it is. */
  readonly mxid: UserID;
  /** The device; empty if the user's token belongs to none. */
  readonly deviceId: DeviceID;
}

/** An amount of records. */
export interface StoredAmount {
  /** How many records. */
  readonly records: number;
  /**
   * The bytes of their keys and values when encoded, about. The store may need more, for a seal or
   * an index.
   */
  readonly bytes: number;
}

/** The process that may write to a device. */
export interface DeviceHolder {
  /** The name of the owner, as it has given itself. */
  readonly owner: string;
  /**
   * Until when no other process may take the device, in milliseconds since 1970; 0 if it was
   * released.
   */
  readonly until: number;
}

/** What a store contains of a device. */
export interface DeviceInspection extends StoredDevice, StoredAmount {
  /**
   * The amount of each kind of record: `sync` for the position, `room`, `state`, and so on; the
   * kinds of the encryption begin with `crypto/`. In the order of the keys.
   */
  readonly kinds: Readonly<Record<string, StoredAmount>>;
  /** The version of the records; `undefined` if there is no record of it. */
  readonly schema: number | undefined;
  /** Whether there is a position in the sync stream to continue from. */
  readonly hasPosition: boolean;
  /** Whether an import of the device is unfinished; then its records do not count. */
  readonly isImporting: boolean;
  /** The process that uses the device, or used it last; `undefined` if none ever has. */
  readonly holder: DeviceHolder | undefined;
}

/** The device to inspect, and a signal. */
export interface InspectDeviceOptions extends StoredDevice {
  /** Aborts the inspection where it is. */
  readonly signal?: AbortSignal;
}

/**
 * Counts what a store contains of a device. It reads all of its records, one after the other, and
 * returns no key, content or room ID. It may run beside a client, and then counts what it meets.
 *
 * @param store The store; for a sealed one, the `SealedStore`.
 * @param options Which device.
 * @returns The amounts; zeros if there are no records.
 * @throws {StoreKeyError} If the store is sealed and not opened as a `SealedStore`, or a record
 * does not open.
 *
 * @example
 * ```ts
 * import { inspectDevice, MemoryStore } from "@greenroom/matrix";
 *
 * const store = new MemoryStore();
 * await store.commit([{ type: "set", key: ["@bot:example.org", "DEVICE", "sync"], value: { nextBatch: "s1" } }]);
 * const { records, kinds, hasPosition } = await inspectDevice(store, { mxid: "@bot:example.org", deviceId: "DEVICE" });
 * console.assert(records === 1 && kinds.sync?.records === 1 && hasPosition);
 * ```
 */
export async function inspectDevice(
  store: Store,
  options: InspectDeviceOptions,
): Promise<DeviceInspection> {
  checkOptions(options, { mxid: true, deviceId: true, signal: true }, "inspect a device");
  const { mxid, deviceId, signal } = options;
  await assertNotSealed(store);
  const prefix = [mxid, deviceId];
  const keys = new StoreKeys(prefix);
  const kinds = new Map<string, { records: number; bytes: number }>();
  const total = { records: 0, bytes: 0 };
  for await (const { key, value } of store.list(prefix)) {
    signal?.throwIfAborted();
    const path = key.slice(prefix.length);
    if (isLocal(path)) continue;
    const kind = kindOf(path);
    const amount = kinds.get(kind) ?? { records: 0, bytes: 0 };
    kinds.set(kind, amount);
    const bytes = encodedBytes(key, value);
    for (const each of [amount, total]) {
      each.records++;
      each.bytes += bytes;
    }
  }
  signal?.throwIfAborted();
  const places = [keys.schema(), keys.sync(), keys.importing(), keys.owner(), keys.lease()];
  const [schema, sync, importing, owner, lease] = await store.getMany(places);
  return {
    mxid,
    deviceId,
    ...total,
    kinds: Object.fromEntries(kinds),
    schema: numberIn(schema, "format"),
    hasPosition: textIn(sync, "nextBatch") !== undefined,
    isImporting: importing !== undefined,
    holder: owner && {
      owner: textIn(owner, "owner") ?? "",
      until: numberIn(lease, "until") ?? 0,
    },
  };
}

/** Options of {@linkcode listDevices}. */
export interface ListDevicesOptions {
  /** Aborts the list where it is. Default: none. */
  readonly signal?: AbortSignal;
}

/**
 * Lists the devices that a store has records of, in the order of the keys.
 *
 * **It reads the whole store**, since a store can't skip records when it lists; memory stays
 * bounded. If you have the IDs of the devices, call {@linkcode inspectDevice} for each.
 *
 * @param store The store; for a sealed one, the `SealedStore`.
 * @param options What aborts it.
 * @throws {StoreKeyError} If the store is sealed and not opened as a `SealedStore`, or a record
 * does not open.
 *
 * @example
 * ```ts
 * import { listDevices, MemoryStore } from "@greenroom/matrix";
 *
 * const store = new MemoryStore();
 * await store.commit([{ type: "set", key: ["@bot:example.org", "DEVICE", "sync"], value: { nextBatch: "s1" } }]);
 * for await (const { mxid, deviceId } of listDevices(store)) {
 *   console.assert(mxid === "@bot:example.org" && deviceId === "DEVICE");
 * }
 * ```
 */
export async function* listDevices(
  store: Store,
  options: ListDevicesOptions = {},
): AsyncGenerator<StoredDevice> {
  checkOptions(options, { signal: true }, "list devices");
  const { signal } = options;
  await assertNotSealed(store);
  let last: StoredDevice | undefined;
  for await (const { key } of store.list([])) {
    signal?.throwIfAborted();
    if (!isDeviceKey(key) || isLocal(key.slice(DEVICE_PARTS))) continue;
    const [mxid, deviceId = ""] = key as [UserID, DeviceID]; // isDeviceKey() has looked
    if (last?.mxid === mxid && last.deviceId === deviceId) continue;
    yield last = { mxid, deviceId };
  }
}

function encodedBytes(key: StoreKey, value: unknown): number {
  const parts = key.map((part) => new TextEncoder().encode(part).length);
  return parts.reduce((sum, length) => sum + length, encodeValue(value).length);
}

function member(entry: StoreEntry | undefined, name: string): unknown {
  return isJsonObject(entry?.value) && Object.hasOwn(entry.value, name) ? entry.value[name] : undefined;
}

function numberIn(entry: StoreEntry | undefined, name: string): number | undefined {
  const value = member(entry, name);
  return typeof value === "number" ? value : undefined;
}

function textIn(entry: StoreEntry | undefined, name: string): string | undefined {
  const value = member(entry, name);
  return typeof value === "string" ? value : undefined;
}

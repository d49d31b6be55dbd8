/**
 * What a store holds, in numbers: nothing secret, and nothing of what it says.
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { DEVICE_PARTS, isDeviceKey, isLocal, kindOf, StoreKeys } from "./keys.ts";
import type { KvEntry, KvKey, KvStore } from "../kv_store.ts";
import { assertNotSealed } from "../sealed/assert_not_sealed.ts";
import { encodeValue } from "../value_codec.ts";

/** A user's device. */
export interface StoredDevice {
  /** The user. */
  readonly mxid: UserID;
  /** The device; empty if the user's token belongs to none. */
  readonly deviceId: DeviceID;
}

/** How much there is of something. */
export interface StoredAmount {
  /** How many records. */
  readonly records: number;
  /**
   * How many bytes their keys and values have when they are encoded, give or take a few. What the
   * store needs for them may be more, by a seal or an index.
   */
  readonly bytes: number;
}

/** Who may write to a device. */
export interface DeviceHolder {
  /** Who took the device last, by the name it has given itself. */
  readonly owner: string;
  /**
   * Until when nobody else may take the device, in milliseconds since 1970; 0 if it was released.
   */
  readonly until: number;
}

/** What a store holds of a device. */
export interface DeviceInspection extends StoredDevice, StoredAmount {
  /**
   * By kind of record, how much there is: `sync` for the position, `room`, `state`, and so on; the
   * kinds of the encryption begin with `crypto/`. In the order of the keys.
   */
  readonly kinds: Readonly<Record<string, StoredAmount>>;
  /**
   * The version of the schema that the records follow; `undefined` if none was written down yet.
   */
  readonly schema: number | undefined;
  /** Whether there is a position in the sync stream to go on from. */
  readonly hasPosition: boolean;
  /** Whether an import of the device is under way, or did not finish; then nothing of it counts. */
  readonly importing: boolean;
  /** Who uses the device, or has used it last; `undefined` if nobody ever has. */
  readonly holder: DeviceHolder | undefined;
}

/** What to look at, and when to stop. */
export interface InspectDeviceOptions extends StoredDevice {
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/**
 * Counts what a store holds of a device. All of its records are read, one after the other, and none
 * is shown: no key, no content and no room ID. It may run beside a client, and counts then what it
 * comes upon.
 *
 * @param store The store; for a sealed one, the `SealedStore`.
 * @param options Which device.
 * @returns What there is; all zeros if there is nothing.
 * @throws {StoreKeyError} If the store is sealed, without its seal around it, or a record does not
 * open.
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
  store: KvStore,
  { mxid, deviceId, signal }: InspectDeviceOptions,
): Promise<DeviceInspection> {
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
    schema: numberIn(schema, "version"),
    hasPosition: textIn(sync, "nextBatch") !== undefined,
    importing: importing !== undefined,
    holder: owner && {
      owner: textIn(owner, "owner") ?? "",
      until: numberIn(lease, "until") ?? 0,
    },
  };
}

/**
 * Finds the devices that a store holds something of, in the order of the keys.
 *
 * **It reads the whole store**, since a store can't leave records out when it lists; memory stays
 * bounded. Who knows the devices should ask for each with {@linkcode inspectDevice}.
 *
 * @param store The store; for a sealed one, the `SealedStore`.
 * @param options When to stop.
 * @param options.signal Ends it.
 * @throws {StoreKeyError} If the store is sealed, without its seal around it, or a record does not
 * open.
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
  store: KvStore,
  { signal }: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<StoredDevice> {
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

function encodedBytes(key: KvKey, value: unknown): number {
  const parts = key.map((part) => new TextEncoder().encode(part).length);
  return parts.reduce((sum, length) => sum + length, encodeValue(value).length);
}

function member(entry: KvEntry | undefined, name: string): unknown {
  return isJsonObject(entry?.value) && Object.hasOwn(entry.value, name) ? entry.value[name] : undefined;
}

function numberIn(entry: KvEntry | undefined, name: string): number | undefined {
  const value = member(entry, name);
  return typeof value === "number" ? value : undefined;
}

function textIn(entry: KvEntry | undefined, name: string): string | undefined {
  const value = member(entry, name);
  return typeof value === "string" ? value : undefined;
}

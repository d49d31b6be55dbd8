/**
 * Copies of devices: all records of one, as a stream of bytes.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { ByteReader, ChunkReader, ChunkWriter } from "./chunks.ts";
import { assertUsable, COPY_LEASE, ImportTarget, ItemReader, writeItem } from "./import_target.ts";
import type { Store } from "../base/mod.ts";
import { hasRecords, isLocal, Lease } from "../device/mod.ts";

/** How much of a copy is done. */
export interface DeviceCopyProgress {
  /** The records copied so far. */
  readonly records: number;
  /** The bytes of the stream so far. */
  readonly bytes: number;
}

/** Options of {@linkcode exportDevice} and {@linkcode importDevice}. */
export interface DeviceCopyOptions {
  /**
   * Seals the stream with AES-256-GCM: 32 random bytes, as for `SealedStore`, or a `CryptoKey` made
   * of such bytes for `"HKDF"` with the usage `"deriveKey"`. The same key opens it. Default: none,
   * **the stream holds private keys in clear**.
   */
  readonly key?: Uint8Array | CryptoKey;
  /** Called after each 64 KiB or so. */
  readonly onProgress?: (progress: DeviceCopyProgress) => void;
  /** Aborts the copy where it is. */
  readonly signal?: AbortSignal;
  /** The wall clock. Default: the machine's own. */
  readonly clock?: Clock;
}

/** Which device to export, and how. */
export interface ExportDeviceOptions extends DeviceCopyOptions {
  /** Whose device it is. */
  readonly mxid: UserID;
  /** The user's device. */
  readonly deviceId: DeviceID;
}

const COPYING: OptionNames<DeviceCopyOptions> = { key: true, onProgress: true, signal: true, clock: true };

/** What an import has written. */
export interface ImportedDevice extends DeviceCopyProgress {
  /** Whose device it is. */
  readonly mxid: UserID;
  /** The user's device. */
  readonly deviceId: DeviceID;
}

/**
 * Copies all records of a device into a stream: to move it to another kind of store, to seal it, or
 * to change its key.
 *
 * **The stream contains the device's private keys in clear, and those of all the messages it can
 * read, unless `key` is given:** anyone with the stream can read them and act as the device. And
 * **a device must run in one place only**: once a client has run on the copy, never run one on the
 * original again, nor import an older copy, for the keys of both would diverge.
 *
 * Nothing can be written to the device while the stream is read: a running client makes the export
 * fail, and one that starts waits. Memory is bounded by the largest record. Only a copy that was
 * read to its end can be imported. Read it to its end or cancel it.
 *
 * @param store The store; for a sealed one, the `SealedStore`.
 * @param options The device, and options.
 * @returns The copy. It fails with a `StoreInUseError` if a process uses the device, with a
 * `StoreError` if the store has no record of it or it is about to be imported, and with a
 * `StoreKeyError` if a record does not open.
 *
 * @example
 * ```ts
 * import { exportDevice, importDevice, MemoryStore, SealedStore } from "@greenroom/matrix";
 *
 * const old = new MemoryStore(); // or whatever the bot has run on
 * await old.commit([{ type: "set", key: ["@bot:example.org", "DEVICE", "sync"], value: { nextBatch: "s1" } }]);
 *
 * const sealed = await SealedStore.open(new MemoryStore(), crypto.getRandomValues(new Uint8Array(32)));
 * const copy = exportDevice(old, { mxid: "@bot:example.org", deviceId: "DEVICE" });
 * const { records } = await importDevice(sealed, copy);
 * console.assert(records === 1);
 * ```
 */
export function exportDevice(
  store: Store,
  options: ExportDeviceOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  checkOptions(options, { mxid: true, deviceId: true, ...COPYING }, "export a device");
  return ReadableStream.from(exported(store, options));
}

async function* exported(
  store: Store,
  { mxid, deviceId, key, onProgress, signal, clock }: ExportDeviceOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  signal?.throwIfAborted();
  const prefix = [mxid, deviceId];
  await assertUsable(store, prefix);
  if (!await hasRecords(store, prefix)) {
    throw new StoreError(
      `Cannot export the device ${prefix.join(" ")}: the store has no record of it; check both IDs`,
    );
  }
  const chunks = await ChunkWriter.begin(key);
  const owner = { held: "refuse", owner: "an export", duration: COPY_LEASE } as const;
  const lease = await Lease.acquire(store, prefix, { ...owner, clock, signal });
  let [records, bytes, isEnded] = [0, 0, false];
  const noted = (chunk: Uint8Array<ArrayBuffer>) => {
    bytes += chunk.length;
    onProgress?.({ records, bytes });
    return chunk;
  };
  const stillOurs = async () => {
    signal?.throwIfAborted();
    const renewal = lease.renewal();
    if (renewal.length > 0 && !await store.commit(renewal, lease.checks)) throw await lease.lost();
  };
  try {
    await assertUsable(store, prefix);
    yield noted(chunks.preamble);
    yield* chunks.add(writeItem(["device", mxid, deviceId]));
    for await (const entry of store.list(prefix)) {
      const path = entry.key.slice(prefix.length);
      if (isLocal(path)) continue;
      records++;
      for await (const chunk of chunks.add(writeItem(["record", path, entry.value]))) {
        await stillOurs();
        yield noted(chunk);
      }
    }
    for await (const chunk of chunks.add(writeItem(["end", records]))) yield noted(chunk);
    signal?.throwIfAborted();
    // Only now it is certain that no other process has written meanwhile.
    if (!await lease.release()) throw await lease.lost();
    isEnded = true;
    yield noted(await chunks.end());
  } finally {
    if (!isEnded) await lease.release().catch(() => {}); // it expires by itself
  }
}

/**
 * Imports a copy of a device into a store without records of it.
 *
 * All records count together, when the whole stream was read and verified. If it fails, or the
 * process ends, none count: no client uses a device that was imported in part, and the next import
 * removes what is left.
 *
 * @param store The store; for a sealed one, the `SealedStore`.
 * @param stream The stream of {@linkcode exportDevice}, in chunks of any size. It is read to its
 * end, or cancelled.
 * @param options Options.
 * @returns The imported device.
 * @throws {StoreFormatError} If the stream is not a copy, damaged, cut off, or of a newer version.
 * The store is unchanged.
 * @throws {StoreKeyError} If the key is wrong or missing, or the copy is not sealed and a key was
 * given. The store is unchanged.
 * @throws {StoreInUseError} If a client or another import uses the device in this store.
 * @throws {StoreError} If the store has records of the device already. It is unchanged.
 * @throws The reason of `signal`, if it is aborted. The store is unchanged.
 *
 * @example A copy that is sealed
 * ```ts
 * import { exportDevice, importDevice, MemoryStore } from "@greenroom/matrix";
 *
 * const [here, there] = [new MemoryStore(), new MemoryStore()];
 * await here.commit([{ type: "set", key: ["@bot:example.org", "DEVICE", "sync"], value: { nextBatch: "s1" } }]);
 *
 * const key = crypto.getRandomValues(new Uint8Array(32));
 * const copy = exportDevice(here, { mxid: "@bot:example.org", deviceId: "DEVICE", key }); // write it to a file
 * const { deviceId, bytes } = await importDevice(there, copy, { key }); // or the file's `readable`
 * console.assert(deviceId === "DEVICE" && bytes > 0);
 * ```
 */
export async function importDevice(
  store: Store,
  stream: ReadableStream<Uint8Array>,
  options: DeviceCopyOptions = {},
): Promise<ImportedDevice> {
  checkOptions(options, COPYING, "import a device");
  const { key, onProgress, signal, clock } = options;
  const bytes = new ByteReader(stream, signal);
  try {
    const chunks = await ChunkReader.begin(bytes, key);
    const items = new ItemReader(chunks.read());
    const device = await items.device();
    const target = await ImportTarget.take(store, [device.mxid, device.deviceId], clock, signal);
    let records = 0;
    let told = 0;
    try {
      for await (const { path, value, size } of items.records()) {
        signal?.throwIfAborted();
        await target.put(path, value, size);
        records++;
        if (bytes.count === told) continue;
        told = bytes.count;
        onProgress?.({ records, bytes: told });
      }
      signal?.throwIfAborted();
      await target.finish();
    } catch (error) {
      await target.abandon();
      throw error;
    }
    onProgress?.({ records, bytes: bytes.count });
    return { ...device, records, bytes: bytes.count };
  } finally {
    await bytes.cancel(undefined);
  }
}

/**
 * Moves all of a store into another, so that nobody writes to the old one any more.
 *
 * @module
 */

import { listDevices, type Store, type StoreMutation } from "../../../mod.ts";
import { StoreError } from "../../../errors.ts";
import { isDeviceKey, isLocal, Lease, readSchema, sealKey } from "../../store/device/mod.ts";

/** How many records a commit has. */
const BATCH = 100;
/** What stands in place of a seal in a store that has moved. */
const MOVED = { format: "moved" };

/** What belongs to a move. */
interface MoveOptions {
  /** Has bots use the new store, which is whole. If it fails, the old store is as it was. */
  readonly settle: () => Promise<void>;
  /** Ends it before that. */
  readonly signal: AbortSignal;
}

/**
 * Copies all records, and marks the old store as sealed: a process that waits for a device of it, or has the
 * file open, is refused from then on. The devices are held until the new store is settled.
 *
 * @throws {StoreInUseError} If a process has one of the devices.
 */
export async function moveAll(from: Store, to: Store, { settle, signal }: MoveOptions): Promise<void> {
  const leases: Lease[] = [];
  try {
    for (const { mxid, deviceId } of await Array.fromAsync(listDevices(from))) {
      leases.push(
        await Lease.acquire(from, [mxid, deviceId], { held: "refuse", owner: "greenroom store seal" }),
      );
      await readSchema(from, [mxid, deviceId]);
    }
    await copyAll(from, to, { leases, signal });
    await commitHeld(from, leases, [{ type: "set", key: sealKey, value: MOVED }]);
    try {
      await settle();
    } catch (error) {
      await from.commit([{ type: "delete", key: sealKey }]);
      throw error;
    }
  } finally {
    await Promise.allSettled(leases.map((lease) => lease.release())); // else they expire
  }
}

/** Whether all of a store has moved into another. */
export async function isMovedAway(store: Store): Promise<boolean> {
  const [entry] = await store.getMany([sealKey]);
  return (entry?.value as Partial<typeof MOVED> | undefined)?.format === MOVED.format;
}

async function copyAll(
  from: Store,
  to: Store,
  { leases, signal }: { readonly leases: readonly Lease[]; readonly signal: AbortSignal },
): Promise<void> {
  let batch: StoreMutation[] = [];
  const flush = async () => {
    signal.throwIfAborted();
    const renewals = leases.flatMap((lease) => lease.renewal());
    if (renewals.length > 0) await commitHeld(from, leases, renewals);
    await to.commit(batch);
    batch = [];
  };
  for await (const { key, value } of from.list([])) {
    if (isDeviceKey(key) && isLocal(key.slice(2))) continue;
    batch.push({ type: "set", key, value });
    if (batch.length === BATCH) await flush();
  }
  await flush();
  signal.throwIfAborted();
}

async function commitHeld(
  store: Store,
  leases: readonly Lease[],
  mutations: readonly StoreMutation[],
): Promise<void> {
  if (await store.commit(mutations, leases.flatMap(({ checks }) => checks))) return;
  throw new StoreError("Cannot move the store: another process has taken a device of it; stop the bot");
}

/**
 * Reads what was sent to a dehydrated device, page by page.
 *
 * @module
 */

import type { CryptoHandlers, EngineRunner } from "../../actors/crypto/mod.ts";
import { ActorError, type ActorRef, ActorStoppedError } from "../../actors/kernel/mod.ts";
import type { ReadingState, RehydratedOutput, RehydratedPage } from "../../crypto/dehydration/mod.ts";
import { ForbiddenError } from "../../errors/request_errcodes.ts";
import type { DehydratedDevice, DehydratedDeviceEvents } from "../../types/api/dehydrated_device.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { DehydrationAPI } from "./dehydration.ts";

/** How many messages the engine receives in one step. */
const STEP = 100;

/**
 * Reads a device to its end, from where an earlier process has left it.
 *
 * @returns Whether it need not be asked for again: false if another client has replaced it meanwhile.
 */
export async function rehydrate(
  engine: EngineRunner,
  api: DehydrationAPI,
  device: DehydratedDevice,
): Promise<boolean> {
  const { actor, log } = engine;
  const { device_id: deviceId } = device;
  let outcome = await actor.beginRehydration(device);
  if (outcome === "busy") {
    await clearRehydration(actor);
    outcome = await actor.beginRehydration(device);
  }
  if (outcome !== "reading") {
    log.warn(
      "The dehydrated device can't be read, and is replaced: it was made with another key than the stored one, " +
        "or the server has changed it",
      { deviceId },
    );
    return true;
  }
  let { reading } = await actor.dehydrationState();
  while (reading?.isRead === false) {
    const page = await pageOf(engine, api, { deviceId, from: reading.from });
    if (page === undefined) return false;
    reading = await received(engine, deviceId, page);
  }
  const { messages, keys } = reading ?? {};
  log.info("Read what was sent to the dehydrated device", { deviceId, messages, keys });
  return true;
}

/** Clears what is left of a device that was read. */
export async function clearRehydration(actor: ActorRef<CryptoHandlers>): Promise<void> {
  while (!await actor.clearRehydration());
}

/** A page; undefined: the device is not the account's any more. */
async function pageOf(
  { signal }: EngineRunner,
  api: DehydrationAPI,
  { deviceId, from }: Pick<ReadingState, "deviceId" | "from">,
): Promise<DehydratedDeviceEvents | undefined> {
  try {
    return await api.getDehydratedDeviceEvents(deviceId, { from, signal });
  } catch (error) {
    if (error instanceof ForbiddenError) return undefined;
    throw error;
  }
}

/** Has a page received: the next one begins only when all of this one is durable. */
async function received(
  engine: EngineRunner,
  deviceId: DeviceID,
  { events, next_batch }: DehydratedDeviceEvents,
): Promise<ReadingState | undefined> {
  const from = events.length === 0 ? undefined : next_batch ?? undefined;
  for (let start = 0;; start += STEP) {
    const isLast = start + STEP >= events.length;
    const some = events.slice(start, start + STEP);
    const { reading } = await taken(engine, { deviceId, events: some, ...(isLast && { next: { from } }) });
    if (isLast) return reading;
  }
}

/** If a message fails the step in an unforeseen way, that one is left out: it would come each time. */
async function taken(engine: EngineRunner, page: RehydratedPage): Promise<RehydratedOutput> {
  try {
    return await step(engine, page);
  } catch (error) {
    if (error instanceof ActorError || error instanceof ActorStoppedError) throw error;
    const { deviceId, events, next } = page;
    for (const event of events) {
      await step(engine, { deviceId, events: [event] }).catch((cause) => {
        if (cause instanceof ActorError || cause instanceof ActorStoppedError) throw cause;
        engine.log.error("Skipped a message to the dehydrated device", { error: String(cause) });
      });
    }
    return await step(engine, { deviceId, events: [], ...(next && { next }) });
  }
}

async function step(
  engine: EngineRunner,
  page: RehydratedPage,
): Promise<RehydratedOutput> {
  const output = await engine.actor.receiveRehydrated(page);
  engine.deliver(output.recovered);
  engine.requests.wake();
  return output;
}

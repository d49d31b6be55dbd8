/**
 * What is sent to a device: the homeserver keeps it until it is asked for what comes after.
 *
 * Transactions have that, too, but homeservers drop it while the application service is down. So it
 * is read here, and transactions say when there is something.
 *
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import { RecentSet } from "../base/recent_map.ts";
import { isJsonObject } from "../types/json.ts";
import { type HTTPAPI, Session } from "../api/http/mod.ts";
import { freshFilter, type SyncAPI, syncAPI, type SyncOptions } from "../api/server/server.ts";
import type { SyncFeed } from "../actors/syncer/syncer.ts";
import type { Filter } from "../types/events/sync_response.ts";
import { PresenceState } from "../types/enums.ts";
import type { SyncToken } from "../types/ids.ts";
import type { Entry } from "./inbox.ts";
import type { DevicePart, Transaction } from "./transaction.ts";

/** Nothing but what belongs to the device. */
const DEVICE_ALONE: Filter = {
  presence: { not_types: ["*"] },
  account_data: { not_types: ["*"] },
  room: { rooms: [] },
};
/** With so many messages there may be more: servers send no more than that at once. */
const FULL_PAGE = 100;

/** What a device was sent. */
interface DevicePage {
  /** That, changed devices of others, and how many keys are left. */
  readonly part: DevicePart;
  /** Where it goes on. Asking for that has the homeserver delete what the page has. */
  readonly next: SyncToken;
  /** Whether there may be more. */
  readonly isFull: boolean;
}

/** Reads what is sent to a device. */
export class DeviceQueue {
  readonly #sync: SyncAPI["sync"];

  /** @param sync Asks the homeserver, as the device. */
  constructor(sync: SyncAPI["sync"]) {
    this.#sync = sync;
  }

  /** Reads a page. By default the server does not wait for something. */
  async read({ since, timeout = 0, signal }: SyncOptions): Promise<DevicePage> {
    const response = await this.#sync({
      since,
      timeout,
      filterId: timeout === 0 ? freshFilter(DEVICE_ALONE) : DEVICE_ALONE,
      setPresence: PresenceState.OFFLINE, // that it reads says nothing of anybody
      signal,
    });
    const { to_device, device_lists, device_one_time_keys_count, device_unused_fallback_key_types } =
      response;
    const part = { to_device, device_lists, device_one_time_keys_count, device_unused_fallback_key_types };
    const { events } = to_device ?? {};
    const isFull = Array.isArray(events) && events.length >= FULL_PAGE;
    return { part, next: response.next_batch, isFull };
  }
}

/** Makes the queue of the device that a transport acts as. */
export function deviceQueue(http: HTTPAPI): DeviceQueue {
  return new DeviceQueue(syncAPI(new Session(http)).sync);
}

/** What a user that does not sync is sent to its device, and nothing of rooms. */
export class DeviceFeed implements SyncFeed {
  readonly showsRooms = false;
  readonly #queue: DeviceQueue;

  /** @param queue Reads it. */
  constructor(queue: DeviceQueue) {
    this.#queue = queue;
  }

  isOwn(): boolean {
    return false;
  }

  /** The next page. */
  readonly sync: SyncFeed["sync"] = async ({ since, timeout, signal } = {}) => {
    const { part, next } = await this.#queue.read({ since, timeout, signal });
    return { ...part, next_batch: next };
  };
}

/** The device of the application service's own user. */
export interface OwnDevice {
  readonly userId: string;
  /** The device's ID, which the devices of the other users have as well. */
  readonly deviceId: string;
}

/**
 * How often the device's queue is looked at even if no transaction says that there is something, in
 * milliseconds: those may have been dropped.
 */
const LOOK_AT_QUEUE_EVERY = 60_000;
/** How many sessions are remembered, so that their events do not have the queue looked at. */
const MAX_SESSIONS = 10_000;

/** What a transaction says of a device's keys, in a form that can be compared; empty: nothing. */
function keysOf(transaction: Transaction, { userId, deviceId }: OwnDevice): string {
  const found = (["device_one_time_keys_count", "device_unused_fallback_key_types"] as const).map((name) => {
    const devices = transaction[name]?.[userId];
    return isJsonObject(devices) ? devices[deviceId] : undefined;
  });
  return found.every((value) => value === undefined) ? "" : JSON.stringify(found);
}

/** Says when the queue has to be looked at. */
export class QueueWatch {
  readonly #device: OwnDevice;
  readonly #clock: Clock;
  readonly #onDevice: (userId: string) => void;
  /** What was said last of the keys that are left. */
  #keys = "";
  /** The sessions whose events have had the queue looked at. */
  readonly #sessions = new RecentSet<string>(MAX_SESSIONS);
  /** When the queue was looked at, and nothing was left in it; undefined: there may be something. */
  #looked: number | undefined;

  /**
   * @param device Whose queue it is.
   * @param clock Measures time.
   * @param onDevice Receives the other users whose devices were sent something.
   */
  constructor(device: OwnDevice, clock: Clock, onDevice: (userId: string) => void) {
    [this.#device, this.#clock, this.#onDevice] = [device, clock, onDevice];
  }

  /** Whether the queue has to be looked at, whatever the transactions say. */
  get isDue(): boolean {
    return this.#looked === undefined || elapsed(this.#clock.now(), this.#looked) >= LOOK_AT_QUEUE_EVERY;
  }

  /** Notes that nothing was left in it at a time, in milliseconds since the epoch. */
  looked(at: number): void {
    this.#looked = at;
  }

  /**
   * Notes what transactions say of devices: whether the queue has to be looked at before their events
   * are delivered. It has to for the first event of a session, too: the message with its key may
   * have been dropped from the transactions.
   */
  note(entries: readonly Entry[]): void {
    const device = this.#device;
    for (const { transaction } of entries) {
      for (const message of transaction.to_device) {
        if (!isJsonObject(message) || message.to_device_id !== device.deviceId) continue;
        if (message.to_user_id === device.userId) this.#looked = undefined;
        else if (typeof message.to_user_id === "string") this.#onDevice(message.to_user_id);
      }
      const keys = keysOf(transaction, device);
      if (keys !== "" && keys !== this.#keys) [this.#keys, this.#looked] = [keys, undefined];
      for (const event of transaction.events) this.#noteSession(event);
    }
  }

  #noteSession(event: unknown): void {
    if (!isJsonObject(event) || event.type !== "m.room.encrypted" || !isJsonObject(event.content)) return;
    const { session_id: session } = event.content;
    if (typeof session !== "string" || this.#sessions.has(session)) return;
    this.#sessions.add(session);
    this.#looked = undefined;
  }
}

/**
 * What is sent to a device: the homeserver keeps it until it is asked for what comes after.
 *
 * Transactions have that, too, but homeservers drop it while the application service is down. So it
 * is read here, and transactions say when there is something.
 *
 * @module
 */

import { type HTTPAPI, Session } from "../api/http/mod.ts";
import { freshFilter, type SyncAPI, syncAPI } from "../api/server/server.ts";
import type { SyncFeed } from "../actors/syncer/syncer.ts";
import type { Filter } from "../types/api/filter.ts";
import { PresenceState } from "../types/enums.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";
import type { SyncToken } from "../types/ids.ts";

/** Nothing but what belongs to the device. */
const DEVICE_ALONE: Filter = {
  presence: { not_types: ["*"] },
  account_data: { not_types: ["*"] },
  room: { rooms: [] },
};
/** With so many messages there may be more: servers send no more than that at once. */
const FULL_PAGE = 100;

/** What of a sync response belongs to the device. */
export type DevicePart = Pick<
  SyncResponse,
  "to_device" | "device_lists" | "device_one_time_keys_count" | "device_unused_fallback_key_types"
>;

/** What a device was sent. */
interface DevicePage {
  /** That, changed devices of others, and how many keys are left. */
  readonly part: DevicePart;
  /** Where it goes on. Asking for that has the homeserver delete what the page has. */
  readonly next: SyncToken;
  /** Whether there may be more. */
  readonly isFull: boolean;
}

/** Options of {@link DeviceQueue.read}. */
interface ReadOptions {
  /** Where to go on; undefined: from the start. */
  readonly since: SyncToken | undefined;
  /** How long the server waits for something, in milliseconds. Default: 0. */
  readonly timeout?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

/** Reads what is sent to a device. */
export class DeviceQueue {
  readonly #sync: SyncAPI["sync"];

  /** @param sync Asks the homeserver, as the device. */
  constructor(sync: SyncAPI["sync"]) {
    this.#sync = sync;
  }

  /** Reads a page. */
  async read({ since, timeout = 0, signal }: ReadOptions): Promise<DevicePage> {
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

/** What is sent to the device that a transport acts as. */
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

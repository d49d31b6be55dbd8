/**
 * When the queue of the own device has to be looked at: transactions say that something was sent to
 * it, or may have been dropped.
 *
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import { RecentMap } from "../base/recent_map.ts";
import { isJsonObject } from "../types/json.ts";
import type { Entry } from "./inbox.ts";
import type { Transaction } from "./transaction.ts";

/** The device of the application service's own user. */
export interface OwnDevice {
  readonly userId: string;
  /** The device's ID, which the devices of the other users have as well. */
  readonly deviceId: string;
}

/** What a watch works with. */
interface QueueWatchOptions {
  /** Whose queue it is. */
  readonly device: OwnDevice;
  /** The queue; undefined: there is none, it does not encrypt. */
  readonly queue: object | undefined;
  /** Is told whose devices were sent something, of the other users. */
  readonly onDevice: (userId: string) => void;
  /** Measures time. */
  readonly clock: Clock;
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
  readonly #options: QueueWatchOptions;
  /** What was said last of the keys that are left. */
  #keys = "";
  /** The sessions whose events have had the queue looked at. */
  readonly #sessions = new RecentMap<string, string>(MAX_SESSIONS);
  /** When the queue was looked at, and nothing was left in it; undefined: there may be something. */
  #looked: number | undefined;

  /** @param options What it works with. */
  constructor(options: QueueWatchOptions) {
    this.#options = options;
  }

  /** Whether the queue has to be looked at, whatever the transactions say. */
  get isDue(): boolean {
    const { queue, clock } = this.#options;
    if (queue === undefined) return false;
    return this.#looked === undefined || elapsed(clock.now(), this.#looked) >= LOOK_AT_QUEUE_EVERY;
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
    const { device, onDevice } = this.#options;
    for (const { transaction } of entries) {
      for (const message of transaction.to_device) {
        if (!isJsonObject(message) || message.to_device_id !== device.deviceId) continue;
        if (message.to_user_id === device.userId) this.#looked = undefined;
        else if (typeof message.to_user_id === "string") onDevice(message.to_user_id);
      }
      const keys = keysOf(transaction, device);
      if (keys !== "" && keys !== this.#keys) [this.#keys, this.#looked] = [keys, undefined];
      for (const event of transaction.events) this.#noteSession(event);
    }
  }

  #noteSession(event: unknown): void {
    if (!isJsonObject(event) || event.type !== "m.room.encrypted" || !isJsonObject(event.content)) return;
    const { session_id: session } = event.content;
    if (typeof session !== "string" || this.#sessions.get(session) !== undefined) return;
    this.#sessions.set(session, session);
    this.#looked = undefined;
  }
}

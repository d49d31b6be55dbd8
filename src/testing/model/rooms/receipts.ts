/**
 * Read receipts of a room.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#receipts | Receipts}
 * @module
 */

import type { EventID, UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";

/** One receipt: a user has one of each type and thread. */
interface Receipt {
  /** Whose it is. */
  readonly user: UserID;
  /** `m.read` or `m.read.private`. */
  readonly type: string;
  /** The event that was read. */
  readonly event: EventID;
  /** The index of that event in the room. */
  readonly index: number;
  /** The thread, `main`, or `undefined` for an unthreaded receipt. */
  readonly thread: string | undefined;
  /** When it was sent, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Where it lies in the stream. */
  readonly position: number;
}

/** The receipts of a room. */
export class Receipts {
  readonly #receipts = new Map<string, Receipt>();
  #latest = 0;

  /**
   * Stores a receipt, unless the user has one further down already. Returns whether it was stored.
   */
  set(receipt: Receipt): boolean {
    const key = JSON.stringify([receipt.user, receipt.type, receipt.thread ?? null]);
    const old = this.#receipts.get(key);
    if (old !== undefined && old.index >= receipt.index) return false;
    this.#receipts.set(key, receipt);
    this.#latest = receipt.position;
    return true;
  }

  /**
   * The receipts that `viewer` may see and that changed after `position`. An unthreaded one, of any
   * type and private or not, takes the place of those that its user has for the event in threads.
   */
  since(position: number, viewer: UserID): Receipt[] {
    if (this.#latest <= position) return [];
    const changed = [...this.#receipts.values()].filter((receipt) => receipt.position > position);
    const userAndEvent = ({ user, event }: Receipt) => `${user} ${event}`;
    const unthreaded = new Set(changed.filter(({ thread }) => thread === undefined).map(userAndEvent));
    return changed.filter((receipt) =>
      (receipt.thread === undefined || !unthreaded.has(userAndEvent(receipt))) &&
      (receipt.type !== "m.read.private" || receipt.user === viewer)
    );
  }

  /** The receipts of a user. */
  of(user: UserID): Receipt[] {
    return [...this.#receipts.values()].filter((receipt) => receipt.user === user);
  }
}

/** The content of an `m.receipt` event. */
export function receiptContent(receipts: readonly Receipt[]): JsonObject {
  const content: Record<string, Record<string, Record<string, JsonObject>>> = {};
  for (const { event, type, user, timestamp, thread } of receipts) {
    const byType = content[event] ??= {};
    const byUser = byType[type] ??= {};
    byUser[user] = thread === undefined ? { ts: timestamp } : { ts: timestamp, thread_id: thread };
  }
  return content;
}

/**
 * The delivery that a handler's call belongs to, so that a handler that runs again sends with the
 * same transaction IDs.
 *
 * @module
 */

import type { RoomID, TransactionID, UserID } from "../types/ids.ts";

/** An event or message that is about to be sent, before it is encrypted. */
export interface Outgoing {
  /** The room; absent of what goes to devices. */
  readonly roomId?: RoomID;
  /** What it is. */
  readonly type: string;
  readonly content: unknown;
  /** As whom it is sent, if not as the own user. */
  readonly asUserId?: UserID;
  /** Whether the server sees what it says. Default: false. */
  readonly inClear?: boolean;
}

/** One run of one handler for one event. */
export interface HandlerScope {
  /** The same in every run of this handler for this event, also after a restart. */
  readonly name: string;
  /**
   * Makes the transaction ID of a send: the same in every run that sends the same as often, or
   * under the same key.
   *
   * @throws {ValueError} If the run has used the key for another type, or in another room.
   */
  transactionId(outgoing: Outgoing, key: string | undefined): Promise<TransactionID>;
}

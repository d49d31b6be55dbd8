/**
 * What messages to the Dispatcher carry: the events of a sync response in one.
 *
 * Events that were decrypted have on them how (`noteEncryption()`), which no port carries: the
 * Dispatcher is where the Syncer is.
 *
 * @module
 */

import type { MatrixEvent } from "../../types/events/event.ts";
import type { RoomID, SyncToken } from "../../types/ids.ts";
import type { InternalEvents } from "../../types/events/internal_event.ts";
import type { InternalEventType } from "../../types/events/internal_event_type.ts";

/** An internal event: one that Greenroom makes. */
export type InternalDelivery = {
  [Type in InternalEventType]: { readonly type: Type; readonly data: InternalEvents[Type] };
}[InternalEventType];

/** What happened in one room. */
export interface RoomBatch {
  readonly roomId: RoomID;
  /** Whether and from where events are missing in front of the timeline. */
  readonly gap: InternalDelivery | undefined;
  /** State and timeline, in order. */
  readonly events: readonly MatrixEvent[];
  /**
   * Those of the events, by their index, that are not delivered: there is only a remark. Undefined:
   * all are.
   */
  readonly ignored: ReadonlySet<number> | undefined;
  /** Internal events about the events, each delivered after the event at its index. */
  readonly remarks: ReadonlyMap<number, InternalDelivery>;
  /** Typing and receipts. */
  readonly ephemeral: readonly MatrixEvent[];
  /** Private data of the room. */
  readonly accountData: readonly MatrixEvent[];
}

/** The events of one sync response, in the order of delivery. */
export interface SyncBatch {
  /** The token that the response ended with. */
  readonly nextBatch: SyncToken;
  /** How many processes in a row have ended before the response was handled. */
  readonly crashes: number;
  /** Counts of keys, changed devices. */
  readonly internal: readonly InternalDelivery[];
  /** Account data, presence, messages to the device. */
  readonly global: readonly MatrixEvent[];
  readonly rooms: readonly RoomBatch[];
}

/**
 * What the Dispatcher can be asked: to deliver events to handlers, one message per sync response.
 *
 * Events that were decrypted have on them how (`noteEncryption()`), which no port carries: the
 * Dispatcher is where the Syncer is.
 *
 * @module
 */

import type { RecoveredEvent } from "../../crypto/megolm/decrypted.ts";
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
  /** The room. */
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
  /** Rooms. */
  readonly rooms: readonly RoomBatch[];
}

/** The messages of the Dispatcher actor. */
export interface DispatcherProtocol {
  /**
   * Starts the handlers of a batch. Answered when those that are to be waited for have settled, and
   * not too many of the others are still at work.
   *
   * @returns The number of the batch.
   */
  dispatch(batch: SyncBatch): number;
  /**
   * Starts the handlers of events that had been waiting for their keys, and notes it when they have
   * settled. Answered when those have settled that are to be waited for.
   */
  recover(events: readonly RecoveredEvent[]): void;
  /** Answered when all handlers of a batch have settled. */
  settled(batch: number): void;
  /**
   * Answered when all handlers that have been started by now have settled, and the store has
   * recorded that: durably, or, if there is `later`, with the next commit.
   */
  noted(body: { readonly later: boolean } | undefined): void;
  /**
   * Delivers an event that was left out again. Answered when its handlers have settled.
   *
   * @throws {ValueError} If there is none, or it has no handler.
   */
  redeliver(id: string): void;
  /** Forgets an event that was left out. Answers whether there was one. */
  drop(id: string): boolean;
  /**
   * Delivers one event of Greenroom's own. Answered when the handlers that are to be waited for
   * have settled.
   */
  announce(event: InternalDelivery): void;
}

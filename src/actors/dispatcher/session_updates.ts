/**
 * Changes of sessions that handlers ask for.
 *
 * @module
 */

import type { KvKey } from "../../store/base/mod.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";

/**
 * Changes the state of a session, or returns another one; `null` ends the session. It is given the
 * initial state if there is no session, and must not wait for anything.
 */
export type SessionChange<State extends object> = (state: State) => State | null | void;

/** A change of a session that a handler has asked for. */
export interface SessionUpdate {
  /** What it is. */
  readonly definition: SessionDefinition<object>;
  /** Where it is kept. */
  readonly key: KvKey;
  /** What is made of it. */
  readonly change: (state: never) => object | null | void;
}

/** What commits changes of sessions. */
export interface SessionCommits {
  /**
   * Makes changes, and records a delivery with them.
   *
   * @param updates The changes, in order.
   * @param deliveryId Names the delivery, if it may come again.
   */
  update(updates: readonly SessionUpdate[], deliveryId?: string): Promise<void>;
}

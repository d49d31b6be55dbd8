/**
 * A client, as its encryption uses it.
 *
 * @module
 */

import type { DispatcherHandlers } from "../actors/dispatcher/dispatcher.ts";
import type { ActorRef } from "../actors/kernel/mod.ts";
import type { OpenStore, StateStore, StoreHandlers } from "../actors/store/mod.ts";
import type { ClientAPI } from "../api/api.ts";
import type { Session } from "../api/http/mod.ts";
import type { Logger } from "../base/log.ts";

/** What encryption uses of a client. */
export interface EncryptedClient {
  /** Whose device it is. */
  readonly session: Session;
  /** The operations. */
  readonly api: ClientAPI;
  /** Stores the engine's records. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Says which rooms are encrypted. */
  readonly stateStore: StateStore;
  /** Delivers events whose key came late. */
  readonly dispatcher: ActorRef<DispatcherHandlers>;
  /** Whether the store outlives the process. */
  readonly isDurable: boolean;
  /** Whether the access token was given, and outlives the process. */
  readonly hasToken: boolean;
  /** Whether syncs show what happens in rooms. */
  readonly showsRooms: boolean;
  /** Where encryption logs. */
  readonly log: Logger;
}

/**
 * What the Syncer is made of.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { PresenceState } from "../../types/enums.ts";
import type { InternalEventType } from "../../types/events/internal_event_type.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { Crypto } from "../crypto/crypto.ts";
import type { DispatcherProtocol } from "../dispatcher/dispatcher_protocol.ts";
import type { OpenStore } from "../store/store_opener.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";
import type { SyncContext } from "./sync_batch.ts";
import type { SyncRequests } from "./sync_requests.ts";

/** What the Syncer is made of. */
export interface SyncerOptions {
  /** The way to the server. */
  readonly requests: SyncRequests;
  /** Decrypts; asked for at each response, since it can be set later. */
  readonly crypto: () => Pick<Crypto, "start" | "receiveSync" | "idle"> | undefined;
  /** Which messages count that come in clear into an encrypted room; undefined: all do. */
  readonly acceptClear: () => SyncContext["acceptClear"];
  /** Keeps room state and the token. */
  readonly store: ActorRef<StoreProtocol>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Brings events to handlers. */
  readonly dispatcher: ActorRef<DispatcherProtocol>;
  /** Is called after each sync; never rejects. */
  readonly afterSync: () => Promise<void>;
  /** Is called when the handlers have settled of the first response of a start. */
  readonly afterFirst: () => void;
  /** What to tell others of the user's presence. */
  readonly presence: () => PresenceState;
  /** Whether a handler wants the next request to wait for it. */
  readonly waits: () => boolean;
  /** Whether a handler wants to know of what was before the user came into a room. */
  readonly wantsHistory: () => boolean;
  /** Whether there is a handler of what Greenroom itself tells. */
  readonly wants: (type: InternalEventType) => boolean;
  /** Whether a commit takes time, as on a disk, so that it is worth while to go on meanwhile. */
  readonly isDurable: boolean;
  /** Whether to go on from what was handled, or from what was committed. */
  readonly resume: "handled" | "committed";
  /** Measures waits. */
  readonly clock: Clock;
  /** Where it is told what goes on. */
  readonly log: Logger;
}

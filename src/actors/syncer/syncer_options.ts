/**
 * What the Syncer is made of, how a client syncs, and what a sync has brought. Of an application service a
 * feed takes the homeserver's place: it is sent what happens to all of its users, and one client delivers it.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { PresenceState } from "../../types/enums.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { CryptoHolder, SyncCrypto } from "../crypto/crypto.ts";
import type { Deliverer, DispatcherHandlers, HandlerRegistry } from "../dispatcher/dispatcher.ts";
import type { OpenStore, StoreHandlers } from "../store/mod.ts";
import type { SyncContext } from "./sync_batch.ts";
import type { FiltersAPI } from "../../api/account/account.ts";
import type { MessagesAPI } from "../../api/messages/mod.ts";
import type { SyncAPI, SyncOptions } from "../../api/server/server.ts";
import type { Session } from "../../api/http/mod.ts";
import type { FilterID, SyncToken, UserID } from "../../types/ids.ts";
import type { Filter, SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncWay } from "./window.ts";

/** What the Syncer is made of. */
export interface SyncerOptions {
  /** The way to the server. */
  readonly requests: SyncRequests;
  /** Says who acts. */
  readonly session: Pick<Session, "mxid" | "userId">;
  /** Has what decrypts. */
  readonly encryption: CryptoHolder<SyncCrypto>;
  /** Receives which syncs follow one another. */
  readonly clearRooms: { answered(answer: SyncAnswer): void; interrupted(): void };
  /**
   * Which messages in clear count in an encrypted room, if there is encryption. Undefined: all do.
   */
  readonly acceptClear: SyncContext["acceptClear"];
  /** Stores room state and the token. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Delivers events to handlers. */
  readonly dispatcher: ActorRef<DispatcherHandlers>;
  /** Is called after each sync; never rejects. */
  readonly afterSync: () => Promise<void> | undefined;
  /** Called when the handlers of the first response of a start have settled. */
  readonly first: { resolve(): void };
  /** Has the user's presence as others see it. */
  readonly user: { readonly presence: PresenceState };
  /** Says whether the next request has to wait for a handler, and whether there is one of history. */
  readonly registry: Pick<HandlerRegistry, "waits" | "wantsHistory">;
  /** Says whether there is a handler of a type of internal event. */
  readonly deliverer: Pick<Deliverer, "wantsInternal">;
  /**
   * Whether a commit takes time, as on a disk, so that the next response is worth reading
   * meanwhile.
   */
  readonly isDurable: boolean;
  /** By which sync responses are read. */
  readonly sync: SyncWay;
  /** Where responses come from, if not from the homeserver. */
  readonly feed?: SyncFeed;
  /** Whether to go on from what was handled, or from what was committed. */
  readonly resume: "handled" | "committed";
  /** Measures waits. */
  readonly clock: Clock;
  /** The client's logger. */
  readonly log: Logger;
}

/** What a Syncer asks the homeserver. */
export interface SyncRequests
  extends Pick<SyncAPI, "sync">, Pick<FiltersAPI, "createFilter">, Pick<MessagesAPI, "getMessages"> {
  /** Reads by sliding sync, or from a place that it has written. */
  slide(options: SlideOptions): Promise<SyncResponse>;
  /** Resolves to the failure itself, or to the error that there never was a homeserver. */
  firstContact(error: unknown, signal: AbortSignal): Promise<unknown>;
}

/** What is read by sliding sync. */
export interface SlideOptions extends SyncOptions {
  /**
   * Whether members are loaded lazily; the filter says so, too, which is for the classic sync.
   * Default: as at the place.
   */
  readonly isLazy?: boolean;
}

/** Responses from elsewhere. They follow one another without gaps. */
export interface SyncFeed extends Pick<SyncAPI, "sync"> {
  /** Whether a user is one of those on whose behalf the client is sent events. */
  isOwn(userId: string): boolean;
  /** Whether the responses show what happens in rooms: otherwise that is asked when it matters. */
  readonly showsRooms: boolean;
  /**
   * Ends the client that delivers the responses, since the store has failed for who acts in its handlers,
   * or the token is dead: what they were called with comes again. That client sets it.
   */
  fails?: (cause: unknown) => void;
}

/**
 * Who acts in the responses of a feed: nobody comes and goes, since a room is there as long as any
 * of the users is.
 */
export const NOBODY = "@:" as UserID;

/** A response to a sync. */
export interface SyncAnswer {
  /** Where it begins; undefined: from the start, or nothing is known of that. */
  readonly since: SyncToken | undefined;
  /** Where it ends. */
  readonly nextBatch: SyncToken;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly asked: number;
}

/**
 * How long to wait after syncs that failed, in milliseconds: `base` after the first failure, and twice as
 * long after each that follows, up to `cap`; up to a fifth less by chance.
 */
export interface SyncBackoff {
  /** The first wait, from 100 to 86,400,000. Default: 5,000. */
  readonly base?: number;
  /** The longest wait, from `base` to 86,400,000. Default: 320,000, or `base` if that is more. */
  readonly cap?: number;
}

/** How `start()` syncs. */
export interface StartOptions {
  /**
   * What to sync: a filter, or the ID of one that was uploaded. A filter is uploaded once, and not
   * again after a restart with the same store. One that leaves `m.room.redaction` out of timelines
   * leaves stored state as it was before it was redacted. Default: everything.
   */
  filterData?: FilterID | Filter;
  /**
   * Leaves out members who have not said anything lately; goes into the filter, unless that is
   * given as an ID. Before a message is encrypted, the others are asked for. In the form of sliding sync
   * that Synapse has, it also leaves out state whose type neither is specified nor has a handler, unless a
   * timeline has it: `getState()` reads that. Default: false.
   */
  lazyLoadMembers?: boolean;
  /**
   * Does not deliver what happened before the very first sync: timelines are dropped, and the state
   * that they led to is delivered in their place; account data and messages to the device are not
   * dropped. Default: false.
   */
  ignoreInitialSync?: boolean;
  /**
   * The same for the first sync of this start, whether or not there is a token to go on from: what
   * happened while the bot was away is not delivered. Default: false.
   */
  ignoreFirstSync?: boolean;
  /**
   * Reads what a limited timeline left out, as it does after a pause, and delivers it in front of
   * the timeline: at most so many events a room, and 50,000 in one response. Where that leaves
   * something out, or the server does, a `GAP` event reports it, and so does the log. `false` reads
   * nothing, but for what a crash lets come again; stored state that was redacted in a gap then stays
   * as it was, until `getState()` reads it. Default: 1,000, which is also what `true` means.
   */
  fillGaps?: boolean | number;
  /**
   * How long the server may wait for something to happen, in milliseconds; the first request after a
   * start does not wait. Default: 30,000; 0 of `syncOnce()`.
   */
  timeout?: number;
  /**
   * How long to wait after a sync that failed, unless the server says when to come back. Default: from
   * 5 seconds to 320.
   */
  backoff?: SyncBackoff;
  /** Stops the sync, as `stop()` does. */
  signal?: AbortSignal;
  /**
   * Listens to SIGINT (Ctrl-C) and SIGTERM as long as the client syncs: they close the client, as `close()`
   * does, so that handlers settle within `closeTimeout`, what is to be kept is kept, and the device is free
   * immediately. Then `start()` resolves, and what follows it runs; the process ends when the program is
   * over, or 5 seconds after all clients with this option are closed, with the status 130 or 143, as shells
   * show it for these signals. Under `deno run --watch` the program begins again. A second signal ends the
   * process immediately, and so does the first one without this option. That takes no permission.
   *
   * Programs with another use for signals listen themselves, and give `signal`. No effect where there are no
   * signals, as on Deno Deploy. Default: false.
   */
  signals?: boolean;
}

/**
 * Options of `syncOnce()`: those of `start()`, but for signals, and for `backoff`, since it is not
 * tried again.
 */
export interface SyncOnceOptions extends Omit<StartOptions, "signals" | "backoff"> {
  /**
   * How long the pass may take, in milliseconds. It goes on as long as there is something new, and
   * ends in time: what is left comes with the next. Default: no limit; then it asks the server
   * once, and once more for each call that comes meanwhile.
   */
  passTimeout?: number;
}

/** What `syncOnce()` has done. */
export interface SyncPass {
  /** How many events of rooms, invitations and messages to the device were new. */
  readonly events: number;
  /** How many responses of the server were handled. */
  readonly rounds: number;
  /**
   * What is left because the time was over; undefined: nothing.
   *
   * - `device`: all of it. Another process has the device, and asks the server once more.
   * - `server`: the server has not been asked, or has not answered.
   * - `handlers`: handlers are still at work, or encryption makes requests. They go on as long as
   *   the process lives, and the device stays reserved until they have ended or the lease has run
   *   out. What has not ended then comes again.
   */
  readonly left: "device" | "server" | "handlers" | undefined;
}

/** {@link StartOptions} as they reach the Syncer: plain data. */
export type SyncSettings = Omit<StartOptions, "signal" | "signals">;

/** What one response has brought. */
export interface SyncedOnce {
  /** How many events of rooms, and messages to the device, were new. */
  readonly events: number;
  /** The IDs of the events of rooms, the latest 10,000. */
  readonly ids: readonly string[];
  /** Whether some of them were not the own user's, so that handlers may have sent something. */
  readonly isNews: boolean;
  /** Whether it was the very first response once more: there may be more behind it. */
  readonly isCut: boolean;
  /** Whether all handlers have settled and no request is left. */
  readonly isSettled: boolean;
}

/** How to sync once. */
export interface OnceSettings extends SyncSettings {
  /** Whether the device is handed back afterwards. */
  readonly isPass?: boolean;
}

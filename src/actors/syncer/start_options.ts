/**
 * How a client syncs, and what a sync has brought.
 *
 * @module
 */

import type { Filter } from "../../types/api/filter.ts";
import type { FilterID } from "../../types/ids.ts";

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
   * given as an ID. Default: false.
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
   * How long to wait after a sync that failed, unless the server says when to come back: `base`
   * after the first failure, and twice as long after each that follows, up to `cap`; up to a fifth
   * less by chance. Both in milliseconds, from 100 to 86,400,000, `base` at most `cap`. Default:
   * 5,000 to 320,000, or to `base` if that is more.
   */
  backoff?: { readonly base?: number; readonly cap?: number };
  /** Stops the sync, as `stop()` does. */
  signal?: AbortSignal;
  /**
   * Listens to SIGINT (Ctrl-C) and SIGTERM as long as the client syncs: they close the client, as
   * `close()` does, so that handlers settle within `closeDeadline`, what is to be kept is kept, and
   * the device is free immediately. When all clients with this option are closed, the process ends
   * with the status 130 or 143, as shells show it for these signals; under `deno run --watch` the program
   * begins again. A second signal ends it immediately. That takes no permission. Without it, a signal ends the
   * process immediately.
   *
   * For programs that have nothing else to do at their end; others listen themselves, and give `signal`. No
   * effect where there are no signals, as on Deno Deploy. Default: false.
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
  deadline?: number;
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

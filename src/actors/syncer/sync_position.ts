/**
 * Where a client goes on in the stream of responses, and what it may be shown again there.
 *
 * The Store has two tokens: up to where responses were committed, and up to where they were handled. A
 * process that begins goes on from the second. What was committed behind it comes again, but not as it came
 * then: a server may answer from a cache of minutes, with less, or by a worker that lags behind, or with all
 * at once. So the client catches up until a response ends where the last committed one did, or until one
 * has come that was asked for when no server could lag any more.
 *
 * @module
 */

import type { CatchUp, SyncRecord } from "../../store/device/mod.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { SyncerOptions } from "./syncer_options.ts";

/** For how long a server may lag behind, in milliseconds: Synapse gives answers again for 120,000. */
const LONGEST_CATCH_UP = 600_000;

/** Where to go on. */
export interface SyncPosition {
  /** The token; undefined: from the start. */
  readonly since: SyncToken | undefined;
  /** Whether what follows may have been delivered before. */
  readonly repeated: boolean;
  /** Why what comes behind that may have been, too, as the Store is to keep it; undefined: it was not. */
  readonly again: CatchUp | undefined;
  /**
   * Whether the events of earlier responses have been handled, or will be: what comes again is not
   * handled again.
   */
  readonly handledBefore: boolean;
  /** Whether what follows may have been delivered because the application has moved the position. */
  readonly wasMoved: boolean;
  /** Whether what follows begins at the start, since the server does not know the token any more. */
  readonly anew: boolean;
  /** What the first response ended with, if it is to be handled once more. */
  readonly first: SyncToken | undefined;
}

/** What is known of a position beside what the Store has. */
export interface Life extends Pick<SyncerOptions, "resume"> {
  /** The token of the last response whose handlers have been started by this process. */
  readonly dispatched: SyncToken | undefined;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The place to continue from. What this process has dispatched need not come again, whether or not
 * it has settled.
 */
export function positionIn(
  { nextBatch, handled, first, again: before, anew, ahead }: SyncRecord,
  { dispatched, resume, now }: Life,
): SyncPosition {
  const goesOn = nextBatch === dispatched || resume === "committed";
  const since = goesOn ? nextBatch : anew === undefined ? handled : undefined;
  const isAnew = anew !== undefined && since === undefined;
  const isBack = since !== nextBatch;
  const catchesUp = before !== undefined;
  // Time in which nothing was asked says nothing, nor does a clock that was set back.
  const from = before === undefined || dispatched === undefined || before.from > now ? now : before.from;
  // Encryption may have come further than what was committed: to where is unknown.
  const until = catchesUp ? before.until : ahead === true ? undefined : nextBatch;
  // No server lags behind in the answer to a request this late: it has all that is to come again.
  const again = isBack || ahead === true
    ? { ...(until !== undefined && { until }), from: now }
    : catchesUp && now - from < LONGEST_CATCH_UP
    ? { ...before, from }
    : undefined;
  return {
    since,
    repeated: isBack || (catchesUp && nextBatch !== undefined),
    again,
    handledBefore: since !== undefined && !isBack && ahead !== true && !catchesUp,
    wasMoved: !isBack && before?.moved === true,
    anew: isAnew,
    first: since === undefined && !isAnew ? first : undefined,
  };
}

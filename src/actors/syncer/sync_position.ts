/**
 * Where a client goes on in the stream of responses, and what it may be shown again there.
 *
 * @module
 */

import type { SyncRecord } from "../../store/device/records.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { SyncerOptions } from "./syncer_options.ts";

/** Where to go on. */
export interface SyncPosition {
  /** The token; undefined: from the start. */
  readonly since: SyncToken | undefined;
  /** Whether what follows may have been delivered before. */
  readonly repeated: boolean;
  /**
   * Whether the events of earlier responses have been handled, or will be: what comes again is not
   * handled again.
   */
  readonly handledBefore: boolean;
  /** Whether what follows may have been delivered because the application has moved the position. */
  readonly wasMoved: boolean;
  /** What the first response ended with, if it is to be handled once more. */
  readonly first: SyncToken | undefined;
}

/**
 * The place to continue from. What this process has dispatched need not come again, whether or not
 * it has settled.
 *
 * @param record What the Store has.
 * @param life What this process has dispatched, and what it goes on from at first.
 */
export function positionIn(
  { nextBatch, handled, first, again, ahead }: SyncRecord,
  { dispatched, resume }: Pick<SyncerOptions, "resume"> & { readonly dispatched: SyncToken | undefined },
): SyncPosition {
  const goesOn = nextBatch === dispatched || resume === "committed";
  const since = goesOn ? nextBatch : handled;
  const repeated = since !== nextBatch || again !== undefined;
  return {
    since,
    repeated,
    handledBefore: since !== undefined && !repeated && ahead !== true,
    wasMoved: since === nextBatch && again === "moved",
    first: since === undefined ? first : undefined,
  };
}

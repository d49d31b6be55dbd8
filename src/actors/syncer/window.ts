/**
 * What a response of sliding sync says beside what the classic sync would.
 *
 * A file of its own because the reader sets it, late loaded, and three others use it.
 *
 * @module
 */

import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { KeptResponse } from "../store/mod.ts";

/** What a response of sliding sync has under a symbol, which JSON can't contain. */
export const WINDOW = Symbol("greenroom.window");

/** By which sync a client reads; `auto`: by sliding sync where the homeserver has it. */
export type SyncWay = "classic" | "sliding" | "auto";

/** What the token of a place of sliding sync begins with. */
export const SLIDING = "sliding:";

/** What its rooms have in `state_after` beside events: the pieces of state that are not there any more. */
export const GONE = "greenroom.gone";

/** A page of a gap, as text, with what was asked for. */
export type KeptPage = readonly [asked: string, text: string];

/** How a response of sliding sync goes on from those before. */
export interface SyncWindow {
  /** The token for other requests up to which all rooms had been shown; absent: none had been. */
  readonly since?: SyncToken;
  /** The rooms that are shown as they are, not as they have changed. */
  readonly initial: readonly string[];
  /** Whether those have all of their state. */
  readonly isWhole: boolean;
  /** Whether there were rooms before it that had not been shown, or only as they were long ago. */
  readonly isGrowing: boolean;
  /** Whether that is so because the client has never seen its rooms. */
  readonly isFirst: boolean;
  /** Whether it begins a connection, so that changes of devices may be missing. */
  readonly isNew: boolean;
  /** Whether there is more that can be shown at once. */
  readonly hasMore: boolean;
  /**
   * Which members it has, if they were loaded lazily: those of the timelines and, without a gap, all changes
   * (`lazy`); `some`: others may have changed. Absent: all.
   */
  readonly members?: "lazy" | "some";
  /** Whether it comes again, as it came. Absent: it does not. */
  readonly isKept?: true;
  /** What was read of its gaps, and is kept with it. Absent: it is not kept. */
  readonly pages?: readonly KeptPage[];
}

/**
 * What is kept of a response, which comes again from it.
 *
 * @param since The token that it answers; undefined: the start.
 */
export function keptResponse(
  since: SyncToken | undefined,
  kept: readonly [response: SyncResponse, window: SyncWindow],
): KeptResponse {
  const [{ next_batch: nextBatch }] = kept;
  return { ...(since !== undefined && { since }), nextBatch, text: JSON.stringify(kept) };
}

/**
 * What a response of sliding sync says beside what the classic sync would.
 *
 * A file of its own because the reader sets it, late loaded, and three others use it.
 *
 * @module
 */

import type { SyncToken } from "../../types/ids.ts";

/** What a response of sliding sync has under a symbol, which JSON can't contain. */
export const WINDOW = Symbol("greenroom.window");

/** By which sync a client reads; `auto`: by sliding sync where the homeserver has it. */
export type SyncWay = "classic" | "sliding" | "auto";

/** What the token of a place of sliding sync begins with. */
export const SLIDING = "sliding:";

/** What its rooms have in `state_after` beside events: the pieces of state that are not there any more. */
export const GONE = "greenroom.gone";

/** How a response of sliding sync goes on from those before. */
export interface SyncWindow {
  /** The token for other requests up to which all rooms had been shown; absent: none had been. */
  readonly since?: SyncToken;
  /** The rooms that are shown as they are, not as they have changed. */
  readonly initial: readonly string[];
  /** Whether there were rooms before it that had not been shown, or only as they were long ago. */
  readonly isGrowing: boolean;
  /** Whether that is so because the client has never seen its rooms. */
  readonly isFirst: boolean;
  /** Whether it begins a connection, so that changes of devices may be missing. */
  readonly isNew: boolean;
  /** Whether there is more that can be shown at once. */
  readonly hasMore: boolean;
  /** Whether it comes again, as it came. Absent: it does not. */
  readonly isKept?: true;
}

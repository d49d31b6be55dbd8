/**
 * What the Syncer can be asked.
 *
 * @module
 */

import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncSettings } from "./start_options.ts";

/** The messages of the Syncer actor. */
export interface SyncerProtocol {
  /** Syncs until it is stopped. Answered when it has been; a dead token, or whatever else can't be mended, is fatal. */
  run(settings: SyncSettings): void;
  /** Ends the sync. Answered when it has ended. */
  stop(): void;
  /** Syncs once. Answered when all handlers have settled. */
  once(settings: SyncSettings): SyncResponse;
  /** Takes a response that came some other way. Answered, with the number of its batch, when its handlers have been started. */
  take(response: SyncResponse): number;
}

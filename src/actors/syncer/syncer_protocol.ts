/**
 * What the Syncer can be asked.
 *
 * @module
 */

import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncSettings } from "./start_options.ts";

/** The messages of the Syncer actor. */
export interface SyncerProtocol {
  /**
   * Syncs until it is stopped, and answers then. A dead token, or another final failure, is fatal.
   */
  run(settings: SyncSettings): void;
  /** Ends the sync, and answers when it has ended. */
  stop(): void;
  /** Syncs once, and answers when all handlers have settled. */
  once(settings: SyncSettings): SyncResponse;
  /**
   * Takes a response that was requested elsewhere. Answers with the number of its batch when
   * handlers have been started.
   */
  take(response: SyncResponse): number;
}

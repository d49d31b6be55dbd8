/**
 * What the Syncer can be asked.
 *
 * @module
 */

import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncSettings } from "./start_options.ts";

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

/** The messages of the Syncer actor. */
export interface SyncerProtocol {
  /**
   * Syncs until it is stopped, and answers then. A dead token, or another final failure, is fatal.
   */
  run(settings: SyncSettings): void;
  /** Ends the sync, and answers when it has ended. */
  stop(): void;
  /**
   * Syncs once, and answers when all handlers have settled and encryption has made its requests; or
   * before, if it is cancelled when the response has been taken in. That handlers have settled is
   * recorded durably; or, in a pass, with the commit that hands the device back.
   */
  once(settings: SyncSettings & { readonly isPass?: boolean }): SyncedOnce;
  /**
   * Takes a response that was requested elsewhere. Answers with the number of its batch when
   * handlers have been started.
   */
  take(response: SyncResponse): number;
}

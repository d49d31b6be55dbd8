/**
 * What messages to the Syncer carry, and its answers.
 *
 * @module
 */

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

/** How to sync once. */
export interface OnceSettings extends SyncSettings {
  /** Whether the device is handed back afterwards. */
  readonly isPass?: boolean;
}

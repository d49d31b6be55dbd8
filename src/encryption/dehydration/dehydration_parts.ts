/**
 * What dehydrated devices are made with.
 *
 * @module
 */

import type { KeyBackupHooks } from "../backup/key_backup.ts";
import type { ClientAPI } from "../../api/api.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";

/** What they are made with. */
export interface DehydrationParts extends Pick<KeyBackupHooks, "actor" | "deliver" | "wake"> {
  /** The operations. */
  readonly api: Pick<
    ClientAPI,
    "getDehydratedDevice" | "putDehydratedDevice" | "getDehydratedDeviceEvents" | "uploadSignatures"
  >;
  /** Ends its requests when the client is closed. */
  readonly signal: AbortSignal;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it says what was read, and what is wrong. */
  readonly log: Logger;
}

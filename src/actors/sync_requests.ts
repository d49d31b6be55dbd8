/**
 * The requests that a Syncer makes: operations of the client's API, named here so that a test can script them.
 *
 * @module
 */

import type { FiltersAPI } from "../api/filters.ts";
import type { MessagesAPI } from "../api/messages.ts";
import type { SyncAPI } from "../api/sync.ts";
import type { UserID } from "../types/ids.ts";

/** What a Syncer asks the homeserver. */
export interface SyncRequests
  extends Pick<SyncAPI, "sync">, Pick<FiltersAPI, "createFilter">, Pick<MessagesAPI, "getMessages"> {
  /** The acting user. */
  userId(): Promise<UserID>;
  /** Whether the server knows a version of the specification, or an unstable feature. */
  supports(version: string, unstableFeature?: string): Promise<boolean>;
}

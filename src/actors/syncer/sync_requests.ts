/**
 * The requests that a Syncer makes: operations of the client's API, named here so that a test can script them.
 *
 * @module
 */

import type { FiltersAPI } from "../../api/account/filters.ts";
import type { MessagesAPI } from "../../api/messages/messages.ts";
import type { SyncAPI } from "../../api/server/sync.ts";
import type { UserID } from "../../types/ids.ts";

/** What a Syncer asks the homeserver. */
export interface SyncRequests
  extends Pick<SyncAPI, "sync">, Pick<FiltersAPI, "createFilter">, Pick<MessagesAPI, "getMessages"> {
  /** The acting user. */
  userId(signal?: AbortSignal): Promise<UserID>;
  /** What a failure means: the failure itself, or that there never was a homeserver. */
  firstContact(error: unknown, signal: AbortSignal): Promise<unknown>;
}

/**
 * One sync request, as all parts of its response see it.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import type { Device } from "../model/users/device.ts";
import type { SyncFilter } from "../model/events/event_filter.ts";
import type { ServerState } from "../model/server_state.ts";
import type { User } from "../model/users/user.ts";
import type { SyncToken } from "./sync_token.ts";

/** What a sync is about. */
export interface SyncJob {
  /** The homeserver. */
  readonly server: ServerState;
  /** Who syncs. */
  readonly user: User;
  /** On which device. */
  readonly device: Device;
  /** Where the client stands; `undefined` for an initial sync. */
  readonly since: SyncToken | undefined;
  /** How far this response reaches. */
  readonly until: number;
  /** What the client wants to know. */
  readonly filter: SyncFilter;
  /** Whether all state of all rooms is wanted. */
  readonly fullState: boolean;
  /** Whether state is that at the end of the timeline instead of its start. */
  readonly stateAfter: boolean;
}

/** The stream position that the client has reached; 0 for an initial sync. */
export function startOf(job: SyncJob): number {
  return job.since?.position ?? 0;
}

/** The users whose events the user does not want to see. */
export function ignoredUsers(user: User): ReadonlySet<UserID> {
  const ignored = user.accountData.get("m.ignored_user_list")?.ignored_users;
  return new Set(isJsonObject(ignored) ? Object.keys(ignored) as UserID[] : []);
}

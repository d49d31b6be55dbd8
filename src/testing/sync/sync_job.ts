/**
 * One sync request, as all parts of its response see it.
 *
 * @module
 */

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
  /**
   * The member for state at the end of the timeline, if it is to be that; otherwise it is that at
   * its start, in `state`.
   */
  readonly stateAfter: string | undefined;
}

/** The stream position that the client has reached; 0 for an initial sync. */
export function startOf(job: SyncJob): number {
  return job.since?.position ?? 0;
}

/**
 * One sync request, as all parts of its response see it, and the tokens of sync and of pagination.
 *
 * @module
 */

import { refused } from "../json/json.ts";
import type { SyncFilter } from "../rooms/mod.ts";
import type { ServerState } from "../server/mod.ts";
import type { Device, User } from "../users/mod.ts";

/** What a sync is about. */
export interface SyncJob {
  /** The homeserver. */
  readonly server: ServerState;
  /** Who syncs. */
  readonly user: User;
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

/** A place in the stream. */
interface SyncToken {
  /** The stream position. */
  readonly position: number;
  /** The position of the last to-device message that was told; these come in portions. */
  readonly toDevice: number;
}

/** Writes a token. */
export function formatToken({ position, toDevice }: SyncToken): string {
  return `s${position}_${toDevice}`;
}

/** Writes a token for paginating from a stream position. */
export function pageToken(position: number): string {
  return `t${position}`;
}

/** Reads a token of either kind, or a position of sliding sync in its merged spelling. */
export function parseToken(text: string): SyncToken {
  const [, position, toDevice] = /^[st](\d+)(?:_(\d+))?(?:~\d+)?$/.exec(text) ?? [];
  if (position === undefined) throw refused(`Invalid stream token ${JSON.stringify(text)}`);
  return { position: Number(position), toDevice: Number(toDevice ?? position) };
}

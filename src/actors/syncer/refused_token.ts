/**
 * A server that refuses the token to go on from: its database was restored, or another server has its name.
 *
 * @module
 */

import { freshFilter } from "../../api/server/server.ts";
import { isMatrixRefusal } from "../../api/http/mod.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { StoreError } from "../../errors/store_error.ts";
import { PresenceState } from "../../types/enums.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { SyncPosition } from "./sync_position.ts";
import type { SyncerOptions } from "./syncer_options.ts";

/** The server refuses the token that the Store has, and would answer without one. */
export class RefusedTokenError extends StoreError {}

/** Lets nothing through but the token. */
const NOTHING = { account_data: { types: [] }, presence: { types: [] }, room: { rooms: [] } };

/** After how many failures in a row it is looked whether the token is refused. */
const PATIENCE = 2;

/** What {@link reasonOf} works with. */
export interface FailedSync extends Pick<SyncerOptions, "requests"> {
  /** Where the sync was to go on. */
  readonly position: () => Promise<Pick<SyncPosition, "since">>;
  /** Ends the look. */
  readonly signal: AbortSignal;
  /** How many syncs in a row have failed before. Default: enough to look at once. */
  readonly failures?: number;
}

/** Why a sync has failed: there is no homeserver, it refuses the token, or what it failed with. */
export async function reasonOf(error: unknown, failed: FailedSync): Promise<unknown> {
  const { requests, signal, failures = PATIENCE } = failed;
  const reason = failures >= PATIENCE && isRefusal(error) ? await orRefusedToken(error, failed) : error;
  return await requests.firstContact(reason, signal);
}

/** Whether a homeserver has refused a request for what it asks, and no proxy in its place. */
function isRefusal(error: unknown): boolean {
  return isMatrixRefusal(error) && error instanceof MatrixRequestError &&
    (error.status === 400 || error.status === 404);
}

/**
 * The server may also refuse everything for a while, or the filter; and of several workers one may be at fault:
 * then the error is what the sync failed with.
 */
async function orRefusedToken(error: unknown, failed: FailedSync): Promise<unknown> {
  const { since } = await failed.position();
  const isRefused = since !== undefined && await refuses(failed, since) &&
    await refuses(failed, undefined) === false && await refuses(failed, since);
  if (!isRefused) return error;
  return new RefusedTokenError(
    "Cannot go on with the sync where it was: the homeserver does not know that place, as after its database was " +
      "restored, or it is another one; the client syncs anew, without what it has handled",
    { cause: error },
  );
}

/** Whether the server refuses a sync from a token on, or from the start; undefined: it can't be told. */
async function refuses(
  { requests, signal }: FailedSync,
  since: SyncToken | undefined,
): Promise<boolean | undefined> {
  const filterId = freshFilter(NOTHING);
  try {
    await requests.sync({ since, timeout: 0, filterId, setPresence: PresenceState.OFFLINE, signal });
    return false;
  } catch (error) {
    return isRefusal(error) ? true : undefined;
  }
}

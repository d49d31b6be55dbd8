/**
 * What to do after a sync that failed: why it has, whether that is final, and how long to wait otherwise.
 *
 * A server may refuse the token to go on from: its database was restored, or another server has its name.
 *
 * @module
 */

import { freshFilter } from "../../api/server/server.ts";
import { isMatrixRefusal } from "../../api/http/mod.ts";
import { AuthenticationNeededError, MatrixRequestError } from "../../errors/request_error.ts";
import { StoreError } from "../../errors/store_error.ts";
import { PresenceState } from "../../types/enums.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { SyncPosition } from "./sync_progress.ts";
import type { SyncerOptions } from "./syncer_options.ts";
import type { BackoffRange } from "../../base/clock.ts";
import { DeviceConflictError, OwnIdentityError, SecretStorageError } from "../../errors/encryption_error.ts";
import { MissingPermissionError, ValueError } from "../../errors/matrix_error.ts";
import {
  MissingTokenError,
  UnknownDeviceError,
  UnknownTokenError,
  UserDeactivatedError,
} from "../../errors/account_errcodes.ts";
import { HomeserverAddressError, ServiceResponseError } from "../../errors/service_response_error.ts";
import { ActorError, ActorStoppedError } from "../kernel/mod.ts";
import { SLIDING } from "./window.ts";

/** The server refuses the token that the Store has, and would answer without one. */
export class RefusedTokenError extends StoreError {}

/** The homeserver does not have the sync that the application has chosen. */
export class UnsupportedSyncError extends ValueError {}

/** Lets nothing through but the token. */
export const NOTHING = { account_data: { types: [] }, presence: { types: [] }, room: { rooms: [] } };

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
 * The server may also refuse everything for a while, or the filter;
 * and of several workers one may be at fault: then the error is what the sync failed with.
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
    const ask = since?.startsWith(SLIDING) === true ? requests.slide : requests.sync;
    await ask({ since, timeout: 0, filterId, setPresence: PresenceState.OFFLINE, signal });
    return false;
  } catch (error) {
    return isRefusal(error) ? true : undefined;
  }
}

const DEFAULT: BackoffRange = { base: 5_000, cap: 320_000 };
/** The shortest first wait, in milliseconds: nothing may spin. */
const MIN_BASE = 100;
/** The longest wait, in milliseconds: a day. */
const MAX_CAP = 86_400_000;

/**
 * The waits of a start.
 *
 * @param given The application's choice.
 * @throws {ValueError} If they are out of range.
 */
export function syncBackoff(given: Partial<BackoffRange> = {}): BackoffRange {
  const { base = DEFAULT.base, cap = Math.max(DEFAULT.cap, base) } = given;
  if (base >= MIN_BASE && base <= cap && cap <= MAX_CAP) return { base, cap };
  throw new ValueError(
    `Cannot start to sync: backoff must be from ${MIN_BASE} to ${MAX_CAP} milliseconds, its base not above its cap; ` +
      `not from ${base} to ${cap}`,
  );
}

/**
 * Whether waiting does not help: the token, the device or a part of the client is dead, there is no
 * homeserver, or no permission to ask it; or what the application has given does not verify the device.
 */
export function isFinal(error: unknown): error is Error {
  return error instanceof UnknownTokenError || error instanceof MissingTokenError ||
    error instanceof UserDeactivatedError || error instanceof UnknownDeviceError ||
    error instanceof DeviceConflictError ||
    error instanceof HomeserverAddressError || error instanceof MissingPermissionError ||
    error instanceof ActorError || error instanceof ActorStoppedError ||
    error instanceof OwnIdentityError || error instanceof SecretStorageError ||
    error instanceof AuthenticationNeededError || error instanceof UnsupportedSyncError;
}

/** What was thrown, as an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new ServiceResponseError("Cannot sync", { cause: error });
}

/**
 * What to do after a sync that failed: which failures are final, and how long to wait after the
 * others.
 *
 * @module
 */

import type { BackoffRange } from "../../base/backoff.ts";
import { AuthenticationNeededError } from "../../errors/authentication_needed_error.ts";
import { SecretStorageError } from "../../errors/secret_storage_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import { DeviceConflictError, OwnIdentityError } from "../../errors/encryption_error.ts";
import {
  MissingTokenError,
  UnknownDeviceError,
  UnknownTokenError,
  UserDeactivatedError,
} from "../../errors/account_errcodes.ts";
import { MissingPermissionError } from "../../errors/missing_permission_error.ts";
import { HomeserverAddressError, ServiceResponseError } from "../../errors/service_response_error.ts";
import { ActorError, ActorStoppedError } from "../kernel/mod.ts";

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
 * Whether waiting does not help: the token, the device or a part of the client is dead, there is no homeserver,
 * or no permission to ask it; or what the application has given does not verify the device.
 */
export function isFinal(error: unknown): error is Error {
  return error instanceof UnknownTokenError || error instanceof MissingTokenError ||
    error instanceof UserDeactivatedError || error instanceof UnknownDeviceError ||
    error instanceof DeviceConflictError ||
    error instanceof HomeserverAddressError || error instanceof MissingPermissionError ||
    error instanceof ActorError || error instanceof ActorStoppedError ||
    error instanceof OwnIdentityError || error instanceof SecretStorageError ||
    error instanceof AuthenticationNeededError;
}

/** What was thrown, as an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new ServiceResponseError("Cannot sync", { cause: error });
}

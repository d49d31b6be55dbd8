/**
 * Failures of a sync, and which of them no wait mends.
 *
 * @module
 */

import { DeviceConflictError } from "../../errors/crypto_error.ts";
import { MissingTokenError, UnknownTokenError, UserDeactivatedError } from "../../errors/errcodes.ts";
import { MissingPermissionError } from "../../errors/missing_permission_error.ts";
import { HomeserverAddressError, ServiceResponseError } from "../../errors/service_response_error.ts";
import { ActorError, ActorStoppedError } from "../kernel/actor_error.ts";

/** Whether no wait helps: the token is dead, or a part of the client is; there is no homeserver, or no permission to ask it. */
export function isDeadly(error: unknown): error is Error {
  return error instanceof UnknownTokenError || error instanceof MissingTokenError ||
    error instanceof UserDeactivatedError || error instanceof DeviceConflictError ||
    error instanceof HomeserverAddressError || error instanceof MissingPermissionError ||
    error instanceof ActorError ||
    error instanceof ActorStoppedError;
}

/** What was thrown, as an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new ServiceResponseError("Cannot sync", { cause: error });
}

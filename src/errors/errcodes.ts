/**
 * Errors of requests that any operation may fail with, and of rooms: their versions, aliases, members and
 * power; and which class belongs to which error code of the Matrix specification.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#standard-error-response | Standard error response}
 *
 * Over 300 lines because it is a list of classes and their codes.
 *
 * @module
 */

import * as account from "./account_errcodes.ts";
import {
  AuthenticationNeededError,
  challengeIn,
  MatrixRequestError,
  type RequestErrorInit,
} from "./request_error.ts";

/**
 * `M_FORBIDDEN`: the user may not do this.
 *
 * Mend: Join the room, or have the user given the power.
 */
export class ForbiddenError extends MatrixRequestError {
  /**
   * Makes an error of an answer.
   *
   * @param init What was asked and what was answered.
   */
  constructor(init: RequestErrorInit) {
    super(init);
    if (init.operation !== "login") return;
    this.message +=
      "; check the user ID and the password, or the token, of the login (a bot: MATRIX_USER and MATRIX_PASSWORD)";
  }
}

/**
 * `M_BAD_JSON`: the request's JSON is not what the operation takes.
 *
 * Mend: Correct what you send.
 */
export class BadJsonError extends MatrixRequestError {}

/**
 * `M_NOT_JSON`: the request's body is no JSON.
 *
 * Mend: Check what stands between client and homeserver, such as a proxy.
 */
export class NotJsonError extends MatrixRequestError {}

/**
 * `M_NOT_FOUND`: what was asked for does not exist.
 *
 * Mend: Check the ID; the room may be gone, or not visible to the user.
 */
export class NotFoundError extends MatrixRequestError {}

/** Stands for what the server does not have. @throws Every other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof NotFoundError) return undefined;
  throw error;
}

/**
 * `M_LIMIT_EXCEEDED`: too many requests; `retryAfter` says how long to wait.
 *
 * Mend: Wait for `retryAfter` milliseconds; clients do that by themselves, as far as the retry
 * policy goes.
 */
export class LimitExceededError extends MatrixRequestError {}

/**
 * `M_UNRECOGNIZED`: the server does not know this endpoint or method.
 *
 * Mend: Update the homeserver, or do without the feature.
 */
export class UnrecognizedError extends MatrixRequestError {}

/**
 * `M_UNKNOWN`: the server gave no reason.
 *
 * Mend: Read the message and the homeserver's log.
 */
export class UnknownError extends MatrixRequestError {}

/**
 * `M_MISSING_PARAM`: the request lacks a required parameter.
 *
 * Mend: Give the parameter that the message names.
 */
export class MissingParamError extends MatrixRequestError {}

/**
 * `M_INVALID_PARAM`: a parameter of the request has an impossible value.
 *
 * Mend: Correct the parameter that the message names.
 */
export class InvalidParamError extends MatrixRequestError {}

/**
 * `M_TOO_LARGE`, or the status 413 of a proxy: the request or upload is too large.
 *
 * Mend: Send less, or ask the server's administrator for a higher limit.
 */
export class TooLargeError extends MatrixRequestError {}

/**
 * `M_EXCLUSIVE`: the name is reserved for an application service.
 *
 * Mend: Choose a name outside the namespaces of application services.
 */
export class ExclusiveError extends MatrixRequestError {}

/**
 * `M_RESOURCE_LIMIT_EXCEEDED`: the homeserver has reached a limit of its resources;
 * `body.admin_contact` says whom to ask.
 *
 * Mend: Write to `body.admin_contact`.
 */
export class ResourceLimitExceededError extends MatrixRequestError {}

/**
 * `M_NOT_YET_UPLOADED`: the media was announced and has not been uploaded yet.
 *
 * Mend: Try again later.
 */
export class NotYetUploadedError extends MatrixRequestError {}

/**
 * `M_CANNOT_OVERWRITE_MEDIA`: something has been uploaded to this content URI already.
 *
 * Mend: Upload it to a new content URI.
 */
export class CannotOverwriteMediaError extends MatrixRequestError {}

/**
 * `M_WRONG_ROOM_KEYS_VERSION`: the key backup version is not the current one, which
 * `body.current_version` names.
 *
 * Mend: Look at the backup again; the client does so by itself.
 */
export class WrongRoomKeysVersionError extends MatrixRequestError {}

/**
 * `M_INVALID_SIGNATURE`: a signature does not verify.
 *
 * Mend: Check the keys that signed.
 */
export class InvalidSignatureError extends MatrixRequestError {}

/**
 * `M_CONNECTION_FAILED`: the homeserver could not connect to the application service.
 *
 * Mend: Check the `url` of the registration, and whether it is reachable from there.
 */
export class ConnectionFailedError extends MatrixRequestError {}

/**
 * `M_CONNECTION_TIMEOUT`: the application service did not answer the homeserver in time.
 *
 * Mend: Check whether the application service runs, and answers.
 */
export class ConnectionTimeoutError extends MatrixRequestError {}

/**
 * `M_BAD_STATUS`: the application service answered the homeserver with an error status.
 *
 * Mend: Read the application service's log.
 */
export class BadStatusError extends MatrixRequestError {}

/**
 * `M_URL_NOT_SET`: the application service has no URL.
 *
 * Mend: Set `url` in the registration.
 */
export class UrlNotSetError extends MatrixRequestError {}

/**
 * `M_UNKNOWN_ENDPOINT`: the server does not know this endpoint (an older spelling of
 * `M_UNRECOGNIZED`).
 *
 * Mend: Update the homeserver, or do without the feature.
 */
export class UnknownEndpointError extends MatrixRequestError {}

/**
 * `M_ROOM_IN_USE`: the room alias is taken.
 *
 * Mend: Choose another alias, or resolve this one.
 */
export class RoomInUseError extends MatrixRequestError {}

/**
 * `M_INVALID_ROOM_STATE`: the initial state of the new room is invalid.
 *
 * Mend: Correct `initialState` and the other options of the room.
 */
export class InvalidRoomStateError extends MatrixRequestError {}

/**
 * `M_UNSUPPORTED_ROOM_VERSION`: the server does not support this room version.
 *
 * Mend: Choose a version that `getCapabilities()` lists.
 */
export class UnsupportedRoomVersionError extends MatrixRequestError {}

/**
 * `M_INCOMPATIBLE_ROOM_VERSION`: the server does not support the version of the room to be joined.
 *
 * Mend: Update the homeserver.
 */
export class IncompatibleRoomVersionError extends MatrixRequestError {}

/**
 * `M_BAD_STATE`: the change is not possible in the present state, like unbanning a user who is not
 * banned. Synapse refuses so what other servers refuse with `M_FORBIDDEN`: to join, or to be
 * invited, while banned.
 *
 * Mend: Look at the present state first: unban the user, for one.
 */
export class BadStateError extends ForbiddenError {}

/**
 * `M_CANNOT_LEAVE_SERVER_NOTICE_ROOM`: the server-notices room can't be left.
 *
 * Mend: Stay in it.
 */
export class CannotLeaveServerNoticeRoomError extends MatrixRequestError {}

/**
 * `M_INVITE_BLOCKED`: the invitee does not accept invites from the user.
 *
 * Mend: Ask the user to allow invitations.
 */
export class InviteBlockedError extends MatrixRequestError {}

/**
 * `M_UNABLE_TO_AUTHORISE_JOIN`: the server can't tell whether the restricted join is allowed;
 * another server may.
 *
 * Mend: Join through another server, by the option `servers`.
 */
export class UnableToAuthoriseJoinError extends MatrixRequestError {}

/**
 * `M_UNABLE_TO_GRANT_JOIN`: the server may not let the user join; another server may.
 *
 * Mend: Join through another server, by the option `servers`.
 */
export class UnableToGrantJoinError extends MatrixRequestError {}

/**
 * `M_BAD_ALIAS`: an alias in the event does not exist, or points to another room.
 *
 * Mend: Create the alias first, or leave it out.
 */
export class BadAliasError extends MatrixRequestError {}

/**
 * `M_DUPLICATE_ANNOTATION`: the user has reacted to this event with this key already.
 *
 * Mend: Take it for done.
 */
export class DuplicateAnnotationError extends MatrixRequestError {}

/**
 * `M_ALREADY_JOINED`: the user is in the room already.
 *
 * Mend: Take it for done.
 */
export class AlreadyJoinedError extends ForbiddenError {}

/**
 * `M_NOT_JOINED`: the user is not in the room.
 *
 * Mend: Join the room first.
 */
export class NotJoinedError extends ForbiddenError {}

/**
 * `M_INSUFFICIENT_POWER`: the user's power level is too low for this.
 *
 * Mend: Have the user given the power.
 */
export class InsufficientPowerError extends ForbiddenError {}

const CLASSES: ReadonlyMap<string, typeof MatrixRequestError> = new Map([
  ["M_FORBIDDEN", ForbiddenError],
  ["M_UNKNOWN_TOKEN", account.UnknownTokenError],
  ["M_MISSING_TOKEN", account.MissingTokenError],
  ["M_USER_LOCKED", account.UserLockedError],
  ["M_USER_SUSPENDED", account.UserSuspendedError],
  ["M_USER_DEACTIVATED", account.UserDeactivatedError],
  ["M_BAD_JSON", BadJsonError],
  ["M_NOT_JSON", NotJsonError],
  ["M_NOT_FOUND", NotFoundError],
  ["M_LIMIT_EXCEEDED", LimitExceededError],
  ["M_UNRECOGNIZED", UnrecognizedError],
  ["M_UNKNOWN", UnknownError],
  ["M_UNAUTHORIZED", account.UnauthorizedError],
  ["M_USER_IN_USE", account.UserInUseError],
  ["M_INVALID_USERNAME", account.InvalidUsernameError],
  ["M_ROOM_IN_USE", RoomInUseError],
  ["M_INVALID_ROOM_STATE", InvalidRoomStateError],
  ["M_THREEPID_IN_USE", account.ThreepidInUseError],
  ["M_THREEPID_NOT_FOUND", account.ThreepidNotFoundError],
  ["M_THREEPID_AUTH_FAILED", account.ThreepidAuthFailedError],
  ["M_THREEPID_DENIED", account.ThreepidDeniedError],
  ["M_THREEPID_MEDIUM_NOT_SUPPORTED", account.ThreepidMediumNotSupportedError],
  ["M_SERVER_NOT_TRUSTED", account.ServerNotTrustedError],
  ["M_UNSUPPORTED_ROOM_VERSION", UnsupportedRoomVersionError],
  ["M_INCOMPATIBLE_ROOM_VERSION", IncompatibleRoomVersionError],
  ["M_BAD_STATE", BadStateError],
  ["M_GUEST_ACCESS_FORBIDDEN", account.GuestAccessForbiddenError],
  ["M_CAPTCHA_NEEDED", account.CaptchaNeededError],
  ["M_CAPTCHA_INVALID", account.CaptchaInvalidError],
  ["M_MISSING_PARAM", MissingParamError],
  ["M_INVALID_PARAM", InvalidParamError],
  ["M_TOO_LARGE", TooLargeError],
  ["M_EXCLUSIVE", ExclusiveError],
  ["M_RESOURCE_LIMIT_EXCEEDED", ResourceLimitExceededError],
  ["M_USER_LIMIT_EXCEEDED", account.UserLimitExceededError],
  ["M_CANNOT_LEAVE_SERVER_NOTICE_ROOM", CannotLeaveServerNoticeRoomError],
  ["M_WEAK_PASSWORD", account.WeakPasswordError],
  ["M_INVITE_BLOCKED", InviteBlockedError],
  ["M_UNABLE_TO_AUTHORISE_JOIN", UnableToAuthoriseJoinError],
  ["M_UNABLE_TO_GRANT_JOIN", UnableToGrantJoinError],
  ["M_BAD_ALIAS", BadAliasError],
  ["M_NOT_YET_UPLOADED", NotYetUploadedError],
  ["M_CANNOT_OVERWRITE_MEDIA", CannotOverwriteMediaError],
  ["M_DUPLICATE_ANNOTATION", DuplicateAnnotationError],
  ["M_WRONG_ROOM_KEYS_VERSION", WrongRoomKeysVersionError],
  ["M_INVALID_SIGNATURE", InvalidSignatureError],
  ["M_UNKNOWN_DEVICE", account.UnknownDeviceError],
  ["M_PROFILE_TOO_LARGE", account.ProfileTooLargeError],
  ["M_KEY_TOO_LARGE", account.KeyTooLargeError],
  ["M_APPSERVICE_LOGIN_UNSUPPORTED", account.AppserviceLoginUnsupportedError],
  ["M_CONNECTION_FAILED", ConnectionFailedError],
  ["M_CONNECTION_TIMEOUT", ConnectionTimeoutError],
  ["M_BAD_STATUS", BadStatusError],
  ["M_URL_NOT_SET", UrlNotSetError],
  ["M_SESSION_NOT_VALIDATED", account.SessionNotValidatedError],
  ["M_SESSION_EXPIRED", account.SessionExpiredError],
  ["M_NO_VALID_SESSION", account.NoValidSessionError],
  ["M_UNKNOWN_ENDPOINT", UnknownEndpointError],
  ["M_ALREADY_JOINED", AlreadyJoinedError],
  ["M_NOT_JOINED", NotJoinedError],
  ["M_INSUFFICIENT_POWER", InsufficientPowerError],
]);

/** MSC3848 gives `M_FORBIDDEN` a reason, which the servers that have it put here. */
const UNSTABLE_ERRCODE = "org.matrix.msc3848.unstable.errcode";

/** The error for an answer: of the class that belongs to its error code, or to what it asks for. */
export function requestError(init: RequestErrorInit): MatrixRequestError {
  const { errcode, [UNSTABLE_ERRCODE]: reason } = init.body;
  const Class = classOf(reason) ?? classOf(errcode) ??
    (errcode === undefined && init.status === 413 ? TooLargeError : undefined) ??
    (errcode === undefined && challengeIn(init) ? AuthenticationNeededError : MatrixRequestError);
  return new Class(init);
}

function classOf(errcode: unknown): typeof MatrixRequestError | undefined {
  return typeof errcode === "string" ? CLASSES.get(errcode) : undefined;
}

/**
 * One class for each error code of the Matrix specification.
 *
 * Over 300 lines because it is a table.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#standard-error-response | Standard error response}
 * @module
 */

import { AuthenticationNeededError, challengeIn } from "./authentication_needed_error.ts";
import { MatrixRequestError, type RequestErrorInit } from "./request_error.ts";

/** `M_FORBIDDEN`: the user may not do this. */
export class ForbiddenError extends MatrixRequestError {}

/**
 * `M_UNKNOWN_TOKEN`: the access token is not, or no longer, known: log in again, as
 * {@linkcode UnknownTokenError.softLogout} says.
 */
export class UnknownTokenError extends MatrixRequestError {
  /**
   * Whether the device and its keys are still there: with a login that names it by `deviceId`, or a
   * new token for its refresh token, it goes on. If not, the session is gone, if there ever was
   * one, and its device with it.
   */
  readonly softLogout: boolean;

  /**
   * Makes an error of an answer.
   *
   * @param init What was asked and what was answered.
   */
  constructor(init: RequestErrorInit) {
    super(init);
    this.softLogout = init.body.soft_logout === true;
    this.message += this.softLogout
      ? "; the device is still there, log in with the same device ID"
      : "; there is no such session (any more), log in again";
  }
}

/** `M_MISSING_TOKEN`: the request needs an access token and carried none. */
export class MissingTokenError extends MatrixRequestError {}

/** `M_USER_LOCKED`: the account is locked by its server's administrator; it may be unlocked. */
export class UserLockedError extends MatrixRequestError {}

/**
 * `M_USER_SUSPENDED`: the account is suspended by its server's administrator and may do only a few
 * things.
 */
export class UserSuspendedError extends MatrixRequestError {}

/** `M_USER_DEACTIVATED`: the account has been deactivated. */
export class UserDeactivatedError extends MatrixRequestError {}

/** `M_BAD_JSON`: the request's JSON is not what the operation takes. */
export class BadJSONError extends MatrixRequestError {}

/** `M_NOT_JSON`: the request's body is no JSON. */
export class NotJSONError extends MatrixRequestError {}

/** `M_NOT_FOUND`: what was asked for does not exist. */
export class NotFoundError extends MatrixRequestError {}

/** `M_LIMIT_EXCEEDED`: too many requests; `retryAfter` says how long to wait. */
export class LimitExceededError extends MatrixRequestError {}

/** `M_UNRECOGNIZED`: the server does not know this endpoint or method. */
export class UnrecognizedError extends MatrixRequestError {}

/** `M_UNKNOWN`: the server gave no reason. */
export class UnknownError extends MatrixRequestError {}

/** `M_UNAUTHORIZED`: the request was not authorised, usually because the login failed. */
export class UnauthorizedError extends MatrixRequestError {}

/** `M_USER_IN_USE`: the user ID is taken. */
export class UserInUseError extends MatrixRequestError {}

/** `M_INVALID_USERNAME`: the user name breaks the grammar. */
export class InvalidUsernameError extends MatrixRequestError {}

/** `M_ROOM_IN_USE`: the room alias is taken. */
export class RoomInUseError extends MatrixRequestError {}

/** `M_INVALID_ROOM_STATE`: the initial state of the new room is invalid. */
export class InvalidRoomStateError extends MatrixRequestError {}

/** `M_THREEPID_IN_USE`: the third-party identifier belongs to another account. */
export class ThreepidInUseError extends MatrixRequestError {}

/** `M_THREEPID_NOT_FOUND`: no account has this third-party identifier. */
export class ThreepidNotFoundError extends MatrixRequestError {}

/** `M_THREEPID_AUTH_FAILED`: the third-party identifier could not be authenticated. */
export class ThreepidAuthFailedError extends MatrixRequestError {}

/** `M_THREEPID_DENIED`: the server does not allow this third-party identifier. */
export class ThreepidDeniedError extends MatrixRequestError {}

/**
 * `M_THREEPID_MEDIUM_NOT_SUPPORTED`: the server does not know this kind of third-party identifier.
 */
export class ThreepidMediumNotSupportedError extends MatrixRequestError {}

/**
 * `M_SERVER_NOT_TRUSTED`: the homeserver does not trust the other server that the request names.
 */
export class ServerNotTrustedError extends MatrixRequestError {}

/** `M_UNSUPPORTED_ROOM_VERSION`: the server does not support this room version. */
export class UnsupportedRoomVersionError extends MatrixRequestError {}

/**
 * `M_INCOMPATIBLE_ROOM_VERSION`: the server does not support the version of the room to be joined.
 */
export class IncompatibleRoomVersionError extends MatrixRequestError {}

/**
 * `M_BAD_STATE`: the change is not possible in the present state, like unbanning a user who is not
 * banned. Synapse refuses so what other servers refuse with `M_FORBIDDEN`: to join, or to be
 * invited, while banned.
 */
export class BadStateError extends ForbiddenError {}

/** `M_GUEST_ACCESS_FORBIDDEN`: the room or resource does not admit guests. */
export class GuestAccessForbiddenError extends MatrixRequestError {}

/** `M_CAPTCHA_NEEDED`: a captcha must be solved first. */
export class CaptchaNeededError extends MatrixRequestError {}

/** `M_CAPTCHA_INVALID`: the captcha was not solved. */
export class CaptchaInvalidError extends MatrixRequestError {}

/** `M_MISSING_PARAM`: the request lacks a required parameter. */
export class MissingParamError extends MatrixRequestError {}

/** `M_INVALID_PARAM`: a parameter of the request has an impossible value. */
export class InvalidParamError extends MatrixRequestError {}

/** `M_TOO_LARGE`, or the status 413 of a proxy: the request or upload is too large. */
export class TooLargeError extends MatrixRequestError {}

/** `M_EXCLUSIVE`: the name is reserved for an application service. */
export class ExclusiveError extends MatrixRequestError {}

/**
 * `M_RESOURCE_LIMIT_EXCEEDED`: the homeserver has reached a limit of its resources;
 * `body.admin_contact` says whom to ask.
 */
export class ResourceLimitExceededError extends MatrixRequestError {}

/** `M_USER_LIMIT_EXCEEDED`: the user has reached a limit that the server sets each user. */
export class UserLimitExceededError extends MatrixRequestError {}

/** `M_CANNOT_LEAVE_SERVER_NOTICE_ROOM`: the server-notices room can't be left. */
export class CannotLeaveServerNoticeRoomError extends MatrixRequestError {}

/** `M_WEAK_PASSWORD`: the password is refused as too weak. */
export class WeakPasswordError extends MatrixRequestError {}

/** `M_INVITE_BLOCKED`: the invitee does not accept invites from the user. */
export class InviteBlockedError extends MatrixRequestError {}

/**
 * `M_UNABLE_TO_AUTHORISE_JOIN`: the server can't tell whether the restricted join is allowed;
 * another server may.
 */
export class UnableToAuthoriseJoinError extends MatrixRequestError {}

/** `M_UNABLE_TO_GRANT_JOIN`: the server may not let the user join; another server may. */
export class UnableToGrantJoinError extends MatrixRequestError {}

/** `M_BAD_ALIAS`: an alias in the event does not exist, or points to another room. */
export class BadAliasError extends MatrixRequestError {}

/** `M_NOT_YET_UPLOADED`: the media was announced and has not been uploaded yet. */
export class NotYetUploadedError extends MatrixRequestError {}

/** `M_CANNOT_OVERWRITE_MEDIA`: something has been uploaded to this content URI already. */
export class CannotOverwriteMediaError extends MatrixRequestError {}

/** `M_DUPLICATE_ANNOTATION`: the user has reacted to this event with this key already. */
export class DuplicateAnnotationError extends MatrixRequestError {}

/**
 * `M_WRONG_ROOM_KEYS_VERSION`: the key backup version is not the current one, which
 * `body.current_version` names.
 */
export class WrongRoomKeysVersionError extends MatrixRequestError {}

/** `M_INVALID_SIGNATURE`: a signature does not verify. */
export class InvalidSignatureError extends MatrixRequestError {}

/** `M_UNKNOWN_DEVICE`: the device does not exist. */
export class UnknownDeviceError extends MatrixRequestError {}

/** `M_PROFILE_TOO_LARGE`: the profile would exceed 64 KiB. */
export class ProfileTooLargeError extends MatrixRequestError {}

/** `M_KEY_TOO_LARGE`: the name of the profile field exceeds 255 bytes. */
export class KeyTooLargeError extends MatrixRequestError {}

/**
 * `M_APPSERVICE_LOGIN_UNSUPPORTED`: the server does not offer this login to application services;
 * use OAuth 2.0.
 */
export class AppserviceLoginUnsupportedError extends MatrixRequestError {}

/** `M_CONNECTION_FAILED`: the homeserver could not connect to the application service. */
export class ConnectionFailedError extends MatrixRequestError {}

/** `M_CONNECTION_TIMEOUT`: the application service did not answer the homeserver in time. */
export class ConnectionTimeoutError extends MatrixRequestError {}

/** `M_BAD_STATUS`: the application service answered the homeserver with an error status. */
export class BadStatusError extends MatrixRequestError {}

/** `M_URL_NOT_SET`: the application service has no URL. */
export class UrlNotSetError extends MatrixRequestError {}

/** `M_SESSION_NOT_VALIDATED`: the third-party identifier's session has not been validated. */
export class SessionNotValidatedError extends MatrixRequestError {}

/** `M_SESSION_EXPIRED`: the third-party identifier's session has expired. */
export class SessionExpiredError extends MatrixRequestError {}

/** `M_NO_VALID_SESSION`: there is no such validation session. */
export class NoValidSessionError extends MatrixRequestError {}

/**
 * `M_UNKNOWN_ENDPOINT`: the server does not know this endpoint (an older spelling of
 * `M_UNRECOGNIZED`).
 */
export class UnknownEndpointError extends MatrixRequestError {}

/** `M_ALREADY_JOINED`: the user is in the room already. */
export class AlreadyJoinedError extends ForbiddenError {}

/** `M_NOT_JOINED`: the user is not in the room. */
export class NotJoinedError extends ForbiddenError {}

/** `M_INSUFFICIENT_POWER`: the user's power level is too low for this. */
export class InsufficientPowerError extends ForbiddenError {}

const CLASSES: ReadonlyMap<string, typeof MatrixRequestError> = new Map([
  ["M_FORBIDDEN", ForbiddenError],
  ["M_UNKNOWN_TOKEN", UnknownTokenError],
  ["M_MISSING_TOKEN", MissingTokenError],
  ["M_USER_LOCKED", UserLockedError],
  ["M_USER_SUSPENDED", UserSuspendedError],
  ["M_USER_DEACTIVATED", UserDeactivatedError],
  ["M_BAD_JSON", BadJSONError],
  ["M_NOT_JSON", NotJSONError],
  ["M_NOT_FOUND", NotFoundError],
  ["M_LIMIT_EXCEEDED", LimitExceededError],
  ["M_UNRECOGNIZED", UnrecognizedError],
  ["M_UNKNOWN", UnknownError],
  ["M_UNAUTHORIZED", UnauthorizedError],
  ["M_USER_IN_USE", UserInUseError],
  ["M_INVALID_USERNAME", InvalidUsernameError],
  ["M_ROOM_IN_USE", RoomInUseError],
  ["M_INVALID_ROOM_STATE", InvalidRoomStateError],
  ["M_THREEPID_IN_USE", ThreepidInUseError],
  ["M_THREEPID_NOT_FOUND", ThreepidNotFoundError],
  ["M_THREEPID_AUTH_FAILED", ThreepidAuthFailedError],
  ["M_THREEPID_DENIED", ThreepidDeniedError],
  ["M_THREEPID_MEDIUM_NOT_SUPPORTED", ThreepidMediumNotSupportedError],
  ["M_SERVER_NOT_TRUSTED", ServerNotTrustedError],
  ["M_UNSUPPORTED_ROOM_VERSION", UnsupportedRoomVersionError],
  ["M_INCOMPATIBLE_ROOM_VERSION", IncompatibleRoomVersionError],
  ["M_BAD_STATE", BadStateError],
  ["M_GUEST_ACCESS_FORBIDDEN", GuestAccessForbiddenError],
  ["M_CAPTCHA_NEEDED", CaptchaNeededError],
  ["M_CAPTCHA_INVALID", CaptchaInvalidError],
  ["M_MISSING_PARAM", MissingParamError],
  ["M_INVALID_PARAM", InvalidParamError],
  ["M_TOO_LARGE", TooLargeError],
  ["M_EXCLUSIVE", ExclusiveError],
  ["M_RESOURCE_LIMIT_EXCEEDED", ResourceLimitExceededError],
  ["M_USER_LIMIT_EXCEEDED", UserLimitExceededError],
  ["M_CANNOT_LEAVE_SERVER_NOTICE_ROOM", CannotLeaveServerNoticeRoomError],
  ["M_WEAK_PASSWORD", WeakPasswordError],
  ["M_INVITE_BLOCKED", InviteBlockedError],
  ["M_UNABLE_TO_AUTHORISE_JOIN", UnableToAuthoriseJoinError],
  ["M_UNABLE_TO_GRANT_JOIN", UnableToGrantJoinError],
  ["M_BAD_ALIAS", BadAliasError],
  ["M_NOT_YET_UPLOADED", NotYetUploadedError],
  ["M_CANNOT_OVERWRITE_MEDIA", CannotOverwriteMediaError],
  ["M_DUPLICATE_ANNOTATION", DuplicateAnnotationError],
  ["M_WRONG_ROOM_KEYS_VERSION", WrongRoomKeysVersionError],
  ["M_INVALID_SIGNATURE", InvalidSignatureError],
  ["M_UNKNOWN_DEVICE", UnknownDeviceError],
  ["M_PROFILE_TOO_LARGE", ProfileTooLargeError],
  ["M_KEY_TOO_LARGE", KeyTooLargeError],
  ["M_APPSERVICE_LOGIN_UNSUPPORTED", AppserviceLoginUnsupportedError],
  ["M_CONNECTION_FAILED", ConnectionFailedError],
  ["M_CONNECTION_TIMEOUT", ConnectionTimeoutError],
  ["M_BAD_STATUS", BadStatusError],
  ["M_URL_NOT_SET", UrlNotSetError],
  ["M_SESSION_NOT_VALIDATED", SessionNotValidatedError],
  ["M_SESSION_EXPIRED", SessionExpiredError],
  ["M_NO_VALID_SESSION", NoValidSessionError],
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

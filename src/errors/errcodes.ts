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

/**
 * `M_FORBIDDEN`: the user may not do this.
 *
 * Mend: Join the room, or have the user given the power.
 */
export class ForbiddenError extends MatrixRequestError {}

/**
 * `M_UNKNOWN_TOKEN`: the access token is not, or no longer, known: log in again, as
 * {@linkcode UnknownTokenError.softLogout} says.
 *
 * Mend: Log in again; with `softLogout`, name the same `deviceId`.
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

/**
 * `M_MISSING_TOKEN`: the request needs an access token and carried none.
 *
 * Mend: Give the client a `token`, or log in.
 */
export class MissingTokenError extends MatrixRequestError {}

/**
 * `M_USER_LOCKED`: the account is locked by its server's administrator; it may be unlocked.
 *
 * Mend: Ask the server's administrator.
 */
export class UserLockedError extends MatrixRequestError {}

/**
 * `M_USER_SUSPENDED`: the account is suspended by its server's administrator and may do only a few
 * things.
 *
 * Mend: Ask the server's administrator.
 */
export class UserSuspendedError extends MatrixRequestError {}

/**
 * `M_USER_DEACTIVATED`: the account has been deactivated.
 *
 * Mend: Use another account.
 */
export class UserDeactivatedError extends MatrixRequestError {}

/**
 * `M_BAD_JSON`: the request's JSON is not what the operation takes.
 *
 * Mend: Correct what you send.
 */
export class BadJSONError extends MatrixRequestError {}

/**
 * `M_NOT_JSON`: the request's body is no JSON.
 *
 * Mend: Check what stands between client and homeserver, such as a proxy.
 */
export class NotJSONError extends MatrixRequestError {}

/**
 * `M_NOT_FOUND`: what was asked for does not exist.
 *
 * Mend: Check the ID; the room may be gone, or not visible to the user.
 */
export class NotFoundError extends MatrixRequestError {}

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
 * `M_UNAUTHORIZED`: the request was not authorised, usually because the login failed.
 *
 * Mend: Check user name and password.
 */
export class UnauthorizedError extends MatrixRequestError {}

/**
 * `M_USER_IN_USE`: the user ID is taken.
 *
 * Mend: Choose another name, or log in with this one.
 */
export class UserInUseError extends MatrixRequestError {}

/**
 * `M_INVALID_USERNAME`: the user name breaks the grammar.
 *
 * Mend: Use only a-z, 0-9 and `._=-/+`.
 */
export class InvalidUsernameError extends MatrixRequestError {}

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
 * `M_THREEPID_IN_USE`: the third-party identifier belongs to another account.
 *
 * Mend: Use another address, or the other account.
 */
export class ThreepidInUseError extends MatrixRequestError {}

/**
 * `M_THREEPID_NOT_FOUND`: no account has this third-party identifier.
 *
 * Mend: Check the address.
 */
export class ThreepidNotFoundError extends MatrixRequestError {}

/**
 * `M_THREEPID_AUTH_FAILED`: the third-party identifier could not be authenticated.
 *
 * Mend: Begin the validation again.
 */
export class ThreepidAuthFailedError extends MatrixRequestError {}

/**
 * `M_THREEPID_DENIED`: the server does not allow this third-party identifier.
 *
 * Mend: Use another address, or ask the server's administrator.
 */
export class ThreepidDeniedError extends MatrixRequestError {}

/**
 * `M_THREEPID_MEDIUM_NOT_SUPPORTED`: the server does not know this kind of third-party identifier.
 *
 * Mend: Use another kind of address.
 */
export class ThreepidMediumNotSupportedError extends MatrixRequestError {}

/**
 * `M_SERVER_NOT_TRUSTED`: the homeserver does not trust the other server that the request names.
 *
 * Mend: Name another server, or ask the server's administrator.
 */
export class ServerNotTrustedError extends MatrixRequestError {}

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
 * `M_GUEST_ACCESS_FORBIDDEN`: the room or resource does not admit guests.
 *
 * Mend: Log in with an account that is no guest's.
 */
export class GuestAccessForbiddenError extends MatrixRequestError {}

/**
 * `M_CAPTCHA_NEEDED`: a captcha must be solved first.
 *
 * Mend: Register in a browser, or ask the server's administrator for an account.
 */
export class CaptchaNeededError extends MatrixRequestError {}

/**
 * `M_CAPTCHA_INVALID`: the captcha was not solved.
 *
 * Mend: Solve another one.
 */
export class CaptchaInvalidError extends MatrixRequestError {}

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
 * `M_USER_LIMIT_EXCEEDED`: the user has reached a limit that the server sets each user.
 *
 * Mend: Remove something, or ask the server's administrator.
 */
export class UserLimitExceededError extends MatrixRequestError {}

/**
 * `M_CANNOT_LEAVE_SERVER_NOTICE_ROOM`: the server-notices room can't be left.
 *
 * Mend: Stay in it.
 */
export class CannotLeaveServerNoticeRoomError extends MatrixRequestError {}

/**
 * `M_WEAK_PASSWORD`: the password is refused as too weak.
 *
 * Mend: Choose a longer one.
 */
export class WeakPasswordError extends MatrixRequestError {}

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
 * `M_DUPLICATE_ANNOTATION`: the user has reacted to this event with this key already.
 *
 * Mend: Take it for done.
 */
export class DuplicateAnnotationError extends MatrixRequestError {}

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
 * `M_UNKNOWN_DEVICE`: the device does not exist.
 *
 * Mend: List the devices again.
 */
export class UnknownDeviceError extends MatrixRequestError {}

/**
 * `M_PROFILE_TOO_LARGE`: the profile would exceed 64 KiB.
 *
 * Mend: Remove a field, or shorten one.
 */
export class ProfileTooLargeError extends MatrixRequestError {}

/**
 * `M_KEY_TOO_LARGE`: the name of the profile field exceeds 255 bytes.
 *
 * Mend: Choose a shorter name.
 */
export class KeyTooLargeError extends MatrixRequestError {}

/**
 * `M_APPSERVICE_LOGIN_UNSUPPORTED`: the server does not offer this login to application services;
 * use OAuth 2.0.
 *
 * Mend: Let the homeserver's administrator enable it, or use the application service's token.
 */
export class AppserviceLoginUnsupportedError extends MatrixRequestError {}

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
 * `M_SESSION_NOT_VALIDATED`: the third-party identifier's session has not been validated.
 *
 * Mend: Finish the validation, and call again.
 */
export class SessionNotValidatedError extends MatrixRequestError {}

/**
 * `M_SESSION_EXPIRED`: the third-party identifier's session has expired.
 *
 * Mend: Begin the validation again.
 */
export class SessionExpiredError extends MatrixRequestError {}

/**
 * `M_NO_VALID_SESSION`: there is no such validation session.
 *
 * Mend: Begin the validation again.
 */
export class NoValidSessionError extends MatrixRequestError {}

/**
 * `M_UNKNOWN_ENDPOINT`: the server does not know this endpoint (an older spelling of
 * `M_UNRECOGNIZED`).
 *
 * Mend: Update the homeserver, or do without the feature.
 */
export class UnknownEndpointError extends MatrixRequestError {}

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

/**
 * Which class belongs to which error code of the Matrix specification.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#standard-error-response | Standard error response}
 * @module
 */

import {
  AuthenticationNeededError,
  challengeIn,
  MatrixRequestError,
  type RequestErrorInit,
} from "./request_error.ts";
import * as account from "./account_errcodes.ts";
import * as request from "./request_errcodes.ts";

const CLASSES: ReadonlyMap<string, typeof MatrixRequestError> = new Map([
  ["M_FORBIDDEN", request.ForbiddenError],
  ["M_UNKNOWN_TOKEN", account.UnknownTokenError],
  ["M_MISSING_TOKEN", account.MissingTokenError],
  ["M_USER_LOCKED", account.UserLockedError],
  ["M_USER_SUSPENDED", account.UserSuspendedError],
  ["M_USER_DEACTIVATED", account.UserDeactivatedError],
  ["M_BAD_JSON", request.BadJsonError],
  ["M_NOT_JSON", request.NotJsonError],
  ["M_NOT_FOUND", request.NotFoundError],
  ["M_LIMIT_EXCEEDED", request.LimitExceededError],
  ["M_UNRECOGNIZED", request.UnrecognizedError],
  ["M_UNKNOWN", request.UnknownError],
  ["M_UNAUTHORIZED", account.UnauthorizedError],
  ["M_USER_IN_USE", account.UserInUseError],
  ["M_INVALID_USERNAME", account.InvalidUsernameError],
  ["M_ROOM_IN_USE", request.RoomInUseError],
  ["M_INVALID_ROOM_STATE", request.InvalidRoomStateError],
  ["M_THREEPID_IN_USE", account.ThreepidInUseError],
  ["M_THREEPID_NOT_FOUND", account.ThreepidNotFoundError],
  ["M_THREEPID_AUTH_FAILED", account.ThreepidAuthFailedError],
  ["M_THREEPID_DENIED", account.ThreepidDeniedError],
  ["M_THREEPID_MEDIUM_NOT_SUPPORTED", account.ThreepidMediumNotSupportedError],
  ["M_SERVER_NOT_TRUSTED", account.ServerNotTrustedError],
  ["M_UNSUPPORTED_ROOM_VERSION", request.UnsupportedRoomVersionError],
  ["M_INCOMPATIBLE_ROOM_VERSION", request.IncompatibleRoomVersionError],
  ["M_BAD_STATE", request.BadStateError],
  ["M_GUEST_ACCESS_FORBIDDEN", account.GuestAccessForbiddenError],
  ["M_CAPTCHA_NEEDED", account.CaptchaNeededError],
  ["M_CAPTCHA_INVALID", account.CaptchaInvalidError],
  ["M_MISSING_PARAM", request.MissingParamError],
  ["M_INVALID_PARAM", request.InvalidParamError],
  ["M_TOO_LARGE", request.TooLargeError],
  ["M_EXCLUSIVE", request.ExclusiveError],
  ["M_RESOURCE_LIMIT_EXCEEDED", request.ResourceLimitExceededError],
  ["M_USER_LIMIT_EXCEEDED", account.UserLimitExceededError],
  ["M_CANNOT_LEAVE_SERVER_NOTICE_ROOM", request.CannotLeaveServerNoticeRoomError],
  ["M_WEAK_PASSWORD", account.WeakPasswordError],
  ["M_INVITE_BLOCKED", request.InviteBlockedError],
  ["M_UNABLE_TO_AUTHORISE_JOIN", request.UnableToAuthoriseJoinError],
  ["M_UNABLE_TO_GRANT_JOIN", request.UnableToGrantJoinError],
  ["M_BAD_ALIAS", request.BadAliasError],
  ["M_NOT_YET_UPLOADED", request.NotYetUploadedError],
  ["M_CANNOT_OVERWRITE_MEDIA", request.CannotOverwriteMediaError],
  ["M_DUPLICATE_ANNOTATION", request.DuplicateAnnotationError],
  ["M_WRONG_ROOM_KEYS_VERSION", request.WrongRoomKeysVersionError],
  ["M_INVALID_SIGNATURE", request.InvalidSignatureError],
  ["M_UNKNOWN_DEVICE", account.UnknownDeviceError],
  ["M_PROFILE_TOO_LARGE", account.ProfileTooLargeError],
  ["M_KEY_TOO_LARGE", account.KeyTooLargeError],
  ["M_APPSERVICE_LOGIN_UNSUPPORTED", account.AppserviceLoginUnsupportedError],
  ["M_CONNECTION_FAILED", request.ConnectionFailedError],
  ["M_CONNECTION_TIMEOUT", request.ConnectionTimeoutError],
  ["M_BAD_STATUS", request.BadStatusError],
  ["M_URL_NOT_SET", request.UrlNotSetError],
  ["M_SESSION_NOT_VALIDATED", account.SessionNotValidatedError],
  ["M_SESSION_EXPIRED", account.SessionExpiredError],
  ["M_NO_VALID_SESSION", account.NoValidSessionError],
  ["M_UNKNOWN_ENDPOINT", request.UnknownEndpointError],
  ["M_ALREADY_JOINED", request.AlreadyJoinedError],
  ["M_NOT_JOINED", request.NotJoinedError],
  ["M_INSUFFICIENT_POWER", request.InsufficientPowerError],
]);

/** MSC3848 gives `M_FORBIDDEN` a reason, which the servers that have it put here. */
const UNSTABLE_ERRCODE = "org.matrix.msc3848.unstable.errcode";

/** The error for an answer: of the class that belongs to its error code, or to what it asks for. */
export function requestError(init: RequestErrorInit): MatrixRequestError {
  const { errcode, [UNSTABLE_ERRCODE]: reason } = init.body;
  const Class = classOf(reason) ?? classOf(errcode) ??
    (errcode === undefined && init.status === 413 ? request.TooLargeError : undefined) ??
    (errcode === undefined && challengeIn(init) ? AuthenticationNeededError : MatrixRequestError);
  return new Class(init);
}

function classOf(errcode: unknown): typeof MatrixRequestError | undefined {
  return typeof errcode === "string" ? CLASSES.get(errcode) : undefined;
}

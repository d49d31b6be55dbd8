/**
 * Errors of accounts: tokens, logins, also by OAuth 2.0, registration, third-party identifiers, devices and
 * profiles.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#oauth-20-api | OAuth 2.0 API}
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";
import { MatrixRequestError, type RequestErrorInit } from "./request_error.ts";

/**
 * `M_UNKNOWN_TOKEN`: the access token is not, or no longer, known: log in again, as
 * {@linkcode UnknownTokenError.isSoftLogout} says.
 *
 * Mend: Log in again; with `isSoftLogout`, name the same `deviceId`.
 */
export class UnknownTokenError extends MatrixRequestError {
  /**
   * Whether the device and its keys are still there: with a login that names it by `deviceId`, or a
   * new token for its refresh token, it goes on. If not, the session is gone, if there ever was
   * one, and its device with it.
   */
  readonly isSoftLogout: boolean;

  /**
   * Makes an error of an answer.
   *
   * @param init What was asked and what was answered.
   */
  constructor(init: RequestErrorInit) {
    super(init);
    this.isSoftLogout = init.body.soft_logout === true;
    this.message += this.isSoftLogout
      ? "; the device is still there, log in with the same device ID"
      : "; there is no such session (any more), log in again (a bot: with another MATRIX_TOKEN, or MATRIX_PASSWORD)";
  }
}

/**
 * `M_MISSING_TOKEN`: the request needs an access token and carried none.
 *
 * Mend: Give the client an `accessToken`, or log in.
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
 * `M_USER_LIMIT_EXCEEDED`: the user has reached a limit that the server sets each user.
 *
 * Mend: Remove something, or ask the server's administrator.
 */
export class UserLimitExceededError extends MatrixRequestError {}

/**
 * `M_WEAK_PASSWORD`: the password is refused as too weak.
 *
 * Mend: Choose a longer one.
 */
export class WeakPasswordError extends MatrixRequestError {}

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

/** What makes an {@linkcode OAuthError}. */
export interface OAuthErrorInit extends ErrorOptions {
  /** What went wrong, for programs. */
  readonly code: OAuthError["code"];
  /** The authorization server's code, if it has refused. */
  readonly error?: string;
}

/**
 * A login by OAuth 2.0, or what comes after one, has failed.
 *
 * Mend: Read `code`, and `error` if the authorization server has refused; then begin the login again.
 *
 * @example
 * ```ts
 * import { OAuthError } from "@greenroom/matrix/errors";
 *
 * export function wasDenied(error: unknown): boolean {
 *   return error instanceof OAuthError && error.error === "access_denied";
 * }
 * ```
 */
export class OAuthError extends MatrixError {
  /**
   * What went wrong:
   *
   * - `OAUTH_UNSUPPORTED`: the homeserver has no OAuth 2.0, or not what is needed of it.
   * - `OAUTH_METADATA`: a field of the server's metadata can't be used; the message names it.
   * - `OAUTH_REFUSED`: the authorization server has refused; `error` says why.
   * - `OAUTH_RESPONSE`: an answer is not what was asked for: a foreign `state`, another device.
   */
  override readonly code: "OAUTH_UNSUPPORTED" | "OAUTH_METADATA" | "OAUTH_REFUSED" | "OAUTH_RESPONSE";
  /**
   * The code of the authorization server's refusal, like `access_denied`, `expired_token` or
   * `invalid_grant`; undefined unless it has refused.
   */
  readonly error: string | undefined;

  /**
   * Makes an error.
   *
   * @param message What was asked, and what to do.
   * @param init What went wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { code, error, ...options }: OAuthErrorInit) {
    super(message, options);
    this.code = code;
    this.error = error;
  }
}

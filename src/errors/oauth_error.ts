/**
 * The error of a login by OAuth 2.0.
 *
 * @see {@link https://spec.matrix.org/v1.18/client-server-api/#oauth-20-api | OAuth 2.0 API}
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

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

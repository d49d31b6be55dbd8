/**
 * The error for a request that the homeserver refused.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#standard-error-response | Standard error response}
 * @module
 */

import type { JsonObject } from "../types/json.ts";
import { MatrixError } from "./matrix_error.ts";
import { printable } from "./printable.ts";

/** What {@link MatrixRequestError} is made of. */
export interface RequestErrorInit {
  /** The operation that was asked for, like `joinRoom`. */
  operation: string;
  /** The HTTP method. */
  method: string;
  /** The path of the request; its query is left out. */
  path: string;
  /** The HTTP status of the answer. */
  status: number;
  /** The body of the answer, which is shown; empty if it was no JSON object. */
  body: JsonObject;
  /** How long the server asks to wait before the next try, in milliseconds. */
  retryAfter?: number;
}

/**
 * The homeserver said no.
 *
 * Every error code of the specification has a subclass, so that `instanceof` decides; an answer
 * with an unknown code, or with none, is this class itself.
 *
 * Mend: Catch a subclass, or read `errcode` and `status`.
 *
 * @example
 * ```ts
 * import { Client, ForbiddenError } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("alice");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * try {
 *   await client.sendText("!no-room-of-mine:localhost", "hello?");
 * } catch (error) {
 *   if (!(error instanceof ForbiddenError)) throw error;
 *   console.assert(error.errcode === "M_FORBIDDEN" && error.status === 403);
 * }
 * ```
 */
export class MatrixRequestError extends MatrixError {
  /** The server's error code; `M_UNKNOWN` if it gave none. */
  readonly errcode: string;
  /** The same as {@link MatrixRequestError.errcode}. */
  override readonly code: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /**
   * The body of the answer: `soft_logout`, the flows of user-interactive authentication and the
   * like. Texts and members that repeat what was sent (a token, a password, a message) are left out
   * of it, and of the error's message.
   */
  readonly body: JsonObject;
  /** The operation that was asked for, like `joinRoom`. */
  readonly operation: string;
  /**
   * How long the server asks to wait before the next try, in milliseconds; absent if it does not
   * say.
   */
  readonly retryAfter?: number;

  /**
   * Makes an error of an answer.
   *
   * @param init What was asked and what was answered.
   */
  constructor(init: RequestErrorInit) {
    const { operation, method, path, status, body, retryAfter } = init;
    const errcode = typeof body.errcode === "string" && body.errcode !== "" ? body.errcode : "M_UNKNOWN";
    const text = typeof body.error === "string" ? `: ${printable(body.error)}` : "";
    super(
      `Cannot ${operation} (${method} ${path}): the homeserver answered ${status} ${
        printable(errcode)
      }${text}`,
    );
    this.errcode = errcode;
    this.code = errcode;
    this.status = status;
    this.body = body;
    this.operation = operation;
    this.retryAfter = retryAfter;
  }
}

/**
 * The errors for a request: the homeserver refused it, answered with what it wants to be shown first,
 * or could not be reached.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#standard-error-response | Standard error response}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#user-interactive-authentication-api | User-interactive authentication}
 *
 * @module
 */

import type { AuthenticationResponse } from "../types/api/login.ts";
import type { JsonObject } from "../types/json.ts";
import { hintAt } from "./hints.ts";
import { MatrixError, missingPermission, printable } from "./matrix_error.ts";

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
  override readonly errcode: string;
  /** The same as {@link MatrixRequestError.errcode}. */
  override readonly code: string;
  /** The HTTP status of the answer. */
  override readonly status: number;
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

// Not `statusCode`, which servers read of any error.
hintAt(MatrixRequestError.prototype, "an error", {
  retryAfterMs: "error.retryAfter",
  retry_after_ms: "error.retryAfter",
});

/**
 * The homeserver requires another authentication, which was missing or was not accepted.
 *
 * Mend: Give the option `authentication`, with one of the flows in `challenge`.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { AuthenticationNeededError } from "@greenroom/matrix/errors";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
 * try {
 *   await client.register({ username: "alice", password: "wonderland" });
 * } catch (error) {
 *   if (!(error instanceof AuthenticationNeededError)) throw error;
 *   console.assert(error.challenge.flows[0]?.stages[0] === "m.login.dummy");
 *   await client.register({ username: "alice", password: "wonderland", authentication: {} });
 * }
 * ```
 */
export class AuthenticationNeededError extends MatrixRequestError {
  /** What the homeserver requires: the flows, of which one is enough, and the session. */
  readonly challenge: AuthenticationResponse;

  /**
   * Makes an error of an answer.
   *
   * @param init What was asked and what was answered.
   */
  constructor(init: RequestErrorInit) {
    super(init);
    this.challenge = challengeIn(init) ?? { flows: [] };
    const ways = this.challenge.flows.map(({ stages }) => stages.join(" and ") || "nothing");
    this.message =
      `Cannot ${init.operation} (${init.method} ${init.path}): the homeserver wants to be shown ${
        printable(ways.join(", or ")) || "nothing that is known"
      }; give it by the option authentication`;
  }
}

/** Reads what the homeserver requires, if an answer is such a challenge. */
export function challengeIn(
  { status, body }: Pick<RequestErrorInit, "status" | "body">,
): AuthenticationResponse | undefined {
  const { flows, params, session, completed } = body;
  if (status !== 401 || !Array.isArray(flows)) return undefined;
  return {
    flows: flows.filter(isObject).map(({ stages }) => ({ stages: strings(stages) })),
    params: isObject(params) ? params as { [stage: string]: JsonObject } : {},
    session: typeof session === "string" ? session : undefined,
    completed: strings(completed),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The homeserver could not be reached, or the connection broke before the answer was whole. The
 * `cause` is what `fetch` threw, without addresses' queries and whatever else in it repeats what
 * was sent.
 *
 * Whether the server acted on the request is unknown. Requests that may be repeated have been, as
 * the retry policy says.
 *
 * Mend: Check the address and the connection, and try again.
 */
export class NetworkError extends MatrixError {
  /** `NETWORK_ERROR`, or `TIMEOUT` of {@link RequestTimeoutError}. */
  override readonly code: string = "NETWORK_ERROR";
}

/**
 * The homeserver did not answer within the request's timeout.
 *
 * Mend: Try again, or raise `requestTimeout`.
 */
export class RequestTimeoutError extends NetworkError {
  /** Always `TIMEOUT`. */
  override readonly code = "TIMEOUT";
}

/** What Deno's `fetch` says in front of the reason: the address, which may hold private data. */
const NATIVE = /^error sending request .*\): (?:client error \(\w+\): )?/s;

/** What Deno's `fetch` says of a connection, and what to say in its place: with what can be done about it. */
const CLEARER: readonly (readonly [native: string, clearer: string])[] = [
  ["InvalidContentType", "what answers there does not speak TLS; is its address http://…?"],
  [
    "invalid peer certificate: UnknownIssuer",
    "invalid peer certificate: UnknownIssuer; to trust it, give the issuer's certificate by DENO_CERT=<file>, " +
    "or --cert <file>",
  ],
];

/**
 * The error for a connection that has failed, with the reason: the name is unknown, no server listens, the
 * certificate is not valid.
 *
 * @param error What `fetch` threw, or reading the answer.
 * @param request Names the request.
 * @param host Whom it went to.
 */
export function connectionFailure(error: unknown, request: string, host: string): MatrixError {
  const missing = missingPermission(error, request);
  if (missing !== undefined) return missing;
  const text = reasonOf(error);
  return new NetworkError(
    `Cannot ${request}: the connection to ${host} failed${text && `: ${printable(text, 200)}`}`,
    { cause: error },
  );
}

/** The reason in Deno's words; in those of another `fetch` without addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { message } = error.cause instanceof Error ? error.cause : error;
  const [, clearer] = CLEARER.find(([native]) => message.includes(native)) ?? [];
  return clearer ?? message.replace(NATIVE, "").replace(/\bhttps?:\/\/\S+/g, "it");
}

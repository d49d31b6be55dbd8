/**
 * Routes of the in-process homeserver as data: a method, a path pattern, and what answers.
 *
 * @module
 */

import type { Answer } from "./reply.ts";
import type { AuthedRequest, MatrixRequest } from "./request.ts";

/** The HTTP methods that the client-server API uses. */
export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** One row of the routing table. */
export interface Route {
  /** The HTTP method. */
  readonly method: Method;
  /** The pattern: `{name}` stands for one segment, `v3` also answers to `r0`. */
  readonly path: string;
  /** Whether an access token is needed. */
  readonly authed: boolean;
  /** Answers; a route that needs no token gets a request without a session. */
  readonly handle: (request: AuthedRequest) => Answer | Promise<Answer>;
}

/**
 * A route that needs an access token. `path` is relative to `/_matrix/client/` unless it starts
 * with a slash.
 */
export function route(method: Method, path: string, handle: Route["handle"]): Route {
  return { method, path: absolute(path), authed: true, handle };
}

/** A route that anyone may call. */
export function openRoute(
  method: Method,
  path: string,
  handle: (request: MatrixRequest) => Answer | Promise<Answer>,
): Route {
  return { method, path: absolute(path), authed: false, handle };
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `/_matrix/client/${path}`;
}

/**
 * An endpoint of the client-server API, as data: an operation is one call with one of these.
 *
 * @module
 */

import type { Parse } from "./shape.ts";

/** The HTTP methods of the client-server API. */
export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** What the transport has to know of an endpoint. */
export interface Endpoint<Path extends string, Result> {
  /** The operation's name, for errors, logs and traces. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: Method;
  /** The path's template; see `fillPath()`. */
  readonly path: Path;
  /** Checks the answer and takes the result out of it. */
  readonly parse: Parse<Result>;
  /**
   * Whether the same request may be sent twice with the effect of one, and so be retried. Default: true, but for `POST`.
   */
  readonly idempotent: boolean;
  /** Whether the access token goes along. Default: true. */
  readonly auth: boolean;
}

/** Describes an endpoint. */
export function endpoint<const Path extends string, Result>(
  operation: string,
  method: Method,
  path: Path,
  parse: Parse<Result>,
  { idempotent = method !== "POST", auth = true }: { idempotent?: boolean; auth?: boolean } = {},
): Endpoint<Path, Result> {
  return { operation, method, path, parse, idempotent, auth };
}

/**
 * What a handler of the in-process homeserver answers.
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";

/** An answer that is not plain JSON with status 200. */
export class Reply {
  /** The HTTP status. */
  readonly status: number;
  /** JSON, or bytes to be sent as they are. */
  readonly body: unknown;
  /** Headers besides the usual ones. */
  readonly headers: Record<string, string>;

  /** Makes an answer. */
  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** What a handler may return: a JSON object or array with status 200, or a {@link Reply}. */
export type Answer = JsonObject | readonly unknown[] | Reply;

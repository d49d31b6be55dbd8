/**
 * What the in-process homeserver answers: replies, which a handler returns, and refusals, which what handles a
 * request throws; they are answered as Matrix errors.
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";

/** A refusal with the status and body that the client gets to see. */
export class Failure extends Error {
  override readonly name = "Failure";
  /** The HTTP status. */
  readonly status: number;
  /** The whole response body. */
  readonly body: JsonObject;
  /** Headers besides the usual ones. */
  readonly headers: Record<string, string>;

  /** Makes a refusal; `extra` is merged into the standard error body. */
  constructor(
    status: number,
    errcode: string,
    message: string,
    options: { extra?: JsonObject; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.body = { errcode, error: message, ...options.extra };
    this.headers = options.headers ?? {};
  }
}

/** 400 with an errcode of the caller's choice. */
export const badRequest = (errcode: string, message: string): Failure => new Failure(400, errcode, message);
/** 400 with the errcode of what has none of its own. */
export const refused = (message: string): Failure => badRequest("M_UNKNOWN", message);
/** The body is JSON of the wrong shape. */
export const badJson = (message: string): Failure => badRequest("M_BAD_JSON", message);
/** A value is out of the range it may have. */
export const invalidParam = (message: string): Failure => badRequest("M_INVALID_PARAM", message);
/** A field that must be there is not. */
export const missingParam = (name: string): Failure =>
  badRequest("M_MISSING_PARAM", `Missing params: ['${name}']`);
/** The caller may not do this. */
export const forbidden = (message: string): Failure => new Failure(403, "M_FORBIDDEN", message);
/** What is asked for is not there. */
export const notFound = (message = "Not found"): Failure => new Failure(404, "M_NOT_FOUND", message);

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

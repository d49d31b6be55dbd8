/**
 * An endpoint of the client-server API, as data: an operation is one call with one of these.
 *
 * Its path is a template whose parameters no value can break out of. Of an answer only what an
 * operation returns or reads is checked: an answer may always carry more.
 *
 * @module
 */

import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { Logger } from "../../base/log.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

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
   * Whether the same request may be sent twice with the effect of one, and so be retried. Default:
   * true, but for `POST`.
   */
  readonly idempotent: boolean;
  /** Whether the access token goes along. Default: true. */
  readonly auth: boolean;
  /** With which other requests the server counts it, to limit them. Default: with those of the operation. */
  readonly limit: string;
  /** Whether the requests of a room leave one after the other, as they were called. Default: false. */
  readonly inOrder: boolean;
  /** Whether it changes something: no `GET` does, nor a search. */
  readonly changes: boolean;
  /** Whether it sends an event into a room: the answer has its ID. */
  readonly sendsEvent: boolean;
}

/** Describes an endpoint. */
export function endpoint<const Path extends string, Result>(
  operation: string,
  method: Method,
  path: Path,
  parse: Parse<Result>,
  { idempotent = method !== "POST", auth = true, limit = operation, inOrder = false }: Partial<
    Pick<Endpoint<string, unknown>, "idempotent" | "auth" | "limit" | "inOrder">
  > = {},
): Endpoint<Path, Result> {
  const changes = method !== "GET" && (method !== "POST" || !idempotent);
  const sendsEvent = method === "PUT" && /\/rooms\/\{roomId\}\/(send|state|redact)\//.test(path);
  return { operation, method, path, parse, idempotent, auth, limit, inOrder, changes, sendsEvent };
}

// Paths.

/**
 * The parameters that a path template names: `"/rooms/{roomId}/join"` takes `{ roomId: string }`.
 */
export type PathParams<Template extends string> = string extends Template ? Record<string, string>
  : Template extends `${string}{${infer Name}}${infer Rest}`
    ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** The query of a URL: absent members are left out, lists repeat their key. */
export type Query = { readonly [key: string]: string | number | boolean | readonly string[] | undefined };

/**
 * A path that a URL parser takes as it is: without host, query, fragment, and segments that it
 * folds away.
 */
const PATH = /^(?!.*\/(\.|%2e){1,2}(\/|$))\/[\w~!$&'()*+,;=:@%./-]*$/i;

const PARAMETER = /\{([^{}]+)\}/g;

/** The one parameter that may be empty. */
const STATE_KEY = "stateKey";

/**
 * Fills a path template.
 *
 * Every parameter becomes exactly one segment of the path: it is percent-encoded, and what can't be
 * carried is refused: the empty string (but for `{stateKey}`), and `.` and `..`, which every URL
 * parser folds away, however they are encoded. A parameter that is named after a kind of
 * identifier, like `{roomId}`, must look like one.
 *
 * @throws {ValueError} If the template is no path, or a parameter is missing, empty, `.` or `..`,
 *   no well-formed text, or no identifier of its kind.
 */
export function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  const path = template.replace(PARAMETER, (_, name: string) => {
    const value = params[name];
    if (typeof value !== "string") {
      throw new ValueError(
        `Cannot build the path ${template}: ${name} must be a string, and is ${typeOf(value)}`,
      );
    }
    if (value === "" && name !== STATE_KEY) {
      throw new ValueError(`Cannot build the path ${template}: ${name} is empty`);
    }
    if (value === "." || value === "..") {
      throw new ValueError(`Cannot build the path ${template}: no URL can carry ${name} "${value}"`);
    }
    if (!value.isWellFormed()) {
      throw new ValueError(`Cannot build the path ${template}: ${name} holds half of a surrogate pair`);
    }
    checkIdentifier(name, value);
    return encodeURIComponent(value);
  });
  if (!PATH.test(path)) {
    throw new ValueError(`Cannot build the path ${template}: it must start with a slash and be a path alone`);
  }
  return path;
}

/** The query string, with its `?`; empty if nothing is left to say. */
export function queryString(...queries: readonly (Query | undefined)[]): string {
  let text = "";
  const add = (key: string, value: string | number | boolean): void => {
    text += `${text === "" ? "?" : "&"}${encoded(key)}=${encoded(String(value))}`;
  };
  for (const query of queries) {
    if (query === undefined) continue;
    for (const key of Object.keys(query)) {
      const value = query[key];
      if (value === undefined) continue;
      if (typeof value === "object") { for (const item of value) add(key, item); }
      else add(key, value);
    }
  }
  return text;
}

/** Names, numbers and most tokens, which stay as they are. */
const PLAIN = /^[\w.-]*$/;

/** Half of a surrogate pair becomes U+FFFD, as it does in a body. */
function encoded(text: string): string {
  return PLAIN.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

// Answers.

/** What a field of an answer must be; a `?` at its end lets it be absent or `null`. */
export type FieldType =
  | "string"
  | "number"
  | "boolean"
  | "array"
  | "object"
  | "string?"
  | "number?"
  | "boolean?"
  | "array?"
  | "object?";

/** What else is known where an answer is parsed. */
export interface AnswerContext {
  /** The room that was asked about; undefined: none was. */
  readonly room?: string | undefined;
  /** Where to log what was left out. */
  readonly log?: Logger;
}

/**
 * Turns the parsed body of an answer into the result of an operation, or throws
 * {@link ServiceResponseError}.
 */
export type Parse<Result> = (body: unknown, request: string, context?: AnswerContext) => Result;

/** Accepts any JSON object and returns nothing. */
export const nothing: Parse<void> = () => {};

/** Returns the body as it is. */
export const unchecked: Parse<unknown> = (body) => body;

/** Returns whether it checks the answer; if not, any server could have sent it. */
export function checks(parse: Parse<unknown>): boolean {
  return parse !== nothing && parse !== unchecked;
}

/**
 * Returns the whole body after a check of its fields.
 *
 * @param fields The fields.
 * @param absent What stands for those that a server leaves out and no code needs. Default: nothing.
 */
export function fields<Result extends object>(
  fields: Readonly<Record<string, FieldType>>,
  absent?: Readonly<Partial<Result>>,
): Parse<Result> {
  let wanted: readonly WantedField[] | undefined; // of most endpoints no answer comes
  return (body, request) => {
    const object = jsonObject(body, request);
    wanted ??= Object.entries(fields).map(([name, type]) => wantedField(name, type));
    for (const field of wanted) check(object, field, request);
    return (absent === undefined ? object : { ...absent, ...object }) as Result;
  };
}

/** Returns one field of the body after a check. */
export function field<Result>(name: string, type: FieldType): Parse<Result> {
  const wanted = wantedField(name, type);
  return (body, request) => {
    const object = jsonObject(body, request);
    check(object, wanted, request);
    return object[name] as Result;
  };
}

/** Returns a body that is a list of objects. */
export function listOf<Item extends object>(): Parse<Item[]> {
  return (body, request) => {
    if (!Array.isArray(body) || !body.every(isJsonObject)) {
      throw new ServiceResponseError(`Cannot use the answer to ${request}: it is not a list of objects`);
    }
    return body as Item[];
  };
}

/** The body, if it is a JSON object. */
export function jsonObject(body: unknown, request: string): JsonObject {
  if (isJsonObject(body)) return body;
  const state = body === undefined ? "it is empty" : "it is no JSON object";
  throw new ServiceResponseError(`Cannot use the answer to ${request}: ${state}`);
}

interface WantedField {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
}

function wantedField(name: string, type: FieldType): WantedField {
  return { name, type: type.replace("?", ""), optional: type.endsWith("?") };
}

function check(object: JsonObject, { name, type, optional }: WantedField, request: string): void {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (value === undefined || value === null) {
    if (optional) return;
    throw new ServiceResponseError(`Cannot use the answer to ${request}: "${name}" is missing`);
  }
  const actual = Array.isArray(value) ? "array" : typeof value;
  if (actual !== type) {
    throw new ServiceResponseError(
      `Cannot use the answer to ${request}: "${name}" must be of type ${type}, and is of type ${actual}`,
    );
  }
}

/** A part of a URI without its percent-encoding; undefined if that is malformed. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

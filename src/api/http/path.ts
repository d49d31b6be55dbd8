/**
 * Paths of endpoints: templates whose parameters no value can break out of.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

/** The parameters that a path template names: `"/rooms/{roomId}/join"` takes `{ roomId: string }`. */
export type PathParams<Template extends string> = string extends Template ? Record<string, string>
  : Template extends `${string}{${infer Name}}${infer Rest}`
    ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** The query of a URL: absent members are left out, lists repeat their key. */
export type Query = { readonly [key: string]: string | number | boolean | readonly string[] | undefined };

/** A path that a URL parser takes as it is: without host, query, fragment, and segments that it folds away. */
const PATH = /^(?!.*\/(\.|%2e){1,2}(\/|$))\/[\w~!$&'()*+,;=:@%./-]*$/i;

const PARAMETER = /\{([^{}]+)\}/g;

/** The one parameter that may be empty. */
const STATE_KEY = "stateKey";

/**
 * Fills a path template.
 *
 * Every parameter becomes exactly one segment of the path: it is percent-encoded, and what can't be carried is refused:
 * the empty string (but for `{stateKey}`), and `.` and `..`, which every URL parser folds away, however they are encoded.
 * A parameter that is named after a kind of identifier, like `{roomId}`, must look like one.
 *
 * @throws {ValueError} If the template is no path, or a parameter is missing, empty, `.` or `..`, no well-formed text, or no identifier of its kind.
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

/** Half of a surrogate pair becomes U+FFFD, as it does in a body. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

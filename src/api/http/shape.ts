/**
 * Checks that an answer has the fields the specification promises.
 *
 * Only what an operation hands out or reads is looked at: an answer may always carry more.
 *
 * @module
 */

import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

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

/** Turns the parsed body of an answer into the result of an operation, or throws {@link ServiceResponseError}. */
export type Parse<Result> = (body: unknown, request: string) => Result;

/** Takes any JSON object and hands out nothing. */
export const nothing: Parse<void> = () => {};

/** Hands out whatever came. */
export const unchecked: Parse<unknown> = (body) => body;

/** Whether it looks at the answer, which else says nothing of who gave it. */
export function checks(parse: Parse<unknown>): boolean {
  return parse !== nothing && parse !== unchecked;
}

/** Hands out the whole body, having checked its fields. */
export function shape<Result extends object>(fields: Readonly<Record<string, FieldType>>): Parse<Result> {
  const wanted = Object.entries(fields).map(([name, type]) => wantedField(name, type));
  return (body, request) => {
    const object = jsonObject(body, request);
    for (const field of wanted) check(object, field, request);
    return object as Result;
  };
}

/** Hands out one field of the body, having checked it. */
export function field<Result>(name: string, type: FieldType): Parse<Result> {
  const wanted = wantedField(name, type);
  return (body, request) => {
    const object = jsonObject(body, request);
    check(object, wanted, request);
    return object[name] as Result;
  };
}

/** Hands out a body that is a bare list of objects. */
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
  throw new ServiceResponseError(`Cannot use the answer to ${request}: it is no JSON object`);
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

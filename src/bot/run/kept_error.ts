/**
 * What a step of a conversation threw, as plain data, and the same error again when it is replayed.
 *
 * @module
 */

import * as matrix from "../../../mod.ts";
import { ConversationEndedError, ConversationError } from "./errors.ts";

/** An error as plain data. */
export interface KeptError {
  /** The name of its class. */
  readonly name: string;
  /** What it says. */
  readonly message: string;
  /** What else an error of Greenroom has: a code, a status. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Any class of errors. */
type ErrorClass = { readonly prototype: Error };

const KNOWN: readonly unknown[] = [
  ...Object.values(matrix),
  ...[ConversationError, ConversationEndedError, Error, EvalError, RangeError, ReferenceError, SyntaxError],
  ...[TypeError, URIError],
];
/** The classes of which an error comes back. */
const CLASSES: ReadonlyMap<string, ErrorClass> = new Map(
  KNOWN.filter(isErrorClass).map((each) => [each.name, each]),
);
/** How long a server's answer may be that a record keeps, in characters of JSON. */
const MAX_MEMBERS = 10_000;

/** Keeps an error. What is thrown that is none is kept as one. */
export function keptError(error: unknown): KeptError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  return error instanceof matrix.MatrixError
    ? { name, message, members: membersOf(error) }
    : { name, message };
}

/**
 * Makes the error that was kept: of the same class, if it is one of Greenroom's or JavaScript's; else
 * a {@link ConversationError} with its name.
 */
export function revivedError({ name, message, members = {} }: KeptError): Error {
  const error = new ConversationError(message);
  Object.setPrototypeOf(error, (CLASSES.get(name) ?? ConversationError).prototype);
  for (const [key, value] of Object.entries({ ...structuredClone(members), name })) {
    Object.defineProperty(error, key, { value, configurable: true, enumerable: true, writable: true });
  }
  return error;
}

function membersOf(error: matrix.MatrixError): Record<string, unknown> {
  const { cause: _cause, name: _name, ...members } = error as matrix.MatrixError & Record<string, unknown>;
  try {
    const json = JSON.stringify(members);
    return json.length > MAX_MEMBERS ? { code: error.code } : JSON.parse(json);
  } catch {
    return { code: error.code }; // of a class of the application's, with what is no plain data
  }
}

function isErrorClass(value: unknown): value is ErrorClass & { readonly name: string } {
  return typeof value === "function" && (value === Error || value.prototype instanceof Error);
}

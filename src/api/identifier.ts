/**
 * Identifiers given by callers, checked before anything is sent.
 *
 * Only what tells the kinds apart is looked at, the sigil and the colon: the server knows the rest better.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#identifier-grammar | Identifier grammar}
 * @module
 */

import { ValueError } from "../errors/value_error.ts";

/** What an identifier must look like, by the name of the parameter that carries it. A room ID promises no colon. */
const PATTERNS: Readonly<Record<string, readonly [pattern: RegExp, description: string]>> = {
  roomId: [/^!./s, "a room ID: !opaque"],
  roomAlias: [/^#.*:./s, "a room alias: #localpart:server.name"],
  roomIdOrAlias: [/^(!.|#.*:.)/s, "a room ID or a room alias: !opaque or #localpart:server.name"],
  userId: [/^@.*:./s, "a user ID: @localpart:server.name"],
  eventId: [/^\$./s, "an event ID: $opaque"],
  aliasLocalpart: [
    /^[^#:\0][^:\0]*$/,
    "the local part of a room alias, without # in front and without colon",
  ],
};

/** The parameters whose values {@link checkIdentifier} knows the look of. */
export type IdentifierName =
  | "roomId"
  | "roomAlias"
  | "roomIdOrAlias"
  | "userId"
  | "eventId"
  | "aliasLocalpart";

/**
 * Checks an identifier.
 *
 * @param name The parameter that carries it; a value of a parameter with any other name passes.
 * @param value The identifier.
 * @throws {ValueError} If it can't be of the kind that its parameter takes.
 */
export function checkIdentifier(
  name: IdentifierName | (string & Record<never, never>),
  value: unknown,
): void {
  const known = Object.hasOwn(PATTERNS, name) ? PATTERNS[name] : undefined;
  if (known === undefined || (typeof value === "string" && known[0].test(value))) return;
  const given = typeof value === "string"
    ? JSON.stringify(value.slice(0, 255))
    : `a value of type ${typeof value}`;
  throw new ValueError(`Cannot use ${given} as ${name}: it must be ${known[1]}`);
}

/** Checks an identifier, and hands it out: for use inside an expression. */
export function checked<Value>(name: IdentifierName, value: Value): Value {
  checkIdentifier(name, value);
  return value;
}

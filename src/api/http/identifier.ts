/**
 * Identifiers given by callers, checked before anything is sent.
 *
 * Only what tells the kinds apart is looked at, the sigil, and of the server's name, if there is one, the grammar: the server knows
 * the rest better.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#identifier-grammar | Identifier grammar}
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { parseQualifiedId } from "../../base/qualified_id.ts";
import { isUserId } from "../../base/user_id.ts";

const isRoomId = (id: string): boolean => /^!./s.test(id); // which promises no colon
const isRoomAlias = (id: string): boolean => parseQualifiedId("#", id) !== undefined;

/** What an identifier must be, by the name of the parameter that carries it. */
const KINDS: Readonly<Record<IdentifierName, readonly [is: (id: string) => boolean, description: string]>> = {
  roomId: [isRoomId, "a room ID: !opaque"],
  roomAlias: [isRoomAlias, "a room alias: #localpart:server.name"],
  roomIdOrAlias: [
    (id) => isRoomId(id) || isRoomAlias(id),
    "a room ID or a room alias: !opaque or #localpart:server.name",
  ],
  userId: [isUserId, "a user ID: @localpart:server.name"],
  eventId: [(id) => /^\$./s.test(id), "an event ID: $opaque"],
  aliasLocalpart: [
    (localpart) => /^[^#:\0][^:\0]*$/.test(localpart),
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

/** Whether a value is an identifier of a kind. */
export function isIdentifier(name: IdentifierName, value: unknown): boolean {
  return typeof value === "string" && KINDS[name][0](value);
}

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
  const known = Object.hasOwn(KINDS, name) ? KINDS[name as IdentifierName] : undefined;
  if (known === undefined || (typeof value === "string" && known[0](value))) return;
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

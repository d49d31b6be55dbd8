/**
 * User IDs, taken apart.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#user-identifiers | User identifiers}
 * @module
 */

import { ValueError } from "../errors/value_error.ts";
import { MAX_ID_BYTES } from "../types/checks/identifiers.ts";
import type { UserID } from "../types/ids.ts";
import { parseQualifiedId } from "./qualified_id.ts";

/** The parts of a user ID. */
export type UserIDParts = [localpart: string, serverName: string];

/**
 * Takes a user ID apart.
 *
 * Of the local part the historical grammar is taken: any characters but `:` and NUL; it may be empty. The server name must be one
 * by the grammar, its port at most 65535, and the whole at most 255 bytes long.
 *
 * @param mxid The user ID.
 * @returns The local part and the server name.
 * @throws {ValueError} If it is no user ID.
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 *
 * const [localpart, serverName] = Client.parseUserId("@alice:example.org");
 * console.assert(localpart === "alice" && serverName === "example.org");
 * ```
 */
export function parseUserId(mxid: string): UserIDParts {
  const parts = parseQualifiedId("@", mxid);
  if (parts !== undefined) return parts;
  throw new ValueError(`Cannot take ${quoted(mxid)} for a user ID: it must look like @localpart:server.name`);
}

/** Whether a value is a user ID. */
export function isUserId(mxid: unknown): mxid is UserID {
  return parseQualifiedId("@", mxid) !== undefined;
}

function quoted(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, MAX_ID_BYTES)) : `a ${typeof value}`;
}

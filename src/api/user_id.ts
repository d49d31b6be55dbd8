/**
 * User IDs, taken apart.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#user-identifiers | User identifiers}
 * @module
 */

import { ValueError } from "../errors/value_error.ts";
import type { UserID } from "../types/ids.ts";

/** The longest identifier there is, in bytes. */
const MAX_BYTES = 255;

/** The parts of a user ID. */
export type UserIDParts = [localpart: string, serverName: string];

/**
 * Takes a user ID apart.
 *
 * The historical grammar is taken: any characters in the local part, but for `:` and NUL; it may be empty.
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
  const colon = typeof mxid === "string" ? mxid.indexOf(":") : -1;
  const parts = colon > 0 && mxid.startsWith("@")
    ? [mxid.slice(1, colon), mxid.slice(colon + 1)] as const
    : undefined;
  if (
    parts === undefined || parts[1] === "" || mxid.includes("\0") || !mxid.isWellFormed() ||
    new TextEncoder().encode(mxid).length > MAX_BYTES || /[^0-9A-Za-z.\-:[\]]/.test(parts[1])
  ) {
    throw new ValueError(
      `Cannot take ${quoted(mxid)} for a user ID: it must look like @localpart:server.name`,
    );
  }
  return [parts[0], parts[1]];
}

/** Whether a value is a user ID. */
export function isUserId(mxid: unknown): mxid is UserID {
  try {
    return typeof mxid === "string" && parseUserId(mxid).length === 2;
  } catch {
    return false;
  }
}

function quoted(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, MAX_BYTES)) : `a ${typeof value}`;
}

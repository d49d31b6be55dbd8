/**
 * Identifiers that name their server: user IDs and room aliases.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#common-namespace-format | Common namespace format}
 * @module
 */

import { parseServerName } from "./server_name.ts";
import { isName } from "../types/checks/identifiers.ts";

/**
 * Takes an identifier apart at its first colon.
 *
 * Of the local part only what no server ever allowed is refused: colons and NUL. It may be empty.
 *
 * @param sigil What it begins with.
 * @param id The identifier.
 * @returns The local part and the server name; undefined if it is no such identifier.
 */
export function parseQualifiedId(
  sigil: "@" | "#",
  id: unknown,
): [localpart: string, serverName: string] | undefined {
  if (!isName(id) || !id.startsWith(sigil) || id.includes("\0") || !id.isWellFormed()) return undefined;
  const colon = id.indexOf(":");
  if (colon < 0) return undefined;
  const serverName = id.slice(colon + 1);
  return parseServerName(serverName) && [id.slice(1, colon), serverName];
}

/**
 * Which aliases a room may call its own.
 *
 * @module
 */

import type { RoomAlias } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { badRequest, invalidParam } from "../../http/failure.ts";
import type { Room } from "../rooms/room.ts";
import type { ServerState } from "../server_state.ts";

/** Refuses a canonical alias event that names what does not lead to the room. */
export function checkAliases(server: ServerState, room: Room, content: JsonObject): void {
  const old = room.state("m.room.canonical_alias")?.content ?? {};
  const { alias, alt_aliases: others = [] }: JsonObject = content;
  if (!Array.isArray(others)) throw invalidParam("The alt_aliases property must be a list.");
  const known: unknown[] = [old.alias, ...(Array.isArray(old.alt_aliases) ? old.alt_aliases : [])];
  const named: unknown[] = alias === undefined || alias === null || alias === ""
    ? others
    : [alias, ...others];
  for (const name of named) {
    if (typeof name !== "string") throw invalidParam("Each alias must be of type string.");
    if (known.includes(name)) continue;
    if (!/^#[^:]*:.+$/.test(name)) throw invalidParam(`Room alias ${name} must be of the form #name:server`);
    if (server.aliases.get(name as RoomAlias)?.room !== room.id) {
      throw badRequest("M_BAD_ALIAS", `Room alias ${name} does not point to the room`);
    }
  }
}

/**
 * The differences between room versions that clients can see, and what a redaction leaves in each.
 *
 * @see {@link https://spec.matrix.org/v1.16/rooms/ | Room versions}
 * @see {@link https://spec.matrix.org/v1.16/rooms/v11/#redactions | Redactions}
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { stringAt } from "../json/json.ts";

/** The traits of a room version. */
export interface RoomVersion {
  /** Its name: `1` to `12`. */
  readonly id: string;
  /** Event IDs carry the server name (1 and 2). */
  readonly eventIdsWithServer: boolean;
  /** Aliases are state that only their own server may write (1 to 5). */
  readonly aliasEvents: boolean;
  /** Content is canonical JSON, and levels of notifications are guarded (from 6). */
  readonly strictJson: boolean;
  /** Users may knock (from 7). */
  readonly knock: boolean;
  /** Joining may be allowed by membership in other rooms (from 8). */
  readonly restricted: boolean;
  /** Redaction keeps `join_authorised_via_users_server` (from 9). */
  readonly keepsAuthorisingServer: boolean;
  /** Both together, and power levels must be integers (from 10). */
  readonly knockRestricted: boolean;
  /** `redacts` is in the content, the creator is the sender, redaction keeps more (from 11). */
  readonly modernRedaction: boolean;
  /** The room ID is that of its create event, and creators have infinite power (from 12). */
  readonly creatorPower: boolean;
}

/** The version of a room that is created without naming one; the default of Synapse 1.163. */
export const DEFAULT_ROOM_VERSION = "12";

/** All versions by name. */
export const ROOM_VERSIONS: ReadonlyMap<string, RoomVersion> = new Map(
  Array.from({ length: 12 }, (_, i) => i + 1).map((version) => [String(version), {
    id: String(version),
    eventIdsWithServer: version <= 2,
    aliasEvents: version <= 5,
    strictJson: version >= 6,
    knock: version >= 7,
    restricted: version >= 8,
    keepsAuthorisingServer: version >= 9,
    knockRestricted: version >= 10,
    modernRedaction: version >= 11,
    creatorPower: version >= 12,
  }]),
);

/** The content of an event of this type after redaction. */
export function redactedContent(version: RoomVersion, type: string, content: JsonObject): JsonObject {
  if (type === "m.room.create" && version.modernRedaction) return content;
  const kept = pick(content, keptKeys(version, type));
  if (type === "m.room.member" && version.modernRedaction && isJsonObject(content.third_party_invite)) {
    const signed = pick(content.third_party_invite, ["signed"]);
    if (Object.keys(signed).length > 0) kept.third_party_invite = signed;
  }
  return kept;
}

function keptKeys(version: RoomVersion, type: string): readonly string[] {
  switch (type) {
    case "m.room.member":
      return version.keepsAuthorisingServer
        ? ["membership", "join_authorised_via_users_server"]
        : ["membership"];
    case "m.room.create":
      return ["creator"];
    case "m.room.join_rules":
      return version.restricted ? ["join_rule", "allow"] : ["join_rule"];
    case "m.room.power_levels": {
      const kept = [
        "users",
        "users_default",
        "events",
        "events_default",
        "state_default",
        "ban",
        "kick",
        "redact",
      ];
      return version.modernRedaction ? [...kept, "invite"] : kept;
    }
    case "m.room.aliases":
      return version.aliasEvents ? ["aliases"] : [];
    case "m.room.history_visibility":
      return ["history_visibility"];
    case "m.room.redaction":
      return version.modernRedaction ? ["redacts"] : [];
    default:
      return [];
  }
}

/** The ID that a redaction in this room version redacts. */
export function redactedId(
  version: RoomVersion,
  draft: { redacts?: string; content: JsonObject },
): string | undefined {
  return version.modernRedaction ? stringAt(draft.content, "redacts") ?? draft.redacts : draft.redacts;
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]),
  );
}

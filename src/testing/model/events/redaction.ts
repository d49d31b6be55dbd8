/**
 * What a redaction leaves of an event.
 *
 * @see {@link https://spec.matrix.org/v1.16/rooms/v11/#redactions | Redactions}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { stringAt } from "../../http/read.ts";
import type { RoomVersion } from "../rooms/room_version.ts";

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

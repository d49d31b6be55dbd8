/**
 * What a redaction names, and what it leaves of a state event, by the version of the room.
 *
 * @module
 */

import type { StoredState } from "../../store/device/mod.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import { isReceivedEventId } from "../../types/identifiers.ts";
import type { EventID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** From this room version on the content of a redaction says what is redacted. */
const SAYS_IN_CONTENT = 11;
/** Room versions that are no numbers are newer than those that are. */
const NEWEST = Infinity;

/**
 * The number of a room's version.
 *
 * @param create The room's create event; undefined: it is not known.
 * @returns Undefined if it is not known.
 */
export function versionOf(create: StoredState | undefined): number | undefined {
  if (create === undefined) return undefined;
  const { room_version: version = "1" } = create.content;
  return typeof version === "string" && /^\d+$/.test(version) ? Number(version) : NEWEST;
}

/**
 * The ID of the event that a redaction redacts. Its content is what its sender made up,
 * so in a room of an old version, or one that may be, what the server says beside it counts.
 *
 * @param redaction The redaction.
 * @param version The number of the room's version; undefined: it is not known.
 */
export function redactedId(
  { redacts, content }: MessageEvent,
  version: number | undefined,
): EventID | undefined {
  const id = version === undefined
    ? redacts ?? content.redacts
    : version < SAYS_IN_CONTENT
    ? redacts
    : content.redacts;
  return isReceivedEventId(id) ? id : undefined;
}

/**
 * A state event after its redaction.
 *
 * @param event The event.
 * @param redaction The redaction.
 * @param version The number of the room's version.
 */
export function redactedState(event: StoredState, redaction: MessageEvent, version = NEWEST): StoredState {
  const { type, event_id, sender, origin_server_ts, content: { reason } } = redaction;
  const redacted_because = {
    type,
    event_id,
    sender,
    origin_server_ts,
    content: typeof reason === "string" ? { reason } : {},
  };
  const content = keptContent(event, version);
  // With the members that all have.
  return { ...event, content, unsigned: { redacted_because } } as StoredState;
}

function keptContent({ type, content }: StoredState, version: number): JsonObject {
  if (type === "m.room.create" && version >= 11) return content;
  const kept = pick(content, keptKeys(type, version));
  if (type === "m.room.member" && version >= 11 && isJsonObject(content.third_party_invite)) {
    const invite = pick(content.third_party_invite, ["signed"]);
    if (Object.keys(invite).length > 0) kept.third_party_invite = invite;
  }
  return kept;
}

const LEVELS = [
  "ban",
  "events",
  "events_default",
  "kick",
  "redact",
  "state_default",
  "users",
  "users_default",
];

function keptKeys(type: string, version: number): readonly string[] {
  switch (type) {
    case "m.room.create":
      return ["creator"];
    case "m.room.member":
      return version >= 9 ? ["membership", "join_authorised_via_users_server"] : ["membership"];
    case "m.room.join_rules":
      return version >= 8 ? ["join_rule", "allow"] : ["join_rule"];
    case "m.room.power_levels":
      return version >= 11 ? [...LEVELS, "invite"] : LEVELS;
    case "m.room.history_visibility":
      return ["history_visibility"];
    case "m.room.aliases":
      return version <= 5 ? ["aliases"] : [];
    default:
      return [];
  }
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]),
  );
}

/**
 * Replacing a room by one of another version.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#room-upgrades | Room upgrades}
 * @module
 */

import type { EventID } from "../../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { forbidden } from "../../http/failure.ts";
import { changeMembership } from "./change_membership.ts";
import { createRoom } from "./create_room.ts";
import type { Room } from "./room.ts";
import type { RoomVersion } from "./room_version.ts";
import { newEventId, sendEvent } from "../events/send_event.ts";
import type { ServerState } from "../server_state.ts";
import type { User } from "../users/user.ts";

/** The state that moves along; everything else stays behind. */
const CARRIED = [
  "m.room.join_rules",
  "m.room.name",
  "m.room.topic",
  "m.room.history_visibility",
  "m.room.guest_access",
  "m.room.avatar",
  "m.room.encryption",
  "m.room.server_acl",
];

/** What a room is replaced by. */
export interface Upgrade {
  /** Its version. */
  readonly version: RoomVersion;
  /** Who is its creator beside the user; versions before 12 know only one. */
  readonly additionalCreators: readonly string[];
}

/** Makes the replacement, carries the state over, and closes the old room with a tombstone. */
export function upgradeRoom(server: ServerState, old: Room, user: User, upgrade: Upgrade): Room {
  const { version } = upgrade;
  if (old.membership(user.id) !== "join") throw forbidden(`User ${user.id} not in room ${old.id}`);
  if (old.powerLevels.of(user.id) < old.powerLevels.toSend("m.room.tombstone", IS_STATE)) {
    throw forbidden("You don't have permission to post that to the room");
  }
  const tombstone = newEventId(server, old); // the new room says that it begins where the old one ends
  const carried = CARRIED.flatMap((type) => {
    const event = old.state(type);
    return event === undefined ? [] : [{ type, stateKey: "", content: event.content }];
  });
  const replacement = createRoom(server, {
    creator: user.id,
    version,
    preset: "private_chat",
    published: false,
    initialState: [...carried, ...spaceChildren(old)],
    invite: [],
    isDirect: false,
    creationContent: creationContent(old, tombstone, upgrade),
    powerLevels: powerLevels(old, user, upgrade),
  });
  for (const banned of old.membersWith("ban")) {
    changeMembership(server, replacement, { sender: user.id, target: banned, action: "ban" });
  }
  sendEvent(server, old, {
    id: tombstone,
    type: "m.room.tombstone",
    sender: user.id,
    stateKey: "",
    content: { body: "This room has been replaced", replacement_room: replacement.id },
  });
  moveAliases(server, old, replacement, user);
  restrict(server, old, user);
  return replacement;
}

const IS_STATE = true;

function creationContent(
  old: Room,
  tombstone: EventID,
  { version, additionalCreators }: Upgrade,
): JsonObject {
  const { type, "m.federate": federate } = old.state("m.room.create")?.content ?? {};
  const creators = version.creatorPower && additionalCreators.length > 0
    ? { additional_creators: additionalCreators }
    : {};
  // From version 12 on the room ID alone says which room it was.
  const event = version.creatorPower ? {} : { event_id: tombstone };
  return {
    ...(type !== undefined && { type }),
    ...(federate === false && { "m.federate": false }),
    ...creators,
    predecessor: { room_id: old.id, ...event },
  };
}

function spaceChildren(old: Room) {
  return old.fullState().filter(({ type, content }) =>
    type === "m.space.child" && Object.keys(content).length > 0
  )
    .map(({ type, stateKey = "", content }) => ({ type, stateKey, content }));
}

function powerLevels(old: Room, user: User, { version, additionalCreators }: Upgrade): JsonObject {
  const content: JsonObject = { ...old.state("m.room.power_levels")?.content };
  const users: JsonObject = isJsonObject(content.users) ? { ...content.users } : {};
  // The one who upgrades is a creator now: from version 12 on, creators are not listed.
  if (version.creatorPower) { for (const creator of [user.id, ...additionalCreators]) delete users[creator]; }
  else users[user.id] = Math.max(100, Number(users[user.id] ?? 0));
  return { ...content, users };
}

function moveAliases(server: ServerState, old: Room, replacement: Room, user: User): void {
  const canonical = old.state("m.room.canonical_alias")?.content;
  for (const [alias, entry] of server.aliases) {
    if (entry.room === old.id) server.aliases.set(alias, { ...entry, room: replacement.id });
  }
  replacement.published = old.published;
  old.published = false;
  if (canonical === undefined) return;
  const sender = user.id;
  sendEvent(server, old, { type: "m.room.canonical_alias", sender, stateKey: "", content: {} });
  sendEvent(server, replacement, {
    type: "m.room.canonical_alias",
    sender,
    stateKey: "",
    content: canonical,
  });
}

/** Restricts who may send in the old room. */
function restrict(server: ServerState, old: Room, user: User): void {
  const content = old.state("m.room.power_levels")?.content ?? {};
  const level = Math.max(50, Number(content.users_default ?? 0) + 1);
  const events_default = Math.max(level, Number(content.events_default ?? 0));
  const invite = Math.max(level, Number(content.invite ?? 0));
  sendEvent(server, old, {
    type: "m.room.power_levels",
    sender: user.id,
    stateKey: "",
    content: { ...content, events_default, invite },
  });
}

/**
 * Replacing a room by one of another version.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#room-upgrades | Room upgrades}
 * @module
 */

import type { EventID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { Failure } from "../json/json.ts";
import { checkEvent, checkSender, type Room, type RoomVersion } from "../rooms/mod.ts";
import type { User } from "../users/mod.ts";
import { createRoom, type InitialState } from "./create_room.ts";
import { newEventId, sendEvent } from "./send_event.ts";
import type { ServerState } from "./server_state.ts";

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
interface Upgrade {
  readonly version: RoomVersion;
  /** Who is its creator beside the user; versions before 12 know only one. */
  readonly additionalCreators: readonly string[];
}

/** Makes the replacement, carries over what belongs to it, and closes the old room with a tombstone. */
export function upgradeRoom(server: ServerState, old: Room, user: User, upgrade: Upgrade): Room {
  const id = newEventId(server, old); // the new room says that it begins where the old one ends
  const tombstone = { id, type: "m.room.tombstone", sender: user.id, stateKey: "" };
  checkSender(old, { ...tombstone, content: {} });
  checkEvent(old, { ...tombstone, content: {} });
  const levels = old.state("m.room.power_levels")?.content ?? {};
  const aliases = old.state("m.room.canonical_alias")?.content;
  const replacement = makeReplacement(server, old, user, upgrade, id);
  sendEvent(server, old, {
    ...tombstone,
    content: { body: "This room has been replaced", replacement_room: replacement.id },
  });
  moveAliases(server, old, replacement);
  if (aliases !== undefined) moveCanonicalAlias(server, old, replacement, user, aliases);
  for (const member of old.membersWith("join")) copySettings(server, old, replacement, member);
  replacement.published ||= old.published;
  old.published = false;
  restrict(server, old, user, levels);
  // The one who upgrades had the power that it took; what they had before is theirs again.
  put(server, replacement, user, "m.room.power_levels", withoutCreators(levels, user, upgrade));
  return replacement;
}

function put(server: ServerState, room: Room, user: User, type: string, content: JsonObject): void {
  sendEvent(server, room, { type, sender: user.id, stateKey: "", content });
}

/** Does what need not succeed. */
function attempt(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

function makeReplacement(
  server: ServerState,
  old: Room,
  user: User,
  upgrade: Upgrade,
  tombstone: EventID,
): Room {
  const carried = CARRIED.flatMap((type): InitialState[] => {
    const event = old.state(type);
    return event === undefined ? [] : [{ type, stateKey: "", content: event.content }];
  });
  const levels = withoutCreators(startingLevels(old, user), user, upgrade);
  const replacement = createRoom(server, {
    creator: user.id,
    version: upgrade.version,
    preset: "private_chat",
    published: false,
    initialState: [
      ...carried,
      { type: "m.room.power_levels", stateKey: "", content: levels },
      ...spaceChildren(old),
    ],
    invite: [],
    isDirect: false,
    creationContent: creationContent(old, tombstone, upgrade),
    powerLevels: {},
  });
  for (const stateKey of old.membersWith("ban")) {
    const content = old.members.get(stateKey)?.content ?? {};
    sendEvent(server, replacement, { type: "m.room.member", sender: user.id, stateKey, content });
  }
  return replacement;
}

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

function spaceChildren(old: Room): InitialState[] {
  if (old.state("m.room.create")?.content.type !== "m.space") return [];
  return old.fullState().filter(({ type, content }) =>
    type === "m.space.child" && Object.keys(content).length > 0
  ).map(({ type, stateKey = "", content }) => ({ type, stateKey, content }));
}

/** The levels of the old room, with enough for the one who upgrades to carry its state over. */
function startingLevels(old: Room, user: User): JsonObject {
  const content = old.state("m.room.power_levels")?.content ?? {};
  const users: JsonObject = isJsonObject(content.users) ? { ...content.users } : {};
  const { powerLevels } = old;
  const events = isJsonObject(content.events) ? Object.values(content.events).map(Number) : [];
  const needed = Math.max(powerLevels.named("state_default"), powerLevels.named("ban"), 0, ...events);
  if (Number(users[user.id] ?? powerLevels.named("users_default")) < needed) users[user.id] = needed;
  return { ...content, users };
}

/** From version 12 on, creators are not among the users with a level. */
function withoutCreators(content: JsonObject, user: User, upgrade: Upgrade): JsonObject {
  if (!upgrade.version.creatorPower || !isJsonObject(content.users)) return content;
  const users: JsonObject = { ...content.users };
  for (const creator of [user.id, ...upgrade.additionalCreators]) delete users[creator];
  return { ...content, users };
}

function moveAliases(server: ServerState, old: Room, replacement: Room): void {
  for (const [alias, entry] of server.aliases) {
    if (entry.room === old.id) server.aliases.set(alias, { ...entry, room: replacement.id });
  }
}

/** Those aliases move that this homeserver has. */
function moveCanonicalAlias(
  server: ServerState,
  old: Room,
  replacement: Room,
  user: User,
  content: JsonObject,
): void {
  const isOwn = (alias: unknown) => String(alias).endsWith(`:${server.settings.serverName}`);
  const { alias, alt_aliases: given, ...rest }: JsonObject = content;
  const others: unknown[] = Array.isArray(given) ? given : [];
  const aliases = (main: boolean, alternatives: unknown[]): JsonObject => ({
    ...(main && alias !== undefined && { alias }),
    ...(alternatives.length > 0 && { alt_aliases: alternatives }),
  });
  const left = aliases(!isOwn(alias), others.filter((other) => !isOwn(other)));
  const moved = aliases(isOwn(alias), others.filter(isOwn));
  attempt(() => put(server, old, user, "m.room.canonical_alias", { ...rest, ...left }));
  attempt(() => put(server, replacement, user, "m.room.canonical_alias", moved));
}

/** Copies what a member has set for the old room. */
function copySettings(server: ServerState, old: Room, replacement: Room, member: UserID): void {
  const user = server.users.get(member);
  if (user === undefined) return;
  const direct = user.accountData.get("m.direct") ?? {};
  for (const [partner, rooms] of Object.entries(direct)) {
    if (!Array.isArray(rooms) || !rooms.includes(old.id)) continue;
    const content = { ...direct, [partner]: [...rooms, replacement.id] };
    user.accountData.set("m.direct", content, server.stream.advance());
    break;
  }
  const tags = user.tags.get(old.id) ?? {};
  if (Object.keys(tags).length > 0) user.tags.set(replacement.id, tags, server.stream.advance());
  const rule = user.pushRules.find("room", old.id);
  if (rule?.enabled !== true) return;
  user.pushRules.put("room", { ...rule, rule_id: replacement.id }, {});
  server.savePushRules(user);
}

/** Restricts who may send and invite in the old room. */
function restrict(server: ServerState, old: Room, user: User, content: JsonObject): void {
  const level = Math.max(50, Number(content.users_default ?? 0) + 1);
  const events_default = Math.max(level, Number(content.events_default ?? 0));
  const invite = Math.max(level, Number(content.invite ?? 0));
  attempt(() => put(server, old, user, "m.room.power_levels", { ...content, events_default, invite }));
}

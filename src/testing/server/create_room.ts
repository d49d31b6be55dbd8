/**
 * Making rooms, and replacing one by one of another version.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3createroom | POST /createRoom}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-upgrades | Room upgrades}
 *
 * Over 300 lines because an upgrade makes a room of what the old one was.
 *
 * @module
 */

import type { EventID, RoomAlias, RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { Failure } from "../json/json.ts";
import { checkEvent, checkSender, Room, type RoomVersion } from "../rooms/mod.ts";
import type { User } from "../users/mod.ts";
import { changeMembership, newEventId, sendEvent } from "./send_event.ts";
import type { ServerState } from "./server_state.ts";

/** A state event that a room begins with. */
export interface InitialState {
  /** The event type. */
  readonly type: string;
  readonly stateKey: string;
  readonly content: JsonObject;
}

/** What a room begins with. */
interface RoomPlan {
  readonly creator: UserID;
  readonly version: RoomVersion;
  /** `private_chat`, `trusted_private_chat` or `public_chat`. */
  readonly preset: string;
  /** Whether the directory lists it. */
  readonly published: boolean;
  /** Its alias, which must be free. */
  readonly alias?: RoomAlias;
  readonly name?: unknown;
  readonly topic?: unknown;
  /** State that overrides what the preset brings. */
  readonly initialState: readonly InitialState[];
  /** Who is invited. */
  readonly invite: readonly UserID[];
  /** Whether the invites are marked as those of a direct chat. */
  readonly isDirect: boolean;
  /** What the create event says besides. */
  readonly creationContent: JsonObject;
  /** What replaces parts of the default power levels. */
  readonly powerLevels: JsonObject;
}

/**
 * Makes a room as planned and returns it. When a part of it is refused, what stays is a room with
 * its creator and nothing else, and its alias: so it is on Synapse.
 */
export function createRoom(server: ServerState, plan: RoomPlan): Room {
  const { creator, version } = plan;
  const room = new Room(newRoomId(server, plan), version, server.settings.serverName);
  const put = (type: string, content: JsonObject, stateKey = "") => {
    sendEvent(server, room, { type, sender: creator, stateKey, content });
  };
  put("m.room.create", createContent(plan));
  server.rooms.set(room.id, room);
  room.published = plan.published;
  if (plan.alias !== undefined) server.aliases.set(plan.alias, { room: room.id, creator });
  changeMembership(server, room, { sender: creator, target: creator, action: "join" });
  try {
    fill(plan, put);
  } catch (error) {
    keepBeginning(server, room);
    throw error;
  }
  for (const user of plan.invite) {
    const content = plan.isDirect ? { is_direct: true } : {};
    changeMembership(server, room, { sender: creator, target: user, action: "invite", content });
  }
  return room;
}

/** Takes back what came after the creator had joined. */
function keepBeginning(server: ServerState, room: Room): void {
  const beginning = new Room(room.id, room.version, room.serverName);
  beginning.published = room.published;
  for (const event of room.events.slice(0, 2)) beginning.append(event);
  for (const user of room.members.keys()) {
    if (!beginning.members.has(user)) server.users.get(user)?.memberships.delete(room.id);
  }
  server.rooms.set(room.id, beginning);
}

/** The state of a new room that follows its creator. */
function fill(plan: RoomPlan, put: (type: string, content: JsonObject, stateKey?: string) => void): void {
  const given = new Map(plan.initialState.map((state) => [`${state.type}\0${state.stateKey}`, state]));
  const putDefault = (type: string, content: JsonObject) => {
    if (!given.has(`${type}\0`)) put(type, content);
  };
  const levels = given.get("m.room.power_levels\0");
  given.delete("m.room.power_levels\0");
  put("m.room.power_levels", levels?.content ?? { ...defaultLevels(plan), ...plan.powerLevels });
  if (plan.alias !== undefined) putDefault("m.room.canonical_alias", { alias: plan.alias });
  putDefault("m.room.join_rules", { join_rule: plan.preset === "public_chat" ? "public" : "invite" });
  putDefault("m.room.history_visibility", { history_visibility: "shared" });
  if (plan.preset !== "public_chat") putDefault("m.room.guest_access", { guest_access: "can_join" });
  for (const state of given.values()) put(state.type, state.content, state.stateKey);
  if (plan.name !== undefined) put("m.room.name", { name: plan.name });
  if (plan.topic !== undefined) put("m.room.topic", topicContent(plan.topic));
}

function newRoomId(server: ServerState, { creator, version }: RoomPlan): RoomID {
  const { ids } = server.settings;
  const serverName = creator.slice(creator.indexOf(":") + 1);
  return version.creatorPower ? `!${ids.next("room", 43)}` : `!${ids.next("room", 18)}:${serverName}`;
}

function createContent({ version, creator, creationContent, preset, invite }: RoomPlan): JsonObject {
  const content: JsonObject = { ...creationContent, room_version: version.id };
  if (!version.modernRedaction) content.creator = creator;
  if (version.creatorPower && preset === "trusted_private_chat" && invite.length > 0) {
    const given = content.additional_creators;
    content.additional_creators = [...new Set([...(Array.isArray(given) ? given : []), ...invite])];
  }
  return content;
}

function defaultLevels({ version, creator, preset, invite }: RoomPlan): JsonObject {
  const users: Record<string, number> = {};
  if (!version.creatorPower) {
    users[creator] = 100;
    if (preset === "trusted_private_chat") { for (const user of invite) users[user] = 100; }
  }
  return {
    users,
    users_default: 0,
    events: {
      "m.room.name": 50,
      "m.room.power_levels": 100,
      "m.room.history_visibility": 100,
      "m.room.canonical_alias": 50,
      "m.room.avatar": 50,
      "m.room.tombstone": version.creatorPower ? 150 : 100,
      "m.room.server_acl": 100,
      "m.room.encryption": 100,
      ...(preset === "public_chat" ? { "m.call.invite": 50 } : {}),
    },
    events_default: 0,
    state_default: 50,
    ban: 50,
    kick: 50,
    redact: 50,
    invite: preset === "public_chat" ? 50 : 0,
    historical: 100,
  };
}

/** The content of a topic in both forms of the specification. */
function topicContent(topic: unknown): JsonObject {
  return { topic, "m.topic": { "m.text": [{ body: topic }] } };
}

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

/**
 * Making rooms.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3createroom | POST /createRoom}
 * @module
 */

import type { RoomAlias, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { Room, type RoomVersion } from "../rooms/mod.ts";
import { changeMembership } from "./change_membership.ts";
import { sendEvent } from "./send_event.ts";
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

/**
 * Checks events, and adds them to rooms; also changes of membership as clients ask for them: joins, invites,
 * knocks, leaves, kicks, bans.
 *
 * Over 300 lines because a change of membership is an event that is sent.
 *
 * @module
 */

import type { EventID, RoomAlias, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  badJson,
  badRequest,
  canonicalJson,
  Failure,
  forbidden,
  invalidParam,
  notFound,
  refused,
} from "../json/json.ts";
import {
  allowedRooms,
  checkContent,
  checkEvent,
  checkSender,
  checkSize,
  type EventDraft,
  eventToShow,
  isRestricted,
  redactedContent,
  redactedId,
  relationOf,
  type Room,
  type RoomEvent,
} from "../rooms/mod.ts";
import type { ServerState } from "./server_state.ts";

/**
 * Checks an event against the rules of the room and adds it. A state event that changes nothing is
 * not sent again.
 */
export function sendEvent(server: ServerState, room: Room, draft: EventDraft): RoomEvent {
  checkSender(room, draft);
  checkContent(room, draft);
  checkRelation(server, room, draft);
  const previous = draft.stateKey === undefined ? undefined : room.state(draft.type, draft.stateKey);
  if (
    previous !== undefined && previous.sender === draft.sender &&
    canonicalJson(previous.content) === canonicalJson(draft.content)
  ) {
    return previous;
  }
  checkSize(room, draft);
  checkEvent(room, draft);
  if (draft.type === "m.room.canonical_alias") checkAliases(server, room, draft.content);
  if (draft.type === "m.room.redaction") checkRedaction(server, room, draft);
  const event: RoomEvent = {
    ...draft,
    id: draft.id ?? newEventId(server, room),
    roomId: room.id,
    timestamp: draft.timestamp ?? server.now,
    position: server.stream.advance(),
    index: room.events.length,
    replaces: previous,
  };
  room.append(event);
  if (event.type === "m.room.redaction") applyRedaction(room, event);
  if (event.type === "m.room.member" && event.stateKey !== undefined) {
    applyMembership(server, room, event, event.stateKey);
  }
  server.stream.wake(room.membersWith("join"));
  server.pushers.sent(room, event);
  server.appservices.sent(room, event);
  return event;
}

/** The ID of an event that is about to be sent. */
export function newEventId(server: ServerState, room: Room): EventID {
  // The ID of a room whose version says so is that of its create event.
  if (room.events.length === 0 && room.version.creatorPower) return `$${room.id.slice(1)}`;
  if (room.version.eventIdsWithServer) {
    return `$${server.settings.ids.next("event", 18)}:${server.settings.serverName}`;
  }
  return `$${server.settings.ids.next("event", 43)}`;
}

function applyRedaction(room: Room, redaction: RoomEvent): void {
  const target = room.event(redactedId(room.version, redaction) ?? "");
  if (target === undefined || target.redaction !== undefined) return;
  target.redaction = redaction;
  target.contentBefore = target.content;
  target.content = redactedContent(room.version, target.type, target.content);
  room.redacted(target);
}

function applyMembership(server: ServerState, room: Room, event: RoomEvent, target: string): void {
  const user = server.users.get(target as UserID);
  if (user === undefined) return;
  user.memberships.set(room.id, event);
  user.forgotten.delete(room.id);
  server.stream.wake([user.id]);
}

/** Refuses a canonical alias event that names what does not lead to the room. */
function checkAliases(server: ServerState, room: Room, content: JsonObject): void {
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

/**
 * Refuses a redaction of what must stay, and by those who may only redact their own events one of
 * another's.
 */
function checkRedaction(server: ServerState, room: Room, draft: EventDraft): void {
  const id = redactedId(room.version, draft) ?? "";
  const target = room.event(id) ?? server.event(id);
  if (target?.type === "m.room.create") throw forbidden("Redacting create events is not permitted");
  if (target !== undefined && target.roomId !== room.id) {
    throw refused("Cannot redact event from a different room");
  }
  if (target?.type === "m.room.server_acl") throw forbidden("Redacting server ACL events is not permitted");
  if (room.powerLevels.of(draft.sender) >= room.powerLevels.named("redact")) return;
  if (room.version.eventIdsWithServer && !id.includes(":")) {
    throw refused(`Invalid ID: '${id}'`);
  }
  if (target === undefined) throw notFound("Could not find event");
  if (target.sender !== draft.sender) throw forbidden("You don't have permission to redact events");
}

/** The longest key of an annotation. */
const MAX_KEY = 500;

/**
 * Refuses a relation to an event that is not in the room, a reaction without a key, too long or
 * sent before, and a thread that begins in an event that belongs to another.
 */
function checkRelation(server: ServerState, room: Room, draft: EventDraft): void {
  const relation = relationOf(draft);
  if (relation === undefined) return;
  const parent = eventToShow(room, relation.parent);
  if (parent === undefined) {
    throw refused(
      server.event(relation.parent) === undefined
        ? "Can't send relation to unknown event"
        : "Relations must be in the same room",
    );
  }
  if (relation.type === "m.annotation") {
    if (relation.key === undefined) throw refused("Missing aggregation key");
    if (relation.key.length > MAX_KEY) throw refused("Aggregation key is too long");
    const twice = room.relations.childrenOf(parent.id, "m.annotation").some((child) =>
      child.sender === draft.sender && child.type === draft.type &&
      room.relations.of(child)?.key === relation.key
    );
    if (twice) throw badRequest("M_DUPLICATE_ANNOTATION", "Can't send same reaction twice");
  }
  if (relation.type === "m.thread" && room.relations.of(parent) !== undefined) {
    throw refused("Cannot start threads from an event with a relation");
  }
}

/** The longest display name, in characters. */
const MAX_DISPLAYNAME = 256;
/** The longest avatar URL, in characters. */
const MAX_AVATAR_URL = 1000;

/** What someone asks for. */
export interface MembershipChange {
  /** Who asks. */
  readonly sender: UserID;
  /** Whose membership changes. */
  readonly target: UserID;
  /**
   * What they want: a membership, or one of the two ways to `leave` that someone else decides on.
   */
  readonly action: "join" | "invite" | "knock" | "leave" | "ban" | "kick" | "unban";
  /** Content that the caller gives, besides the membership. */
  readonly content?: JsonObject;
  /** Overrides the clock. */
  readonly timestamp?: number;
}

/**
 * Changes a membership. The member event gets the profile of its user where the caller gave none.
 */
export function changeMembership(server: ServerState, room: Room, change: MembershipChange): RoomEvent {
  const { sender, target, action } = change;
  checkProfile(change.content ?? {});
  if (room.events.length > 1 && room.membersWith("join").length === 0) {
    return changeInDeadRoom(server, room, change);
  }
  const before = room.members.get(target);
  const current = before === undefined ? undefined : room.membership(target);
  if (action === "unban" && current !== undefined && current !== "ban") {
    throw badState(`Cannot unban user who was not banned (membership=${current})`);
  }
  if (current === "ban" && !["ban", "unban", "leave"].includes(action)) {
    throw badState(`Cannot ${action} user who was banned`);
  }
  if (action === "invite" && server.users.get(target)?.blocksInvites === true) {
    throw new Failure(403, "M_INVITE_BLOCKED", "You are not permitted to invite this user.");
  }
  const membership = membershipFor(action);
  const content: JsonObject = { ...change.content, membership };
  delete content.join_authorised_via_users_server;
  if (membership === "join" || membership === "invite" || membership === "knock") {
    addProfile(server, target, content);
  }
  if (before?.sender === sender && canonicalJson(before.content) === canonicalJson(content)) return before;
  if (action === "kick" && (current === undefined || current === "leave" || current === "ban")) {
    throw forbidden("The target user is not in the room");
  }
  if (membership === "join" && current !== "join" && current !== "invite" && isRestricted(room)) {
    authoriseJoin(server, room, target, content);
  }
  return sendEvent(server, room, {
    type: "m.room.member",
    sender,
    stateKey: target,
    content,
    timestamp: change.timestamp,
  });
}

/**
 * A room that all have left is as if it were on another homeserver, and it is unknown on which. What
 * is left to do there is to decline an invite.
 */
function changeInDeadRoom(server: ServerState, room: Room, change: MembershipChange): RoomEvent {
  const { sender, target, action } = change;
  const current = room.members.get(target);
  const leaves = membershipFor(action) === "leave";
  if (action === "join" || action === "knock") throw notReachable();
  if (leaves && current === undefined) throw notKnown(server, target);
  const content: JsonObject = { ...change.content, membership: membershipFor(action) };
  if (action === "invite") addProfile(server, target, content);
  return sendEvent(server, room, { type: "m.room.member", sender, stateKey: target, content });
}

/** The answer to those who want into a room that the homeserver is not in. */
export function notReachable(): Failure {
  const message = "Can't join remote room because no servers that are in the room have been provided.";
  return new Failure(404, "M_UNKNOWN", message);
}

/** The answer to those who would remove a user from a room that the homeserver is not in. */
export function notKnown({ settings }: ServerState, target: UserID): Failure {
  if (!target.endsWith(`:${settings.serverName}`)) return badJson(`${target} is not a local user`);
  return new Failure(404, "M_UNKNOWN", "Not a known room");
}

function membershipFor(action: MembershipChange["action"]): string {
  return action === "kick" || action === "unban" ? "leave" : action;
}

function checkProfile({ displayname, avatar_url }: JsonObject): void {
  if (isTooLong(displayname, MAX_DISPLAYNAME)) {
    throw badJson(`Displayname is too long (max ${MAX_DISPLAYNAME})`);
  }
  if (isTooLong(avatar_url, MAX_AVATAR_URL)) throw badJson(`Avatar URL is too long (max ${MAX_AVATAR_URL})`);
}

function isTooLong(value: unknown, max: number): boolean {
  return typeof value === "string" && value.length > max;
}

/** Puts the global profile of `target` into a member event that says nothing about it. */
function addProfile(server: ServerState, target: UserID, content: JsonObject): void {
  const profile = server.users.get(target)?.profile;
  for (const key of ["displayname", "avatar_url"]) {
    const value = profile?.get(key);
    if (!Object.hasOwn(content, key) && value !== undefined && value !== null) content[key] = value;
  }
}

/**
 * A join to a restricted room needs a member of one of its rooms, vouched for by someone who may
 * invite.
 */
function authoriseJoin(server: ServerState, room: Room, target: UserID, content: JsonObject): void {
  const member = allowedRooms(room).some((id) => server.rooms.get(id)?.membership(target) === "join");
  if (!member) {
    // A knock may still be accepted, so the way in is an invite.
    throw forbidden("You do not belong to any of the required rooms/spaces to join this room.");
  }
  const voucher = room.membersWith("join").find((user) =>
    room.powerLevels.of(user) >= room.powerLevels.named("invite")
  );
  if (voucher === undefined) {
    throw new Failure(400, "M_UNABLE_TO_GRANT_JOIN", "No user can vouch for the join");
  }
  content.join_authorised_via_users_server = voucher;
}

function badState(message: string): Failure {
  return new Failure(403, "M_BAD_STATE", message);
}

/** The memberships that `PUT …/state/m.room.member/…` may name, as actions. */
export function actionFor(membership: unknown): MembershipChange["action"] {
  switch (membership) {
    case "join":
    case "invite":
    case "knock":
    case "leave":
    case "ban":
      return membership;
    default:
      throw refused("Invalid membership key");
  }
}

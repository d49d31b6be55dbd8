/**
 * The rooms of a sync response.
 *
 * @module
 */

import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { stringAt } from "../http/read.ts";
import { formatEvent, strippedEvent } from "../model/events/format_event.ts";
import { pickFields } from "../model/events/event_filter.ts";
import { receiptContent } from "../model/rooms/receipts.ts";
import type { Room } from "../model/rooms/room.ts";
import { membershipOf, type RoomEvent } from "../model/events/room_event.ts";
import { knowsMember, rememberMember, stateOf } from "./state_delta.ts";
import type { Arrivals } from "./arrivals.ts";
import { startOf, type SyncJob } from "./sync_job.ts";
import { pageToken } from "./sync_token.ts";
import { type Timeline, timelineOf } from "./timeline.ts";

/** The sections of rooms; empty ones are absent. Who comes and goes in them is noted. */
export function roomsOf(job: SyncJob, arrivals: Arrivals): JsonObject {
  const sections: Record<string, JsonObject> = {};
  const add = (section: string, room: RoomID, content: JsonObject | undefined) => {
    if (content !== undefined) (sections[section] ??= {})[room] = content;
  };
  for (const [id, member] of job.user.memberships) {
    const room = job.server.rooms.get(id);
    if (room === undefined) continue;
    switch (membershipOf(member)) {
      case "join":
        add("join", id, joinedRoom(job, room, arrivals));
        break;
      case "invite":
        add("invite", id, strippedRoom(job, room, member, "invite_state"));
        break;
      case "knock":
        add("knock", id, strippedRoom(job, room, member, "knock_state"));
        break;
      default:
        add("leave", id, leftRoom(job, room, member));
    }
  }
  return sections;
}

/** Whether the user came into the room since the last sync, perhaps not for the first time. */
function isNewlyJoined(job: SyncJob, room: Room): boolean {
  const since = startOf(job);
  if (job.since === undefined || room.latest <= since) return false;
  if (room.membership(job.user.id, since) !== "join") return true;
  return room.stateHistory("m.room.member", job.user.id).some((event) =>
    event.position > since && membershipOf(event) !== "join"
  );
}

function joinedRoom(job: SyncJob, room: Room, arrivals: Arrivals): JsonObject | undefined {
  const since = startOf(job);
  const ephemeral = ephemeralOf(job, room, since);
  const accountData = accountDataOf(job, room.id, isNewlyJoined(job, room) ? 0 : since);
  if (room.latest <= since && !job.fullState && ephemeral.length === 0 && accountData.length === 0) {
    return undefined;
  }
  const newlyJoined = isNewlyJoined(job, room);
  const full = job.since === undefined || job.fullState || newlyJoined;
  const timeline = timelineOf(job, room, newlyJoined ? 0 : since, job.until);
  const state = stateOf(job, room, timeline, job.until, full);
  const limited = timeline.limited || newlyJoined;
  const summary = summaryOf(job, room, { ...timeline, limited }, state);
  if (timeline.events.length + state.length + ephemeral.length + accountData.length === 0 && !job.fullState) {
    return undefined;
  }
  if (job.since !== undefined) arrivals.note([...state, ...timeline.events]);
  const unread = job.server.unread.of(job.user, room);
  return {
    timeline: formatTimeline(job, room, timeline, limited),
    ...formatState(job, room, state),
    account_data: { events: accountData },
    ephemeral: { events: ephemeral },
    unread_notifications: { notification_count: unread.notifications, highlight_count: unread.highlights },
    summary,
  };
}

function leftRoom(job: SyncJob, room: Room, member: RoomEvent): JsonObject | undefined {
  const since = startOf(job);
  if (job.user.forgotten.has(room.id) || member.position <= since) return undefined;
  // Who was removed learns of it even in an initial sync.
  const wentAlone = member.sender === job.user.id;
  if (job.since === undefined && wentAlone && !job.filter.includeLeave) return undefined;
  const wasIn = room.membership(job.user.id, since) === "join";
  const cameIn = !wasIn &&
    room.stateHistory("m.room.member", job.user.id).some((event) =>
      event.position > since && membershipOf(event) === "join"
    );
  const from = cameIn ? 0 : since;
  const timeline = timelineOf(job, room, from, member.position);
  const full = job.since === undefined || cameIn || job.fullState;
  const state = full || wasIn ? stateOf(job, room, timeline, member.position, full) : [];
  return {
    timeline: formatTimeline(job, room, timeline, timeline.limited),
    ...formatState(job, room, state),
    account_data: { events: accountDataOf(job, room.id, since) },
  };
}

/**
 * The room for a user who is not in it yet: state that helps to recognise it, and the member
 * event itself.
 */
function strippedRoom(job: SyncJob, room: Room, member: RoomEvent, key: string): JsonObject | undefined {
  if (member.position <= startOf(job) || job.user.ignores(member.sender)) return undefined;
  const at = member.position; // what has changed since is not shown
  const state = STRIPPED_STATE.map((type) => room.state(type, "", at)).filter((event) => event !== undefined);
  const events = state.map(strippedEvent);
  if (key === "invite_state") {
    const inviter = room.state("m.room.member", member.sender, at);
    if (inviter !== undefined) events.push(strippedEvent(inviter));
  }
  return { [key]: { events: [...events, strippedEvent(member)] } };
}

const STRIPPED_STATE = [
  "m.room.create",
  "m.room.join_rules",
  "m.room.canonical_alias",
  "m.room.avatar",
  "m.room.encryption",
  "m.room.name",
  "m.room.topic",
];

function ephemeralOf(job: SyncJob, room: Room, since: number): JsonObject[] {
  const events: JsonObject[] = [];
  const receipts = room.receipts.since(since, job.user.id).filter(({ user }) => !job.user.ignores(user));
  if (receipts.length > 0) events.push({ type: "m.receipt", content: receiptContent(receipts) });
  const typing = [...room.typing.keys()].filter((user) => !job.user.ignores(user));
  if (room.typingPosition > since && (job.since !== undefined || typing.length > 0)) {
    events.push({ type: "m.typing", content: { user_ids: typing } });
  }
  const filter = job.filter.ephemeral;
  return events.filter((event) => filter.allows({ type: String(event.type), roomId: room.id }));
}

function accountDataOf(job: SyncJob, room: RoomID, since: number): JsonObject[] {
  const filter = job.filter.roomAccountData;
  const changes = job.user.roomAccountData.get(room)?.since(job.fullState ? 0 : since) ?? [];
  const isFirst = job.fullState || since === 0;
  const isEmpty = (type: string, content: JsonObject) =>
    Object.keys(type === "m.tag" && isJsonObject(content.tags) ? content.tags : content).length === 0;
  return changes.filter(([type, content]) => filter.allows({ type }) && !(isFirst && isEmpty(type, content)))
    .map(([type, content]) => ({ type, content }));
}

function formatTimeline(job: SyncJob, room: Room, timeline: Timeline, limited: boolean): JsonObject {
  const viewer = { user: job.user.id, device: job.device, now: job.server.now };
  // A client that gets every event can put them together itself.
  const options = { withoutRoomId: true, aggregations: limited };
  return {
    events: timeline.events.map((event) =>
      pickFields(formatEvent(room, event, viewer, options), job.filter.fields)
    ),
    prev_batch: pageToken(timeline.start),
    limited,
  };
}

function formatState(job: SyncJob, room: Room, state: readonly RoomEvent[]): JsonObject {
  const viewer = { user: job.user.id, device: job.device, now: job.server.now };
  const events = state.map((event) =>
    pickFields(formatEvent(room, event, viewer, { withoutRoomId: true, bare: true }), job.filter.fields)
  );
  return { [job.stateAfter ?? "state"]: { events } };
}

/**
 * The summary, if it may have changed; heroes that the client lacks are added to the state.
 */
function summaryOf(job: SyncJob, room: Room, timeline: Timeline, state: RoomEvent[]): JsonObject {
  if (!job.filter.state.lazyLoadMembers) return {};
  const isMember = ({ type }: RoomEvent) => type === "m.room.member";
  if (
    job.since !== undefined && !timeline.events.some(isMember) && !(timeline.limited && state.some(isMember))
  ) return {};
  const summary = summarise(room, job.user.id);
  for (const hero of (summary["m.heroes"] ?? []) as UserID[]) {
    const member = room.members.get(hero);
    const told = (event: RoomEvent) => event.type === "m.room.member" && event.stateKey === hero;
    if (
      member === undefined || knowsMember(job, room, hero, member) || state.some(told) ||
      timeline.events.some(told)
    ) continue;
    rememberMember(job, room, member);
    state.push(member);
  }
  return summary;
}

/** How many heroes a room has at most. */
const HEROES = 5;

/** The counts, and for a room without name and alias the members that its name can be made of. */
function summarise(room: Room, viewer: UserID): JsonObject {
  const summary: JsonObject = {
    "m.joined_member_count": room.membersWith("join").length,
    "m.invited_member_count": room.membersWith("invite").length,
  };
  const name = stringAt(room.state("m.room.name")?.content ?? {}, "name");
  const alias = stringAt(room.state("m.room.canonical_alias")?.content ?? {}, "alias");
  if (!name && !alias) summary["m.heroes"] = heroesOf(room, viewer);
  return summary;
}

/** Members to name a room after: those who are or will be there, or else those who were. */
function heroesOf(room: Room, viewer: UserID): UserID[] {
  const others = (...memberships: string[]) =>
    memberships.flatMap((membership) => room.membersWith(membership)).filter((user) => user !== viewer);
  const present = others("join", "invite");
  return (present.length > 0 ? present : others("leave", "ban")).sort().slice(0, HEROES);
}

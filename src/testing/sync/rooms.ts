/**
 * The rooms of a sync response.
 *
 * @module
 */

import type { RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { stringAt } from "../json/json.ts";
import {
  formatEvent,
  membershipOf,
  pickFields,
  type Receipt,
  receiptContent,
  type Room,
  type RoomEvent,
  STRIPPED_STATE,
  strippedEvent,
} from "../rooms/mod.ts";
import { type Arrivals, pageToken, startOf, type SyncJob } from "./sync_job.ts";
import { forgetUnseen, isKnown, remember, stateOf, type Timeline, timelineOf } from "./timeline.ts";

/** The sections of rooms; empty ones are absent. Who comes and goes in them is noted. */
export function roomsOf(job: SyncJob, arrivals: Arrivals): JsonObject {
  if (job.filter.state.lazyLoadMembers) forgetUnseen(job);
  const sections: Record<string, JsonObject> = {};
  for (const [id, member] of job.user.memberships) {
    for (const [section, content] of Object.entries(sectionsOf(job, id, member, arrivals))) {
      if (content !== undefined) (sections[section] ??= {})[id] = content;
    }
  }
  return sections;
}

/** What each section has of a room. */
function sectionsOf(
  job: SyncJob,
  id: RoomID,
  member: RoomEvent,
  arrivals: Arrivals,
): { readonly [Section in "join" | "leave" | "invite" | "knock"]?: JsonObject } {
  const room = job.server.rooms.get(id);
  if (room === undefined) return {};
  const membership = membershipOf(member);
  if (membership === "join") return { join: joinedRoom(job, room, arrivals) };
  // Who was thrown out and invited again since the last sync gets to see both.
  const left = leavingOf(job, room, member);
  return {
    ...(left !== undefined && { leave: leftRoom(job, room, left) }),
    ...(membership === "invite" && { invite: strippedRoom(job, room, member, "invite_state") }),
    ...(membership === "knock" && { knock: strippedRoom(job, room, member, "knock_state") }),
  };
}

/** The own member events that came since the last sync. */
function ownChanges(job: SyncJob, room: Room): readonly RoomEvent[] {
  return room.stateHistory("m.room.member", job.user.id).filter(({ position }) => position > startOf(job));
}

/** Returns whether the user came into the room since the last sync, perhaps not for the first time. */
export function isNewlyJoined(job: SyncJob, room: Room): boolean {
  if (job.since === undefined || room.latest <= startOf(job)) return false;
  if (room.membership(job.user.id, startOf(job)) !== "join") return true;
  return ownChanges(job, room).some((event) => membershipOf(event) !== "join");
}

function joinedRoom(job: SyncJob, room: Room, arrivals: Arrivals): JsonObject | undefined {
  const newlyJoined = isNewlyJoined(job, room);
  const full = job.since === undefined || job.fullState || newlyJoined;
  const ephemeral = ephemeralOf(job, room, startOf(job));
  const accountData = roomAccountDataOf(job, room.id, full);
  if (room.latest <= startOf(job) && !full && ephemeral.length + accountData.length === 0) return undefined;
  const since = newlyJoined ? undefined : job.since?.position;
  const stretch = { since, until: job.until, newlyJoined, joined: true };
  const timeline = timelineOf(job, room, stretch);
  const isSilent = timeline.events.length + ephemeral.length + accountData.length === 0;
  if (isSilent && !full) return undefined;
  const state = stateOf(job, room, timeline, { ...stretch, full });
  const summary = summaryOf(job, room, timeline, state);
  if (isSilent && state.length === 0 && !job.fullState) return undefined;
  if (job.since !== undefined) arrivals.note([...state, ...timeline.events]);
  const unread = job.server.unread.of(job.user, room);
  return {
    timeline: formatTimeline(job, room, timeline),
    [job.stateAfter ?? "state"]: { events: formatState(job, room, state) },
    account_data: { events: accountData },
    ephemeral: { events: ephemeral },
    unread_notifications: { notification_count: unread.notifications, highlight_count: unread.highlights },
    summary,
  };
}

/** The event that a user who is not in a room left it by, if the response is to show that. */
function leavingOf(job: SyncJob, room: Room, member: RoomEvent): RoomEvent | undefined {
  const isLeaving = (event: RoomEvent) => ["leave", "ban"].includes(membershipOf(event));
  if (job.since !== undefined) return ownChanges(job, room).findLast(isLeaving);
  if (!isLeaving(member) || job.user.forgotten.has(room.id)) return undefined;
  // Who was removed learns of it even in an initial sync.
  return member.sender !== job.user.id || job.filter.includeLeave ? member : undefined;
}

function leftRoom(job: SyncJob, room: Room, leaving: RoomEvent): JsonObject | undefined {
  const newlyJoined = job.since !== undefined &&
    room.membership(job.user.id, startOf(job)) !== "join" &&
    ownChanges(job, room).some((event) => membershipOf(event) === "join");
  const full = job.since === undefined || job.fullState || newlyJoined;
  const accountData = roomAccountDataOf(job, room.id, full);
  const stretch = { since: job.since?.position, until: leaving.position, newlyJoined, joined: false };
  const timeline = timelineOf(job, room, stretch);
  if (timeline.events.length + accountData.length === 0 && !full) return undefined;
  const state = stateOf(job, room, timeline, { ...stretch, full });
  summaryOf(job, room, timeline, state); // it adds heroes to the state
  if (timeline.events.length + accountData.length + state.length === 0 && !job.fullState) return undefined;
  return {
    timeline: formatTimeline(job, room, timeline),
    [job.stateAfter ?? "state"]: { events: formatState(job, room, state) },
    account_data: { events: accountData },
  };
}

/**
 * The room for a user who is not in it yet: state that helps to recognise it, and the member
 * event itself.
 */
function strippedRoom(job: SyncJob, room: Room, member: RoomEvent, key: string): JsonObject | undefined {
  if (member.position <= startOf(job) || job.user.ignores(member.sender)) return undefined;
  return { [key]: { events: strippedState(room, member) } };
}

/** State that an invited or knocking user sees, as it was when the membership came about. */
export function strippedState(room: Room, member: RoomEvent): JsonObject[] {
  const at = member.position;
  const state = STRIPPED_STATE.map((type) => room.state(type, "", at)).filter((event) => event !== undefined);
  const events = state.map(strippedEvent);
  if (membershipOf(member) === "invite") {
    const inviter = room.state("m.room.member", member.sender, at);
    if (inviter !== undefined) events.push(strippedEvent(inviter));
  }
  // As on Synapse: what the other server has sent, whatever that is, and then what was checked.
  return [...structuredClone(room.sentAlong), ...events, strippedEvent(member)];
}

/** Receipts and typing of a room since a place. */
function ephemeralOf(job: SyncJob, room: Room, since: number): JsonObject[] {
  const receipts = room.receipts.since(since, job.user.id);
  const events = [receiptEvent(receipts), typingEvent(room, since)].filter((event) => event !== undefined);
  const filter = job.filter.ephemeral;
  return events.filter((event) => filter.allows({ type: String(event.type), roomId: room.id }));
}

/** Receipts as one event, if there are any. */
export function receiptEvent(receipts: readonly Receipt[]): JsonObject | undefined {
  return receipts.length === 0 ? undefined : { type: "m.receipt", content: receiptContent(receipts) };
}

/** Who is typing, if that has changed since a place. */
export function typingEvent(room: Room, since: number): JsonObject | undefined {
  return room.typingPosition <= since
    ? undefined
    : { type: "m.typing", content: { user_ids: [...room.typing.keys()] } };
}

/** The account data that has changed, and all tags if the client gets the room anew. */
export function roomAccountDataOf(job: SyncJob, room: RoomID, full: boolean): JsonObject[] {
  const isFirst = job.fullState || job.since === undefined;
  const data = job.user.roomAccountData.get(room)?.since(isFirst ? 0 : startOf(job)) ?? [];
  const events = data.map(([type, content]) => ({ type, content }));
  const tags = job.user.tags.get(room) ?? {};
  const isTold = full
    ? Object.keys(tags).length > 0
    : job.user.tags.since(startOf(job)).some(([tagged]) => tagged === room);
  if (isTold) events.push({ type: "m.tag", content: { tags } });
  return events.filter((event) => job.filter.roomAccountData.allows(event));
}

export function formatTimeline(job: SyncJob, room: Room, timeline: Timeline): JsonObject {
  const viewer = { user: job.user.id, device: job.device, now: job.server.now };
  // A client that gets every event can put them together itself.
  const options = { withoutRoomId: true, aggregations: timeline.limited };
  return {
    events: timeline.events.map((event) =>
      pickFields(formatEvent(room, event, viewer, options), job.filter.fields)
    ),
    prev_batch: pageToken(timeline.start),
    limited: timeline.limited,
  };
}

/** State as a response has it. */
export function formatState(job: SyncJob, room: Room, state: readonly RoomEvent[]): JsonObject[] {
  const viewer = { user: job.user.id, device: job.device, now: job.server.now };
  return state.map((event) =>
    pickFields(formatEvent(room, event, viewer, { withoutRoomId: true, bare: true }), job.filter.fields)
  );
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
    if (member === undefined || isKnown(job, member)) continue;
    if (state.some(told) || timeline.events.some(told)) continue;
    remember(job, member);
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

/**
 * Simplified sliding sync, as Synapse has it: of each room in a window what happened since the room was shown
 * last on the connection. `sync.ts` has the requests for it.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 * @module
 */

import { type JsonObject, objectOf } from "../../types/json.ts";
import type { RoomID } from "../../types/ids.ts";
import type { AuthedRequest } from "../http/http.ts";
import { Failure, invalidParam } from "../json/json.ts";
import {
  canSee,
  firstAfter,
  isWithheld,
  membershipOf,
  type Room,
  type RoomEvent,
  SyncFilter,
} from "../rooms/mod.ts";
import type { Device, RequiredState, ShownRoom, SlidingPosition } from "../users/mod.ts";
import { asksMore, stateShown, type Stretch } from "./required_state.ts";
import { deviceListsSince, formatToken, parseToken, startOf, type SyncJob } from "./sync_job.ts";
import {
  formatState,
  formatTimeline,
  isNewlyJoined,
  receiptEvent,
  roomAccountDataOf,
  strippedState,
  typingEvent,
} from "./rooms.ts";
import { accountDataOf, acknowledge, longPoll, toDeviceOf } from "./sync_answer.ts";
import { shownAgain, type Timeline } from "./timeline.ts";

const BEGINNING: SlidingPosition = { rooms: new Map(), keys: "" };

/** A request, and where its connection stands. */
interface Slide {
  readonly job: Omit<SyncJob, "until">;
  readonly lists: readonly List[];
  readonly subscriptions: readonly string[];
  readonly extensions: JsonObject;
  readonly state: RequiredState;
  readonly sent: SlidingPosition["rooms"];
}

/** What happened in a window. */
interface Shown {
  readonly lists: JsonObject;
  readonly rooms: JsonObject;
  readonly extensions: JsonObject;
  readonly sent: SlidingPosition["rooms"];
  readonly isNews: boolean;
}

/** What is asked, in either spelling. */
export interface Question {
  readonly pos: string | undefined;
  readonly timeout: number;
  readonly connection: string;
  readonly lists: readonly List[];
  /** The rooms of no list. */
  readonly subscriptions: readonly string[];
  /** Of all rooms. */
  readonly state: RequiredState;
  /** By the names that Synapse has. */
  readonly extensions: JsonObject;
}

/** Some of the rooms. */
export interface List {
  readonly name: string;
  readonly ranges: readonly (readonly [first: number, last: number])[];
  readonly limit: number;
}

/** An answer, and where it ends. */
export interface Slid extends Pick<Shown, "lists" | "rooms" | "extensions"> {
  readonly pos: { readonly number: number; readonly at: string };
  /** Whether what it says of the device's keys was not said before. */
  readonly hasNewKeys: boolean;
}

/** Answers as soon as there is something new, or when the time is over. */
export async function slide(request: AuthedRequest, question: Question): Promise<Slid> {
  const { server, user, device } = request;
  const { pos, timeout, connection, lists, subscriptions, state, extensions } = question;
  const known = device.connections.get(connection);
  const key = Number(pos?.split("/")[0]);
  const from = pos === undefined ? BEGINNING : known?.get(key);
  if (from === undefined) throw new Failure(400, "M_UNKNOWN_POS", "Unknown position");
  const position = pos === undefined ? undefined : parseToken(pos.slice(pos.indexOf("/") + 1)).position;
  // As on Synapse: a position that is used makes the connection forget all others.
  const positions = new Map(pos === undefined ? [] : [[key, from]]);
  device.connections.set(connection, positions);
  const since = objectOf(extensions.to_device).since;
  const toDevice = since === undefined ? 0 : Number(since);
  if (!Number.isSafeInteger(toDevice)) throw invalidParam("'since' is not a valid token");
  if (since !== undefined) acknowledge({ device, since: { position: 0, toDevice } });
  const limit = Math.max(0, ...lists.map((list) => list.limit));
  const job = {
    server,
    user,
    device,
    since: position === undefined ? undefined : { position, toDevice },
    filter: new SyncFilter({ room: { timeline: { limit } } }),
    fullState: false,
    stateAfter: undefined,
  };
  return await longPoll(request, timeout, (until, isOver) => {
    const { isNews, sent, ...answer } = show(
      { job, lists, subscriptions, state, extensions, sent: from.rooms },
      until,
      toDevice,
    );
    const isNew = isNews || position === undefined;
    if (!isNew && !isOver) return undefined;
    const number = isNew ? ++server.slidingPositions : key;
    const keys = JSON.stringify(keysOf(device));
    if (number !== key) positions.set(number, { rooms: sent, keys });
    const at = formatToken({ position: until, toDevice: until });
    return { ...answer, pos: { number, at }, hasNewKeys: keys !== from.keys };
  });
}

function keysOf(device: Device): JsonObject {
  return {
    device_one_time_keys_count: Object.fromEntries(device.oneTimeKeyCounts()),
    device_unused_fallback_key_types: device.unusedFallbackAlgorithms(),
  };
}

function show(
  { job: plan, lists, subscriptions, state, extensions: wanted, sent }: Slide,
  until: number,
  toDevice: number,
): Shown {
  const job: SyncJob = { ...plan, until };
  const { server, user, since } = job;
  const all = interestingRooms(job);
  const window = new Map<RoomID, Place>();
  const shownLists = lists.map(({ name, ranges }) => {
    const ops = ranges.map(([first, last]) => {
      const places = all.slice(first, last + 1);
      for (const place of places) window.set(place.room.id, place);
      return { op: "SYNC", range: [first, last], room_ids: places.map(({ room }) => room.id) };
    });
    return [name, { count: all.length, ops }] as const;
  });
  for (const place of all) if (subscriptions.includes(place.room.id)) window.set(place.room.id, place);
  const rooms: Record<string, JsonObject> = {};
  const [data, receipts, typing] = [{}, {}, {}] as [JsonObject, JsonObject, JsonObject];
  const next = new Map(sent);
  for (const [id, place] of window) {
    const news = newsOf(job, place, { asked: state, before: sent.get(id) });
    if (news.room !== undefined) rooms[id] = news.room;
    if (news.data !== undefined) data[id] = news.data;
    if (news.receipts !== undefined) receipts[id] = news.receipts;
    if (news.typing !== undefined) typing[id] = news.typing;
    const asked = news.room === undefined ? sent.get(id)?.state : undefined; // as it was shown
    next.set(id, { until, state: asked ?? state, members: news.members });
  }
  const messages = toDeviceOf(job, toDevice);
  const moved = since === undefined ? undefined : deviceListsSince(server, user, since.position);
  const hasMoved = moved !== undefined && moved.changed.length + moved.left.length > 0;
  const global = accountDataOf(job);
  const parts: readonly (readonly [name: string, part: JsonObject, isNews: boolean])[] = [
    [
      "to_device",
      { next_batch: String(messages.position), events: messages.events },
      messages.events.length > 0,
    ],
    ["e2ee", { ...(hasMoved && { device_lists: moved }), ...keysOf(plan.device) }, hasMoved],
    ["account_data", { global, rooms: data }, global.length + Object.keys(data).length > 0],
    ["receipts", { rooms: receipts }, Object.keys(receipts).length > 0],
    ["typing", { rooms: typing }, Object.keys(typing).length > 0],
  ];
  const extensions = parts.filter(([name]) => objectOf(wanted[name]).enabled === true);
  return {
    lists: Object.fromEntries(shownLists),
    rooms,
    extensions: Object.fromEntries(extensions.map(([name, part]) => [name, part])),
    sent: next,
    isNews: Object.keys(rooms).length > 0 || extensions.some(([, , isNews]) => isNews),
  };
}

/** A room, and what the user is to it. */
interface Place {
  readonly room: Room;
  readonly member: RoomEvent;
}

/** The rooms that the user is in, invited to, removed from, or has left since, the latest events first. */
function interestingRooms({ server, user, since }: SyncJob): Place[] {
  const found: (Place & { readonly latest: number })[] = [];
  for (const [id, member] of user.memberships) {
    const room = server.rooms.get(id);
    if (room === undefined) continue;
    const membership = membershipOf(member);
    if (membership === "invite" && user.ignores(member.sender)) continue;
    const isNews = member.position > (since?.position ?? Infinity);
    if (!isNews && membership === "leave" && member.sender === user.id) continue;
    // As on Synapse: what was left and forgotten is shown once more.
    if (user.forgotten.has(id) && !isNews) continue;
    found.push({ room, member, latest: membership === "join" ? room.latest : member.position });
  }
  return found.sort((one, other) => other.latest - one.latest);
}

/** What there is to say of a room, by the part of the answer; undefined: nothing. */
interface News extends Pick<ShownRoom, "members"> {
  readonly room?: JsonObject | undefined;
  readonly data: readonly JsonObject[] | undefined;
  readonly receipts: JsonObject | undefined;
  readonly typing: JsonObject | undefined;
}

/** What happened in a room, also in one that the user is outside of. */
function newsOf(job: SyncJob, place: Place, { asked, before }: Pick<Stretch, "asked" | "before">): News {
  const { room, member } = place;
  const shown = before?.until;
  const isInitial = shown === undefined || (membershipOf(member) === "join" && isNewlyJoined(job, room));
  const from = isInitial ? undefined : before;
  const start = from?.until;
  const isSilent = from !== undefined && room.latest <= from.until && !asksMore(asked, from.state);
  const timeline = isSilent || isOutside(member) ? undefined : timelineOf(job, place, start);
  const since = shown === undefined ? undefined : { position: shown, toDevice: 0 };
  const data = roomAccountDataOf({ ...job, since }, room.id, shown === undefined);
  const ids = new Set(timeline?.events.map(({ id }) => id));
  const { receipts } = room;
  const { id: viewer } = job.user;
  const state = timeline && stateShown(room, { asked, before: from, until: endOf(job, member), timeline });
  return {
    room: isSilent
      ? undefined
      : roomOf(job, place, start, timeline && { timeline, state: state?.state ?? [] }),
    members: state?.members ?? before?.members ?? new Set(),
    data: data.length > 0 || shown === undefined ? data : undefined,
    receipts: receiptEvent(
      start === undefined ? receipts.at(ids, viewer) : receipts.since(start, viewer),
    ),
    typing: typingEvent(room, startOf(job)),
  };
}

/** What a room has of its own; undefined: nothing that is for the user. */
function roomOf(
  job: SyncJob,
  { room, member }: Place,
  start: number | undefined,
  inside: { readonly timeline: Timeline; readonly state: readonly RoomEvent[] } | undefined,
): JsonObject | undefined {
  const head = {
    ...(start === undefined && { initial: true }),
    ...(membershipOf(member) !== "join" && { bump_stamp: member.position }),
  };
  // As on Synapse: with what happens in the room, an invitation is shown once more.
  if (inside === undefined) return { ...head, invite_state: strippedState(room, member) };
  const { timeline } = inside;
  const state = inside.state.filter((event) => event.type !== "m.room.aliases" && !isWithheld(room, event));
  if (start !== undefined && state.length + timeline.events.length === 0) return undefined;
  const { events, ...bounds } = formatTimeline(job, room, timeline);
  return {
    ...head,
    ...(state.length > 0 && { required_state: formatState(job, room, state) }),
    ...(timeline.events.length > 0 && { timeline: events }),
    ...bounds,
  };
}

/**
 * The last events of a room, and of these what the user may see.
 *
 * @param start Up to where the room was shown; undefined: nothing of it.
 */
function timelineOf(job: SyncJob, { room, member }: Place, start: number | undefined): Timeline {
  const until = endOf(job, member);
  const [first, end] = [firstAfter(room.events, start ?? 0), firstAfter(room.events, until)];
  const next = Math.max(first, end - (job.filter.timeline.limit ?? 0));
  const look = { peeking: membershipOf(member) !== "join" };
  const events = room.events.slice(next, end).filter((event) => canSee(room, job.user, event, look));
  const limited = next > first;
  return {
    events: limited ? events : [...shownAgain(job, room, start, events), ...events],
    limited,
    start: next < end ? (room.events[next]?.position ?? 0) - 1 : until,
  };
}

/** Up to where the user sees a room. */
function endOf({ until }: SyncJob, member: RoomEvent): number {
  return membershipOf(member) === "join" ? until : member.position;
}

function isOutside(member: RoomEvent): boolean {
  return ["invite", "knock"].includes(membershipOf(member));
}

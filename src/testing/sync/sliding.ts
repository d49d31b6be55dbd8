/**
 * Simplified sliding sync: of each room in a window what the classic sync says, since the room was shown last on
 * the connection. `sync.ts` has the requests for it.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { RoomID } from "../../types/ids.ts";
import type { AuthedRequest } from "../http/http.ts";
import { Failure, invalidParam } from "../json/json.ts";
import { membershipOf, SyncFilter } from "../rooms/mod.ts";
import type { Device, SlidingPosition } from "../users/mod.ts";
import { Arrivals, formatToken, parseToken, type SyncJob } from "./sync_job.ts";
import { ephemeralOf, isNewlyJoined, sectionsOf } from "./rooms.ts";
import { acknowledge, longPoll, parts } from "./sync_answer.ts";

/** The member that holds what is after the timeline in `rooms.ts`. */
const STATE_AFTER = "state_after";
/** The events that move a room to the front. */
const BUMPS: readonly string[] = ["m.room.create", "m.room.message", "m.room.encrypted", "m.sticker"];

const BEGINNING: SlidingPosition = { rooms: new Map(), keys: "" };

/** A request, and where its connection stands. */
interface Slide {
  readonly job: Omit<SyncJob, "until">;
  readonly lists: readonly List[];
  readonly extensions: JsonObject;
  /** Up to where each room was shown. */
  readonly sent: ReadonlyMap<RoomID, number>;
}

/** What happened in a window. */
interface Shown {
  readonly lists: JsonObject;
  readonly rooms: JsonObject;
  readonly extensions: JsonObject;
  readonly sent: ReadonlyMap<RoomID, number>;
  readonly isNews: boolean;
}

/** What is asked, in either spelling. */
export interface Question {
  readonly pos: string | undefined;
  readonly timeout: number;
  readonly connection: string;
  readonly lists: readonly List[];
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
  const { pos, timeout, connection, lists, extensions } = question;
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
    stateAfter: STATE_AFTER,
  };
  return await longPoll(request, timeout, (until, isOver) => {
    const { isNews, sent, ...answer } = show({ job, lists, extensions, sent: from.rooms }, until, toDevice);
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

function show({ job: plan, lists, extensions: wanted, sent }: Slide, until: number, toDevice: number): Shown {
  const arrivals = new Arrivals();
  const all = interestingRooms(plan);
  const window = new Set<RoomID>();
  const shownLists = lists.map(({ name, ranges }) => {
    const ops = ranges.map(([first, last]) => {
      const ids = all.slice(first, last + 1);
      ids.forEach((id) => window.add(id));
      return { op: "SYNC", range: [first, last], room_ids: ids };
    });
    return [name, { count: all.length, ops }] as const;
  });
  const rooms: Record<string, JsonObject> = {};
  const accountData: Record<string, unknown> = {};
  const [receipts, typing]: Record<string, unknown>[] = [{}, {}];
  const next = new Map(sent);
  for (const id of window) {
    const before = sent.get(id);
    const job: SyncJob = {
      ...plan,
      until,
      since: before === undefined ? undefined : { position: before, toDevice },
    };
    const [room, beside] = roomOf(job, id, arrivals);
    if (room !== undefined) rooms[id] = room;
    const { data = [], ephemeral = [] } = beside;
    if (data.length > 0) accountData[id] = data;
    for (const [section, type] of [[receipts, "m.receipt"], [typing, "m.typing"]] as const) {
      const event = ephemeral.find((event) => objectOf(event).type === type);
      if (event !== undefined && section !== undefined) section[id] = event;
    }
    next.set(id, until);
  }
  const global = parts({ ...plan, until, since: plan.since }, arrivals, toDevice);
  const extensions: JsonObject = {
    to_device: { next_batch: String(global.toDevice.position), events: global.toDevice.events },
    e2ee: {
      ...(global.deviceLists !== undefined && { device_lists: global.deviceLists }),
      ...keysOf(plan.device),
    },
    account_data: { global: global.accountData, rooms: accountData },
    receipts: { rooms: receipts },
    typing: { rooms: typing },
  };
  const beside = [rooms, accountData, receipts, typing].some((rooms) => Object.keys(rooms ?? {}).length > 0);
  const isNews = beside || global.deviceLists !== undefined ||
    global.toDevice.events.length + global.accountData.length > 0;
  const isWanted = ([name]: [string, unknown]): boolean => objectOf(wanted[name]).enabled === true;
  return {
    lists: Object.fromEntries(shownLists),
    rooms,
    extensions: Object.fromEntries(Object.entries(extensions).filter(isWanted)),
    sent: next,
    isNews,
  };
}

/** The rooms that the user is in, invited to, or was removed from, those with the latest messages first. */
function interestingRooms({ server, user, since }: Pick<SyncJob, "server" | "user" | "since">): RoomID[] {
  const found: { readonly id: RoomID; readonly bumped: number }[] = [];
  for (const [id, member] of user.memberships) {
    const room = server.rooms.get(id);
    if (room === undefined || user.forgotten.has(id)) continue;
    const isIn = ["join", "invite", "knock"].includes(membershipOf(member));
    const isRemoved = member.sender !== user.id || (since !== undefined && member.position > since.position);
    if (!isIn && !isRemoved) continue;
    const bump = membershipOf(member) === "join"
      ? room.events.findLast(({ type }) => BUMPS.includes(type))
      : undefined;
    found.push({ id, bumped: Math.max(bump?.position ?? 0, bump === undefined ? member.position : 0) });
  }
  return found.toSorted((one, other) => other.bumped - one.bumped).map(({ id }) => id);
}

/** What happened in a room; and beside it. */
function roomOf(
  job: SyncJob,
  id: RoomID,
  arrivals: Arrivals,
): [JsonObject | undefined, { readonly data?: readonly unknown[]; readonly ephemeral?: readonly unknown[] }] {
  const { user, server, since } = job;
  const [member, room] = [user.memberships.get(id), server.rooms.get(id)];
  if (member === undefined || room === undefined) return [undefined, {}];
  const { join, leave, invite, knock } = sectionsOf(job, id, member, arrivals);
  const stripped = invite?.invite_state ?? knock?.knock_state;
  if (stripped !== undefined) return [{ initial: true, invite_state: eventsOf(stripped) }, {}];
  const content = join ?? leave;
  // Synapse gives receipts of a room that the user was removed from, too.
  const ephemeral = join === undefined
    ? ephemeralOf(job, room, since?.position ?? 0)
    : eventsOf(join.ephemeral);
  if (content === undefined) return [undefined, { ephemeral }];
  const timeline = objectOf(content.timeline);
  const state = eventsOf(content[STATE_AFTER]);
  const events = eventsOf(timeline);
  const beside = { data: eventsOf(content.account_data), ephemeral };
  if (state.length + events.length === 0) return [undefined, beside];
  const isInitial = since === undefined || (join !== undefined && isNewlyJoined(job, room));
  const shown = {
    ...(isInitial && { initial: true }),
    required_state: state,
    timeline: events,
    limited: timeline.limited === true,
    prev_batch: timeline.prev_batch,
  };
  return [shown, beside];
}

function eventsOf(section: unknown): readonly unknown[] {
  const { events } = objectOf(section);
  return Array.isArray(events) ? events : [];
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

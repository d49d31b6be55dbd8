/**
 * Turns answers of sliding sync into those of the classic sync, and has the token of a place in both.
 *
 * Nothing here is checked beyond what decides where a part goes:
 * `sync_parts.ts` checks the parts, of whichever sync they are.
 *
 * @module
 */

import type { SlidingAnswer, SlidingRoom } from "../../api/server/server.ts";
import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncToken } from "../../types/ids.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import { isReceivedRoomId } from "../../types/identifiers.ts";
import { GONE, SLIDING, type SyncWindow } from "./window.ts";

/** A place that sliding sync has come to. It is written as one token, so that it is kept in one commit. */
export interface SlidingPlace {
  /** Where the connection goes on; absent: with a new one. */
  readonly pos?: string;
  /** Up to where messages to the device have come; absent: there were none, or all are acknowledged. */
  readonly toDevice?: string;
  /** How many rooms were asked for; absent: all. */
  readonly shown?: number;
  /** The token up to which all rooms had been shown before; absent unless some have not been since. */
  readonly base?: SyncToken;
  /** Whether the client had never seen its rooms before. */
  readonly isFirst: boolean;
  /** Whether there are more messages to the device up to `pos`. */
  readonly isBehind: boolean;
  /** Whether other requests take `pos` itself. Absent: they take what stands behind the connection. */
  readonly isToken?: true;
  /**
   * Whether the rest comes at once: the connection had shown all rooms up to `base`,
   * or counts more than it shows. Absent: it does not.
   */
  readonly isNarrow?: true;
  /** Whether members are loaded lazily. Absent: all come. */
  readonly isLazy?: true;
  /** When it was come to, in minutes. Absent: nobody knows. */
  readonly minute?: number;
}

/** The letters that a token has for what is so. */
const FLAGS = { isFirst: "f", isBehind: "b", isToken: "t", isNarrow: "n", isLazy: "l" } as const;

/** Writes a place as a token. */
function slidingToken(place: SlidingPlace): SyncToken {
  const { pos = "", toDevice = "", shown = "", base = "", minute } = place;
  const flags = Object.entries(FLAGS).map(([name, flag]) => place[name as keyof typeof FLAGS] ? flag : "")
    .join("");
  const parts = [pos, toDevice, shown, base, flags, ...(minute === undefined ? [] : [minute])];
  return `${SLIDING}${parts.map(encodeURIComponent).join(":")}` as SyncToken;
}

/** Reads a token; undefined: it is none of sliding sync. */
export function slidingPlace(token: SyncToken | undefined): SlidingPlace | undefined {
  if (token?.startsWith(SLIDING) !== true) return undefined;
  const parts = token.slice(SLIDING.length).split(":").map(decoded);
  const [pos = "", toDevice = "", shown = "", base = "", flags = "", minute = ""] = parts;
  return {
    pos,
    ...(toDevice !== "" && { toDevice }),
    ...(/^\d+$/.test(shown) && { shown: Number(shown) }),
    ...(base !== "" && { base: base as SyncToken }),
    isFirst: flags.includes(FLAGS.isFirst),
    isBehind: flags.includes(FLAGS.isBehind),
    ...(flags.includes(FLAGS.isToken) && { isToken: true }),
    ...(flags.includes(FLAGS.isNarrow) && { isNarrow: true }),
    ...(flags.includes(FLAGS.isLazy) && { isLazy: true }),
    ...(/^\d+$/.test(minute) && { minute: Number(minute) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the application has moved the position to it: the server refuses it
  }
}

/** The token that the classic sync takes for a place: what stands behind the connection. */
export function classicToken({ pos = "" }: Pick<SlidingPlace, "pos">): SyncToken {
  return pos.slice(pos.indexOf("/") + 1) as SyncToken;
}

/** The token that other requests take for a place. */
export function requestToken(place: Pick<SlidingPlace, "pos" | "isToken">): SyncToken {
  return place.isToken === true ? (place.pos ?? "") as SyncToken : classicToken(place);
}

/** How many rooms the first answer of a connection has: all of their state comes, and they may be large. */
const FIRST_ROOMS = 1;
/** So many times as many rooms have been asked for with each answer behind it, */
const GROWTH = 5;
/** but no more than so many more. */
const MORE_ROOMS = 100;
/** An absence from which on the newest rooms come first, in minutes. */
const LONG_ABSENCE = 10;
/** How many rooms come first then, on the same connection: of each only what has changed. */
const NEWEST_ROOMS = 20;

/**
 * A place with how many rooms are to be asked for from there.
 *
 * @param options.rooms How many rooms are known.
 * @param options.minute When a process asks for the first time, in minutes; undefined: it has asked before.
 */
export function askedFrom(
  place: SlidingPlace,
  { rooms, minute = -Infinity }: { readonly rooms: number; readonly minute: number | undefined },
): SlidingPlace {
  const { shown, isNarrow, ...rest } = place;
  if (isNarrow === true) return rest; // all others
  if (shown !== undefined) {
    return { ...place, shown: shown === 0 ? FIRST_ROOMS : Math.min(shown * GROWTH, shown + MORE_ROOMS) };
  }
  const isBack = minute - (place.minute ?? minute) >= LONG_ABSENCE;
  if (!isBack || rooms <= NEWEST_ROOMS) return place;
  return { ...place, shown: NEWEST_ROOMS, base: requestToken(place), isNarrow: true };
}

/** What is known beside an answer. */
export interface SlidingContext {
  /** The acting user. */
  readonly own: string;
  /** Where the request went on. */
  readonly from: SlidingPlace;
  /** How many messages to the device an answer has at most. */
  readonly messages: number;
  /** Whether other requests take the `pos` of the answer itself. */
  readonly isToken: boolean;
  /** When it has come, in minutes. */
  readonly minute?: number;
  /** What the user was to rooms before. */
  readonly memberships: ReadonlyMap<string, string>;
  /** The latest invitations of the user that have been shown, by room: see {@link invitationIn}. */
  readonly invitations: ReadonlyMap<string, string>;
  /** The rooms that the connection has shown, as far as that is known. */
  readonly seen: ReadonlySet<string>;
}

/** An answer in the form of the classic sync. */
export interface ClassicAnswer {
  readonly response: SyncResponse;
  readonly window: SyncWindow;
  /** Where to go on. */
  readonly place: SlidingPlace;
  /** What the user is to the rooms in it. */
  readonly memberships: ReadonlyMap<string, string>;
}

/** The answer of the classic sync that says the same. */
export function classicAnswer(answer: SlidingAnswer, context: SlidingContext): ClassicAnswer {
  const { pos, count, toDevice: { next_batch, events }, e2ee } = answer;
  const { from, messages } = context;
  const end = { pos, ...(context.isToken && { isToken: true as const }) };
  const isBegun = from.pos === undefined;
  const isGrowing = from.shown !== undefined || from.base !== undefined || isBegun;
  const isWhole = from.shown === undefined || count <= from.shown;
  const isNewToRooms = isBegun || (from.shown !== undefined && from.isNarrow !== true);
  const { sections, initial, memberships } = sectionsOf(answer, context, isNewToRooms);
  // A wider window without another room: there is none, whatever the server counts.
  const isStuck = !memberships.keys().some((roomId) => !context.seen.has(roomId));
  const base = from.base ?? (from.isFirst || isStuck ? requestToken(end) : undefined);
  const named = typeof next_batch === "string" && next_batch !== "" ? next_batch : from.toDevice;
  // A server that was restored may be behind the place, and then withholds or drops messages until it has
  // counted on. Where a new connection has none, those up to the place are acknowledged: it is not needed.
  const isEmpty = !Array.isArray(events) || events.length === 0;
  const toDevice = isBegun && isEmpty && named === from.toDevice ? undefined : named;
  // An answer without news ends where it begins.
  const minute = pos === from.pos && toDevice === from.toDevice && !isGrowing ? from.minute : context.minute;
  const place: SlidingPlace = {
    ...end,
    ...(toDevice !== undefined && { toDevice }),
    ...(!isWhole && {
      shown: from.shown,
      ...(base !== undefined && { base }),
      ...((from.isNarrow || isStuck) && { isNarrow: true as const }),
    }),
    ...(from.isLazy && { isLazy: true as const }),
    ...(minute !== undefined && { minute }),
    isFirst: from.isFirst && !isWhole,
    isBehind: Array.isArray(events) && events.length >= messages && named !== from.toDevice,
  };
  const response: JsonObject = {
    next_batch: slidingToken(place),
    rooms: sections,
    account_data: { events: answer.accountData ?? [] },
    to_device: { events: events ?? [] },
    device_lists: e2ee.device_lists,
    device_one_time_keys_count: e2ee.device_one_time_keys_count,
    device_unused_fallback_key_types: e2ee.device_unused_fallback_key_types,
  };
  const since = isGrowing ? from.base : requestToken(from);
  return {
    response: response as unknown as SyncResponse,
    window: {
      ...(since !== undefined && { since }),
      initial,
      isWhole: from.isLazy !== true,
      isGrowing,
      isFirst: from.isFirst,
      isNew: isBegun,
      hasMore: !isWhole || place.isBehind,
      // A room that is shown as it is does not show who has left meanwhile, with a gap or without one.
      ...(from.isLazy && { members: isGrowing || initial.length > 0 ? "some" as const : "lazy" as const }),
    },
    place,
    memberships,
  };
}

function sectionsOf(
  { rooms, roomData, receipts, typing }: SlidingAnswer,
  { own, memberships: before, invitations }: SlidingContext,
  isNewToRooms: boolean,
): { readonly sections: JsonObject; readonly initial: string[]; readonly memberships: Map<string, string> } {
  const found: Record<"join" | "invite" | "knock" | "leave", [string, JsonObject][]> = {
    join: [],
    invite: [],
    knock: [],
    leave: [],
  };
  const initial: string[] = [];
  const memberships = new Map<string, string>();
  const beside = [roomData, receipts, typing].flatMap((room) => Object.keys(room));
  for (const roomId of new Set([...rooms.keys(), ...beside])) {
    if (!isReceivedRoomId(roomId)) continue;
    const room = rooms.get(roomId) ?? {};
    const [events, state, stripped] = [room.events ?? [], room.state ?? [], stamped(room, own)];
    const was = before.get(roomId);
    const isEmpty = [events, state].every((list) => Array.isArray(list) && list.length === 0);
    const isOutside = was === undefined || was === "invite" || was === "knock";
    const membership = membershipIn(room, own) ?? (isEmpty || !isOutside ? was : "join");
    // Receipts and the like of a room that the user was removed from do not bring them back.
    const isNothing = isEmpty && stripped === undefined && membership === was;
    if (membership === undefined || (isNothing && membership !== "join")) continue;
    const section = membership === "ban" ? "leave" : membership;
    if (!Object.hasOwn(found, section)) continue;
    memberships.set(roomId, membership);
    // Synapse shows an invitation again with all that happens in the room, and a connection that begins
    // shows what the user is outside of.
    const isAgain = section !== "join" &&
      (stripped === undefined ? isNewToRooms : invitationIn(stripped, own) === invitations.get(roomId));
    if (isAgain && was === membership) continue;
    if (room.initial === true && was !== "invite" && was !== "knock") initial.push(roomId);
    found[section as keyof typeof found].push([
      roomId,
      section === "invite" || section === "knock" ? { [`${section}_state`]: { events: stripped } } : {
        timeline: { events, limited: room.limited, prev_batch: room.prevBatch },
        state_after: { events: state, ...(room.gone !== undefined && { [GONE]: room.gone }) },
        account_data: { events: roomData[roomId] ?? [] },
        ephemeral: { events: [receipts[roomId], typing[roomId]].filter((event) => event !== undefined) },
      },
    ]);
  }
  const entries = Object.entries(found).map(([section, rooms]) => [section, Object.fromEntries(rooms)]);
  return { sections: Object.fromEntries(entries), initial, memberships };
}

/** What the own member event of an invitation has in `unsigned`: which invitation it is. */
const STAMP = "greenroom.stamp";

/** What those outside see of a room, with the stamp: an invitation alike may follow one that was declined. */
function stamped({ stripped, stamp }: SlidingRoom, own: string): unknown {
  const member = ownMember(stripped, own);
  if (!Array.isArray(stripped) || member === undefined || typeof stamp !== "number") {
    return stripped ?? undefined;
  }
  const unsigned = { ...objectOf(member.unsigned), [STAMP]: stamp };
  return stripped.map((event) => event === member ? { ...member, unsigned } : event);
}

/** Names the invitation in a list of state: by its sender and its stamp, if there is one. */
export function invitationIn(list: unknown, own: string): string | undefined {
  const member = ownMember(list, own);
  return member && JSON.stringify([member.sender, objectOf(member.unsigned)[STAMP]]);
}

/** The last own member event of a list, if it is one and has one. */
function ownMember(list: unknown, own: string): JsonObject | undefined {
  return !Array.isArray(list)
    ? undefined
    : list.findLast((event) =>
      isJsonObject(event) && event.type === "m.room.member" && event.state_key === own
    );
}

/** What the user is to a room; undefined: what they were before. */
function membershipIn({ membership, stripped, state, events }: SlidingRoom, own: string): string | undefined {
  if (typeof membership === "string") return membership;
  for (const list of [stripped, state, events]) {
    const { membership } = objectOf(ownMember(list, own)?.content);
    if (typeof membership === "string") return membership;
  }
  return undefined;
}

/**
 * Turns answers of sliding sync into those of the classic sync, and has the token of a place in both.
 *
 * Nothing here is checked beyond what decides where a part goes: `sync_parts.ts` checks the parts, of whichever
 * sync they are.
 *
 * @module
 */

import type { SlidingResponse } from "../../api/server/server.ts";
import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncToken } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { isReceivedRoomId } from "../../types/identifiers.ts";
import { SLIDING, type SyncWindow } from "./window.ts";

/** A place that sliding sync has come to. It is written as one token, so that it is kept in one commit. */
export interface SlidingPlace {
  /** Where the connection goes on; absent: with a new one. */
  readonly pos?: string;
  /** Up to where messages to the device have come; absent: there were none. */
  readonly toDevice?: string;
  /** How many rooms were asked for; absent: all. */
  readonly shown?: number;
  /** The token up to which all rooms had been shown before; absent unless some have not been since. */
  readonly base?: SyncToken;
  /** Whether the client had never seen its rooms before. */
  readonly isFirst: boolean;
  /** Whether there are more messages to the device up to `pos`. */
  readonly isBehind: boolean;
}

const FIRST = "f";
const BEHIND = "b";

/** Writes a place as a token. */
function slidingToken(
  { pos = "", toDevice = "", shown, base = "", isFirst, isBehind }: SlidingPlace,
): SyncToken {
  const flags = `${isFirst ? FIRST : ""}${isBehind ? BEHIND : ""}`;
  return `${SLIDING}${
    [pos, toDevice, String(shown ?? ""), base, flags].map(encodeURIComponent).join(":")
  }` as SyncToken;
}

/** Reads a token; undefined: it is none of sliding sync. */
export function slidingPlace(token: SyncToken | undefined): SlidingPlace | undefined {
  if (token?.startsWith(SLIDING) !== true) return undefined;
  const [pos = "", toDevice = "", shown = "", base = "", flags = ""] = token.slice(SLIDING.length).split(":")
    .map(decoded);
  return {
    pos,
    ...(toDevice !== "" && { toDevice }),
    ...(/^\d+$/.test(shown) && { shown: Number(shown) }),
    ...(base !== "" && { base: base as SyncToken }),
    isFirst: flags.includes(FIRST),
    isBehind: flags.includes(BEHIND),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the application has moved the position to it: the server refuses it
  }
}

/** The token that the classic sync and other requests take for a place: what stands behind the connection. */
export function classicToken({ pos = "" }: Pick<SlidingPlace, "pos">): SyncToken {
  return pos.slice(pos.indexOf("/") + 1) as SyncToken;
}

/** What is known beside an answer. */
export interface SlidingContext {
  /** The acting user. */
  readonly own: string;
  /** Where the request went on. */
  readonly from: SlidingPlace;
  /** How many messages to the device an answer has at most. */
  readonly messages: number;
  /** What the user was to rooms before. */
  readonly memberships: ReadonlyMap<string, string>;
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
export function classicAnswer(answer: SlidingResponse, context: SlidingContext): ClassicAnswer {
  const { pos, lists = {}, extensions = {} } = answer;
  const { from, messages } = context;
  const { next_batch, events } = object(extensions.to_device);
  const e2ee = object(extensions.e2ee);
  const isBegun = from.pos === undefined;
  const isGrowing = from.shown !== undefined || isBegun;
  const isWhole = !isGrowing || from.shown === undefined || countOf(lists) <= from.shown;
  const base = from.base ?? (from.isFirst ? classicToken({ pos }) : undefined);
  const toDevice = typeof next_batch === "string" && next_batch !== "" ? next_batch : from.toDevice;
  const place: SlidingPlace = {
    pos,
    ...(toDevice !== undefined && { toDevice }),
    ...(!isWhole && { shown: from.shown, ...(base !== undefined && { base }) }),
    isFirst: from.isFirst && !isWhole,
    isBehind: Array.isArray(events) && events.length >= messages,
  };
  const { sections, initial, memberships } = sectionsOf(answer, context, isGrowing);
  const response: JsonObject = {
    next_batch: slidingToken(place),
    rooms: sections,
    account_data: { events: object(extensions.account_data).global ?? [] },
    to_device: { events: events ?? [] },
    device_lists: e2ee.device_lists,
    device_one_time_keys_count: e2ee.device_one_time_keys_count,
    device_unused_fallback_key_types: e2ee.device_unused_fallback_key_types,
  };
  const since = isGrowing ? from.base : classicToken(from);
  return {
    response: response as unknown as SyncResponse,
    window: {
      ...(since !== undefined && { since }),
      initial,
      isGrowing,
      isFirst: from.isFirst,
      isNew: isBegun,
      hasMore: !isWhole || place.isBehind,
    },
    place,
    memberships,
  };
}

/** How many rooms there are in all. */
function countOf(lists: JsonObject): number {
  const counts = Object.values(lists).map((list) => Number(object(list).count));
  return Math.max(0, ...counts.filter((count) => !Number.isNaN(count)));
}

function sectionsOf(
  { rooms = {}, extensions = {} }: SlidingResponse,
  { own, memberships: before }: SlidingContext,
  isGrowing: boolean,
): { readonly sections: JsonObject; readonly initial: string[]; readonly memberships: Map<string, string> } {
  const [accountData, receipts, typing] = ["account_data", "receipts", "typing"].map((name) =>
    object(object(extensions[name]).rooms)
  ) as [JsonObject, JsonObject, JsonObject];
  const found: Record<"join" | "invite" | "knock" | "leave", [string, JsonObject][]> = {
    join: [],
    invite: [],
    knock: [],
    leave: [],
  };
  const initial: string[] = [];
  const memberships = new Map<string, string>();
  const beside = [accountData, receipts, typing].flatMap((room) => Object.keys(room));
  for (const roomId of new Set([...Object.keys(rooms), ...beside])) {
    if (!isReceivedRoomId(roomId)) continue;
    const room = object(rooms[roomId]);
    const events = room.timeline ?? room.timeline_events ?? [];
    const state = room.required_state ?? [];
    const stripped = room.invite_state ?? room.stripped_state;
    const was = before.get(roomId);
    const isEmpty = [events, state].every((list) => Array.isArray(list) && list.length === 0);
    const isOutside = was === undefined || was === "invite" || was === "knock";
    const membership = membershipIn([stripped, state, events], own) ?? (isEmpty || !isOutside ? was : "join");
    // Receipts and the like of a room that the user was removed from do not bring them back.
    if (membership === undefined || (isEmpty && stripped === undefined && membership !== "join")) continue;
    const section = membership === "ban" ? "leave" : membership;
    if (!Object.hasOwn(found, section)) continue;
    memberships.set(roomId, membership);
    // As long as rooms are shown for the first time on a connection, one that the user is outside of is no news.
    if (isGrowing && section !== "join" && was === membership) continue;
    if (room.initial === true && was !== "invite" && was !== "knock") initial.push(roomId);
    found[section as keyof typeof found].push([
      roomId,
      section === "invite" || section === "knock" ? { [`${section}_state`]: { events: stripped } } : {
        timeline: { events, limited: room.limited, prev_batch: room.prev_batch },
        state_after: { events: state },
        account_data: { events: accountData[roomId] ?? [] },
        ephemeral: { events: [receipts[roomId], typing[roomId]].filter((event) => event !== undefined) },
      },
    ]);
  }
  const entries = Object.entries(found).map(([section, rooms]) => [section, Object.fromEntries(rooms)]);
  return { sections: Object.fromEntries(entries), initial, memberships };
}

/** What the user is to a room; undefined: what they were before. */
function membershipIn(lists: readonly unknown[], own: string): string | undefined {
  for (const list of lists) {
    if (!Array.isArray(list)) continue;
    const member = list.findLast((event) =>
      isJsonObject(event) && event.type === "m.room.member" && event.state_key === own
    );
    const membership = object(member?.content).membership;
    if (typeof membership === "string") return membership;
  }
  return undefined;
}

/** A part of an answer, or an empty one in its place. */
export function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

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

/** How many messages to the device one answer has at most. */
export const TO_DEVICE_LIMIT = 100;

/** A place that sliding sync has come to. It is written as one token, so that it is kept in one commit. */
export interface SlidingPlace {
  /** Where the connection goes on. */
  readonly pos: string;
  /** Up to where messages to the device have come; undefined: there were none. */
  readonly toDevice: string | undefined;
  /** Whether there are more of them up to `pos`. */
  readonly isBehind: boolean;
}

/** What the token of a place begins with. */
export const PREFIX = "sliding:";

/** Writes a place as a token. */
function slidingToken({ pos, toDevice = "", isBehind }: SlidingPlace): SyncToken {
  const parts = [pos, toDevice].map(encodeURIComponent);
  return `${PREFIX}${parts.join(":")}${isBehind ? ":more" : ""}` as SyncToken;
}

/** Reads a token; undefined: it is none of sliding sync. */
export function slidingPlace(token: SyncToken | undefined): SlidingPlace | undefined {
  if (token?.startsWith(PREFIX) !== true) return undefined;
  const [pos = "", toDevice = "", more] = token.slice(PREFIX.length).split(":").map(decoded);
  return { pos, toDevice: toDevice || undefined, isBehind: more !== undefined };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the application has moved the position to it: the server refuses it
  }
}

/** The token that the classic sync and other requests take for a place: what stands behind the connection. */
export function classicToken<Token extends SyncToken | undefined>(token: Token): Token {
  const place = slidingPlace(token);
  return place === undefined ? token : place.pos.slice(place.pos.indexOf("/") + 1) as Token;
}

/** What is known beside an answer. */
export interface SlidingContext {
  /** The acting user. */
  readonly own: string;
  /** Up to where messages to the device had come before. */
  readonly toDevice: string | undefined;
  /** How many one-time keys the server has left; undefined: nobody has asked. */
  readonly counts: Readonly<Record<string, number>> | undefined;
}

/** The answer of the classic sync that says the same. */
export function classicResponse(
  { pos, rooms = {}, extensions = {} }: SlidingResponse,
  { own, toDevice: before, counts }: SlidingContext,
): SyncResponse {
  const toDevice = object(extensions.to_device);
  const { next_batch, events } = toDevice;
  const e2ee = object(extensions.e2ee);
  const place: SlidingPlace = {
    pos,
    toDevice: typeof next_batch === "string" && next_batch !== "" ? next_batch : before,
    isBehind: Array.isArray(events) && events.length >= TO_DEVICE_LIMIT,
  };
  const accountData = object(extensions.account_data);
  const response: JsonObject = {
    next_batch: slidingToken(place),
    rooms: sections(rooms, own, extensions),
    account_data: { events: accountData.global ?? [] },
    to_device: { events: events ?? [] },
    device_lists: e2ee.device_lists,
    // Synapse says 0 there, however many there are.
    ...(counts && { device_one_time_keys_count: counts }),
    device_unused_fallback_key_types: e2ee.device_unused_fallback_key_types,
  };
  return response as unknown as SyncResponse;
}

function sections(rooms: JsonObject, own: string, extensions: JsonObject): JsonObject {
  const [accountData, receipts, typing] = ["account_data", "receipts", "typing"].map((name) =>
    object(object(extensions[name]).rooms)
  ) as [JsonObject, JsonObject, JsonObject];
  const found: Record<"join" | "invite" | "knock" | "leave", [string, JsonObject][]> = {
    join: [],
    invite: [],
    knock: [],
    leave: [],
  };
  const beside = [accountData, receipts, typing].flatMap((room) => Object.keys(room));
  for (const roomId of new Set([...Object.keys(rooms), ...beside])) {
    if (!isReceivedRoomId(roomId)) continue;
    const room = object(rooms[roomId]);
    const membership = membershipIn(room, own);
    const stripped = room.invite_state ?? room.stripped_state;
    if (membership === "invite" || membership === "knock") {
      found[membership].push([roomId, { [`${membership}_state`]: { events: stripped } }]);
      continue;
    }
    const content = {
      timeline: { events: room.timeline ?? [], limited: room.limited, prev_batch: room.prev_batch },
      state_after: { events: room.required_state ?? [] },
      account_data: { events: accountData[roomId] ?? [] },
      ephemeral: { events: [receipts[roomId], typing[roomId]].filter((event) => event !== undefined) },
    };
    const isOut = membership === "leave" || membership === "ban";
    found[isOut ? "leave" : "join"].push([roomId, content]);
  }
  return Object.fromEntries(
    Object.entries(found).map(([section, rooms]) => [section, Object.fromEntries(rooms)]),
  );
}

/** What the user is to a room; undefined: what they were before. */
function membershipIn(room: JsonObject, own: string): unknown {
  const lists = [room.invite_state ?? room.stripped_state, room.required_state, room.timeline];
  for (const list of lists) {
    if (!Array.isArray(list)) continue;
    const member = list.findLast((event) =>
      isJsonObject(event) && event.type === "m.room.member" && event.state_key === own
    );
    if (member !== undefined) return object(member.content).membership;
  }
  return undefined;
}

function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/**
 * Events as a client gets to see them.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#room-event-format | Room event format}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { bundledAggregations } from "./aggregations.ts";
import type { Device } from "../users/device.ts";
import { redactedId } from "./redaction.ts";
import type { Room } from "../rooms/room.ts";
import type { RoomEvent } from "./room_event.ts";
import { isWithheld, membershipAt } from "../rooms/visibility.ts";

/** For whom events are formatted. */
export interface Viewer {
  /** The user. */
  readonly user: UserID;
  /** The device, which alone receives its transaction IDs; nobody does if it is absent. */
  readonly device?: Device;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
}

/** How an event is formatted. */
interface FormatOptions {
  /** Leaves the room ID out, as sync does. */
  readonly withoutRoomId?: boolean;
  /**
   * Leaves out what only events of a timeline carry: the viewer's membership and the content
   * before.
   */
  readonly bare?: boolean;
  /** Leaves out what only the first version of the API put outside of `unsigned`. */
  readonly plain?: boolean;
  /** It stands within another event, as what redacted that. */
  readonly within?: boolean;
  /** Adds what relates to the event. */
  readonly aggregations?: boolean;
}

/** Formats an event for a client. */
export function formatEvent(
  room: Room,
  event: RoomEvent,
  viewer: Viewer,
  options: FormatOptions = {},
): JsonObject {
  const unsigned: JsonObject = { age: viewer.now - event.timestamp };
  if (event.replaces !== undefined) unsigned.replaces_state = event.replaces.id;
  if (options.bare !== true) {
    unsigned.membership = membershipAt(room, viewer.user, event);
    if (event.replaces !== undefined && !isWithheld(room, event.replaces)) {
      unsigned.prev_content = event.replaces.content;
      unsigned.prev_sender = event.replaces.sender;
    }
  }
  if (event.transaction !== undefined && event.transaction.device === viewer.device) {
    unsigned.transaction_id = event.transaction.id;
  }
  if (event.redaction !== undefined) {
    if (options.within !== true) {
      unsigned.redacted_by = event.redaction.id;
      const because: FormatOptions = { ...options, bare: true, within: true };
      unsigned.redacted_because = formatEvent(room, event.redaction, viewer, because);
    }
  }
  if (options.aggregations === true && event.stateKey === undefined) {
    const relations = bundledAggregations(
      room,
      event,
      viewer.user,
      (child) => formatEvent(room, child, viewer, { ...options, bare: true }),
    );
    if (relations !== undefined) unsigned["m.relations"] = relations;
  }
  const json: JsonObject = {
    content: event.content,
    event_id: event.id,
    origin_server_ts: event.timestamp,
    sender: event.sender,
    type: event.type,
    unsigned,
  };
  if (options.withoutRoomId !== true || event.type === "m.room.create" && room.version.creatorPower) {
    json.room_id = event.roomId;
  }
  if (event.stateKey !== undefined) json.state_key = event.stateKey;
  if (options.withoutRoomId !== true && options.plain !== true) copyOldFields(json, unsigned);
  if (event.type === "m.room.redaction") {
    const target = redactedId(room.version, event);
    const isKept = event.redaction === undefined || room.version.modernRedaction;
    if (target !== undefined && isKept) {
      json.redacts = target;
      json.content = { ...event.content, redacts: target };
    }
  }
  return json;
}

/** What stood outside of `unsigned` before there was an API of version 2: Synapse still says it. */
function copyOldFields(json: JsonObject, unsigned: JsonObject): void {
  json.user_id = json.sender;
  for (const key of ["age", "redacted_because", "replaces_state", "prev_content"]) {
    if (Object.hasOwn(unsigned, key)) json[key] = unsigned[key];
  }
}

/** The form that invited and knocking users get to see of a room's state. */
export function strippedEvent(event: RoomEvent): JsonObject {
  return { type: event.type, state_key: event.stateKey, content: event.content, sender: event.sender };
}

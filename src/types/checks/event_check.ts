/**
 * What events have beside their content, checked when they are received: a value
 * without a required member is no event, and an optional member that does not fit is removed.
 *
 * @module
 */

import type {
  BundledAggregations,
  BundledEvent,
  ClientEvent,
  ClientEventWithoutRoomID,
  ClientStateEvent,
  ReferenceAggregation,
  RelatedEvent,
  StrippedState,
  ThreadAggregation,
  UnsignedData,
} from "../events/event.ts";
import type { RoomID } from "../ids.ts";
import { isJsonObject, isShallow, type JsonObject } from "../json.ts";
import type { RoomMemberContent } from "../content/room_state_content.ts";
import type { StrippedChildStateEvent } from "../api/public_rooms.ts";
import {
  anyObject,
  boolean,
  eventId,
  later,
  list,
  type Members,
  Misfit,
  number,
  object,
  oneOf,
  optional,
  roomId,
  type Shape,
  text,
  UNNOTED,
  userId,
} from "./shape.ts";
import { isName, isReceivedEventId, isReceivedUserId } from "../identifiers.ts";
import { roomMember, spaceChild } from "./state_shapes.ts";

/** Returns whether a value has what all events have, and can be kept. */
export function isEvent(event: unknown): event is JsonObject {
  return isJsonObject(event) && isName(event.type) && isJsonObject(event.content) && isShallow(event);
}

/** Returns whether an event says who sent it. */
export function hasSender({ sender }: JsonObject): boolean {
  return isReceivedUserId(sender);
}

/** Returns whether an event has what those of rooms have. */
export function isRoomEvent(event: JsonObject): boolean {
  const { event_id, sender, origin_server_ts, state_key } = event;
  return isReceivedEventId(event_id) && isReceivedUserId(sender) &&
    typeof origin_server_ts === "number" && (state_key === undefined || isStateKey(event));
}

/** Returns whether an event has what those of a room's state have. */
export function isState(event: JsonObject): boolean {
  return isRoomEvent(event) && event.state_key !== undefined;
}

/** Returns whether an event has what state has that is shown to those outside of the room. */
export function isStripped(event: JsonObject): boolean {
  return hasSender(event) && isStateKey(event);
}

/** Returns whether the state key of an event is one: of a member event, a user. */
function isStateKey({ type, state_key }: JsonObject): boolean {
  return type === "m.room.member" ? isReceivedUserId(state_key) : isName(state_key);
}

/**
 * Returns whether an event was redacted: its content is empty then, or has what the room's version leaves.
 */
export function isRedacted(event: object): boolean {
  const { unsigned } = event as { readonly unsigned?: unknown };
  return isJsonObject(unsigned) && isJsonObject(unsigned.redacted_because);
}

/** What is taken away from an event when it comes. */
interface Unsaid {
  /** Only this library says it, once the event has come. */
  source?: never;
  /**
   * Synapse has it beside `unsigned` too, as the first version of the API had. It is an event, which
   * is checked in `unsigned` only.
   */
  redacted_because?: never;
}

const never: Shape<never> = () => new Misfit("is not for a server to say");
const unsaid: Members<Unsaid> = { source: optional(never), redacted_because: optional(never) };

const members: Members<ClientEventWithoutRoomID & Unsaid> = {
  ...unsaid,
  type: text,
  content: anyObject,
  event_id: eventId,
  sender: userId,
  origin_server_ts: number,
  state_key: optional(text),
  unsigned: optional(later((): Shape<UnsignedData> => unsignedData)),
  redacts: optional(eventId),
};

/** An event that has the room that was asked about, whether or not the server says it again. */
function ofRoom<Event extends { readonly room_id: RoomID }>(shape: Shape<Event>): Shape<Event> {
  return (value, notes) => {
    const { room } = notes;
    if (room === undefined || !isJsonObject(value)) return shape(value, notes);
    const { room_id = room } = value;
    if (room_id !== room) return new Misfit("is not the room that was asked about").in("room_id");
    return shape(value.room_id === undefined ? { ...value, room_id } : value, notes);
  };
}

/** A list of events; how many do not fit, and are left out, is noted. */
export function eventList<Event>(shape: Shape<Event>): Shape<Event[]> {
  const all = list(shape);
  return (value, notes) => {
    const fitting = all(value, notes);
    if (fitting instanceof Misfit) return fitting;
    const leftOut = (value as readonly unknown[]).length - fitting.length;
    if (leftOut > 0) notes.leftOut = (notes.leftOut ?? 0) + leftOut;
    return fitting;
  };
}

/** An event of a room. */
export const clientEvent: Shape<ClientEvent> = ofRoom(object<ClientEvent>({ ...members, room_id: roomId }));

/** A state event. */
export const clientStateEvent: Shape<ClientStateEvent> = ofRoom(object<ClientStateEvent>({
  ...members,
  room_id: roomId,
  state_key: text,
}));

/** A member event. */
export const memberEvent: Shape<ClientStateEvent<"m.room.member", RoomMemberContent>> = ofRoom(
  object<ClientStateEvent<"m.room.member", RoomMemberContent>>({
    ...members,
    room_id: roomId,
    type: oneOf("m.room.member"),
    state_key: userId,
    content: roomMember,
  }),
);

/** That a room belongs to a space. */
export const childEvent: Shape<StrippedChildStateEvent> = object<StrippedChildStateEvent>({
  ...unsaid,
  type: oneOf("m.space.child"),
  content: spaceChild,
  state_key: text,
  sender: userId,
  origin_server_ts: number,
  event_id: optional(eventId),
  unsigned: optional(later((): Shape<UnsignedData> => unsignedData)),
});

const bundled = object<BundledEvent>({ ...members, room_id: optional(roomId) });

const strippedStates = list(object<StrippedState>({
  ...unsaid,
  type: text,
  content: anyObject,
  state_key: text,
  sender: userId,
  event_id: optional(eventId),
  origin_server_ts: optional(number),
  unsigned: optional(later((): Shape<UnsignedData> => unsignedData)),
}));

/** What the own server adds. */
const unsignedMembers: Members<UnsignedData> = {
  age: optional(number),
  transaction_id: optional(text),
  prev_content: optional(anyObject),
  replaces_state: optional(eventId),
  redacted_because: optional(bundled),
  membership: optional(text),
  "m.relations": optional(object<BundledAggregations>({
    "m.replace": optional(bundled),
    "m.reference": optional(object<ReferenceAggregation>({
      chunk: list(object<RelatedEvent>({ event_id: eventId })),
    })),
    "m.thread": optional(object<ThreadAggregation>({
      latest_event: bundled,
      count: number,
      current_user_participated: boolean,
    })),
  })),
  invite_room_state: optional(strippedStates),
  knock_room_state: optional(strippedStates),
};
const unsignedData = object<UnsignedData>(unsignedMembers);

/** Takes out of an event that is one, in place, what may be absent and does not fit. */
export function tidyEvent(
  event: { unsigned?: unknown; redacts?: unknown; redacted_because?: unknown },
): void {
  const { unsigned, redacts } = event;
  if (event.redacted_because !== undefined) delete event.redacted_because;
  if (redacts !== undefined && eventId(redacts, UNNOTED) instanceof Misfit) delete event.redacts;
  if (unsigned === undefined || isPlain(unsigned)) return;
  const fitting = unsignedData(unsigned, UNNOTED);
  if (fitting instanceof Misfit) delete event.unsigned;
  else if (fitting !== unsigned) event.unsigned = fitting;
}

/**
 * Returns whether a server says no more of an event than its age and what the user was to the room then, as
 * it does of nearly all; named one by one, since to look at all members of all events by their
 * shapes takes a twentieth of a large sync.
 */
function isPlain(unsigned: unknown): boolean {
  if (!isJsonObject(unsigned)) return false;
  const said: { readonly [Name in keyof UnsignedData]?: unknown } = unsigned;
  return typeof said.age === "number" &&
    (said.membership === undefined || typeof said.membership === "string") &&
    said.prev_content === undefined && said.replaces_state === undefined &&
    said.redacted_because === undefined &&
    said["m.relations"] === undefined && said.transaction_id === undefined &&
    said.invite_room_state === undefined && said.knock_room_state === undefined;
}

/**
 * Takes out of state that is shown to those outside of the room what it need not have, if that does
 * not fit.
 */
export function tidyStripped(event: { event_id?: unknown; origin_server_ts?: unknown }): void {
  const { event_id, origin_server_ts } = event;
  if (event_id !== undefined && eventId(event_id, UNNOTED) instanceof Misfit) delete event.event_id;
  if (origin_server_ts !== undefined && typeof origin_server_ts !== "number") delete event.origin_server_ts;
}

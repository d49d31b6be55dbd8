/**
 * Events as a client gets to see them: which, and in which form.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#room-history-visibility | Room history visibility}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#room-event-format | Room event format}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#aggregations-of-child-events | Aggregations}
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Room } from "./room.ts";
import { membershipOf, redactedId, type RoomEvent } from "./room_event.ts";

/** For whom events are formatted. */
export interface Viewer {
  readonly user: UserID;
  /** The device, which alone receives its transaction IDs; nobody does if it is absent. */
  readonly device?: object;
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

/** The state that invited and knocking users get to see. */
export const STRIPPED_STATE: readonly string[] = [
  ...["m.room.create", "m.room.join_rules", "m.room.canonical_alias", "m.room.avatar", "m.room.encryption"],
  ...["m.room.name", "m.room.topic"],
];

/** The form in which they see it. */
export function strippedEvent(event: RoomEvent): JsonObject {
  return { type: event.type, state_key: event.stateKey, content: event.content, sender: event.sender };
}

/** The aggregations of `event`, or `undefined` if nothing relates to it. */
function bundledAggregations(
  room: Room,
  event: RoomEvent,
  viewer: UserID,
  format: (event: RoomEvent) => JsonObject,
): JsonObject | undefined {
  const children = room.relations.childrenOf(event.id);
  const isPart = ["m.annotation", "m.replace"].includes(room.relations.of(event)?.type ?? "");
  if (children.length === 0 || isPart) return undefined;
  const bundle: JsonObject = {};
  const references = children.filter((child) => room.relations.of(child)?.type === "m.reference");
  if (references.length > 0) {
    bundle["m.reference"] = { chunk: references.map(({ id }) => ({ event_id: id })) };
  }
  const edit = latestEdit(room, event);
  if (edit !== undefined) bundle["m.replace"] = format(edit);
  const thread = threadOf(room, event);
  const latest = thread.at(-1);
  if (latest !== undefined) {
    bundle["m.thread"] = {
      latest_event: format(latest),
      count: thread.length,
      current_user_participated: event.sender === viewer || thread.some(({ sender }) => sender === viewer),
    };
  }
  return Object.keys(bundle).length > 0 ? bundle : undefined;
}

/** The edit that counts: the latest one by the sender of the event, of the same type. */
function latestEdit(room: Room, event: RoomEvent): RoomEvent | undefined {
  if (event.redaction !== undefined) return undefined;
  const edits = room.relations.childrenOf(event.id, "m.replace").filter((edit) =>
    edit.sender === event.sender && edit.type === event.type
  );
  return edits.reduce<RoomEvent | undefined>(
    (latest, edit) => latest === undefined || edit.timestamp >= latest.timestamp ? edit : latest,
    undefined,
  );
}

/** The events of the thread that `root` begins, oldest first. */
export function threadOf(room: Room, root: RoomEvent): RoomEvent[] {
  if (room.relations.of(root) !== undefined) return [];
  return room.relations.childrenOf(root.id, "m.thread");
}

/** A user who looks at a room. */
interface Reader {
  readonly id: UserID;
  ignores(other: UserID): boolean;
}

/** How a user looks at a room. */
interface Look {
  /** Whether the user is not in the room: what members share is not shown then. */
  readonly peeking?: boolean;
}

/** Returns whether `viewer` may see `event`. */
export function canSee(
  room: Room,
  viewer: Reader,
  event: RoomEvent,
  { peeking = false }: Look = {},
): boolean {
  if (event.type === "m.room.aliases" || isWithheld(room, event)) return false;
  if (event.stateKey === undefined && viewer.ignores(event.sender)) return false;
  const visibility = visibilityAt(room, event);
  if (visibility === "world_readable" || (visibility === "shared" && !peeking)) return true;
  const isOwn = event.type === "m.room.member" && event.stateKey === viewer.id;
  const membership = isOwn ? ownMembership(event) : membershipAt(room, viewer.id, event);
  if (membership === "join" || (isOwn && membership === "allowed")) return true;
  return visibility === "invited" && membership === "invite";
}

/** The event with an ID, if the homeserver gives it to anyone. */
export function eventToShow(room: Room | undefined, id: string): RoomEvent | undefined {
  const event = room?.event(id);
  return room === undefined || event === undefined || isWithheld(room, event) ? undefined : event;
}

/** A redaction that redacts nothing of the room is as if it were not there. */
export function isWithheld(room: Room, event: RoomEvent): boolean {
  if (event.type !== "m.room.redaction") return false;
  const target = room.event(redactedId(room.version, event) ?? "");
  return target === undefined || target.type === "m.room.create";
}

/** The membership of `viewer` that an event is seen with; Synapse shows it in `unsigned`. */
function membershipAt(room: Room, viewer: UserID, event: RoomEvent): string {
  return room.membership(viewer, event.position);
}

/**
 * What the own member event counts as: the closer of the memberships before and after it. Those who
 * leave a room, or decline an invite, see that they do.
 */
function ownMembership(event: RoomEvent): string {
  const [after, before] = [membershipOf(event), membershipOf(event.replaces)];
  if (after === "leave" && (before === "join" || before === "invite")) return "allowed";
  return CLOSENESS.indexOf(before) < CLOSENESS.indexOf(after) ? before : after;
}

const CLOSENESS = ["join", "invite", "knock", "leave", "ban"];

/** The more open of the settings before and after the event counts. */
function visibilityAt(room: Room, event: RoomEvent): string {
  const after = settingOf(room.historyVisibility(event.position));
  if (event.type !== "m.room.history_visibility") return after;
  const before = settingOf(String(event.replaces?.content.history_visibility));
  return OPENNESS.indexOf(before) < OPENNESS.indexOf(after) ? before : after;
}

function settingOf(value: string): string {
  return OPENNESS.includes(value) ? value : "shared";
}

const OPENNESS = ["world_readable", "shared", "invited", "joined"];

/**
 * Rooms: their events and state, the rules of both, and what of them a user gets to see.
 * Nothing here knows of a server.
 *
 * @module
 */

export {
  allowedRooms,
  checkContent,
  checkEvent,
  checkSender,
  checkSize,
  isKnockable,
  isRestricted,
} from "./event_rules.ts";
export { EventFilter, parseFilterJson, pickFields, SyncFilter } from "./event_filter.ts";
export {
  canSee,
  eventToShow,
  formatEvent,
  isWithheld,
  STRIPPED_STATE,
  strippedEvent,
  threadOf,
  type Viewer,
} from "./format_event.ts";
export {
  DEFAULT_ROOM_VERSION,
  type EventDraft,
  firstAfter,
  membershipOf,
  paginate,
  PowerLevels,
  redactedContent,
  redactedId,
  type Relation,
  relationOf,
  ROOM_VERSIONS,
  type RoomEvent,
  type RoomVersion,
} from "./room_event.ts";
export { type Receipt, receiptContent, Room } from "./room.ts";

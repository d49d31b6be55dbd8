/**
 * What kind of event an event is: its type and its class.
 *
 * The class matters because a type does not say it: anyone can send a *message* of the type
 * `m.room.name`, and no handler of room names may see it.
 *
 * @module
 */

import { CHECKED_CLASSES, shapeOf } from "../checks/content_shapes.ts";

/**
 * What Greenroom reports to handlers besides the server's events; `InternalEvents` says with which
 * data.
 */
export const InternalEventType = {
  /** The sync loop starts; once per start, after the token was read. */
  SYNC_STARTED: "SYNC_STARTED",
  /** A sync failed, and the loop is about to wait. */
  SYNC_ERRORED: "SYNC_ERRORED",
  /** A sync response came in, and is about to be handled. */
  SYNC_SUCCESSFUL: "SYNC_SUCCESSFUL",
  /** The sync loop ended, for whatever reason. */
  SYNC_STOPPED: "SYNC_STOPPED",
  /** A user joined. */
  JOIN: "JOIN",
  /** A member changed name, avatar or another part of the member event. */
  PROFILE_CHANGE: "PROFILE_CHANGE",
  /** The own user was invited: to a room that can be joined now. */
  INVITE: "INVITE",
  /** Another user, that of the event's state key, was invited to a room that the own user is in. */
  USER_INVITED: "USER_INVITED",
  /** A user declined the invitation. */
  REJECT_INVITE: "REJECT_INVITE",
  /** A user's invitation was withdrawn. */
  DISINVITE: "DISINVITE",
  /** A member left. */
  LEAVE: "LEAVE",
  /** A member was removed. */
  KICK: "KICK",
  /** A user was banned. */
  BAN: "BAN",
  /** A user's ban was lifted. */
  UNBAN: "UNBAN",
  /** A user asked to be let in. */
  KNOCK: "KNOCK",
  /** Other users' devices changed, or users are no longer of interest. */
  DEVICE_LISTS: "DEVICE_LISTS",
  /** How many of this device's one-time keys the server has left. */
  DEVICE_OTK_COUNT: "DEVICE_OTK_COUNT",
  /**
   * Events between the timeline before and the one that came were left out: there were too many, or
   * the server did not give them.
   */
  GAP: "GAP",
  /** An encrypted event could not be decrypted, for now at least: it comes as soon as it can be. */
  UNDECRYPTABLE: "UNDECRYPTABLE",
  /** A message came in clear into an encrypted room, and was ignored. */
  UNENCRYPTED: "UNENCRYPTED",
  /**
   * A sticky event holds that did not come in the timeline, since it is older than what the client has.
   *
   * @experimental It uses the unstable form of MSC4354: a minor version may change it.
   */
  STICKY: "STICKY",
  /** The content of an event is not what its type says. */
  MALFORMED: "MALFORMED",
  /**
   * The server shows keys of a user or a device that are not those it showed before, or can't be.
   */
  DEVICE_ALARM: "DEVICE_ALARM",
  /** Another user, or another own device, asks for a verification. */
  VERIFICATION_REQUEST: "VERIFICATION_REQUEST",
  /**
   * An event is left out for a time, since process after process has ended while it was handled:
   * see `client.quarantine`.
   */
  EVENT_QUARANTINED: "EVENT_QUARANTINED",
  /**
   * A handler threw, or a promise that it did not await was rejected; and not because the client can't go on.
   */
  HANDLER_ERROR: "HANDLER_ERROR",
} as const;
/** A value of {@linkcode InternalEventType}. */
export type InternalEventType = typeof InternalEventType[keyof typeof InternalEventType];

/** How events of a type travel, and what they have besides content. */
export type EventClass =
  /** Into a room's timeline. */
  | "message"
  /** Into a room's state. */
  | "state"
  /** Through a room, kept nowhere. */
  | "ephemeral"
  /** Into the user's private data. */
  | "account_data"
  /** To one device. */
  | "to_device"
  /** Made by Greenroom. */
  | "internal"
  /** Not known. */
  | "unknown";

/** A type of event together with its class. */
export interface EventTypeRef<Type extends string = string, Class extends EventClass = EventClass> {
  /** The type, as the wire has it. */
  readonly type: Type;
  /** Where events of the type occur. */
  readonly class: Class;
}

/**
 * A type of event: by name, if it is one of the specification's or of any class, or with its class.
 *
 * A name that stands for two classes, such as `m.room.encrypted`, means the message.
 */
export type EventType = string | EventTypeRef;

/**
 * Names a type of event together with its class.
 *
 * @param type The type, as the wire has it.
 * @param eventClass The class.
 * @returns The reference, to be given wherever an {@linkcode EventType} is asked for.
 *
 * @example
 * ```ts
 * import { eventType } from "@greenroom/matrix";
 *
 * const encryptedToDevice = eventType("m.room.encrypted", "to_device");
 * console.assert(encryptedToDevice.class === "to_device");
 * ```
 */
export function eventType<const Type extends string, const Class extends EventClass>(
  type: Type,
  eventClass: Class,
): EventTypeRef<Type, Class> {
  return { type, class: eventClass };
}

/** Classes in which types are known, in the order in which a name is looked up. */
const KNOWN_CLASSES: readonly EventClass[] = [...CHECKED_CLASSES, "internal"];

const INTERNAL_TYPES: ReadonlySet<string> = new Set(Object.values(InternalEventType));

/** Returns whether `type` is known to be of `eventClass`. */
function isKnownAs(type: string, eventClass: EventClass): boolean {
  return eventClass === "internal" ? INTERNAL_TYPES.has(type) : shapeOf(eventClass, type) !== undefined;
}

/**
 * The class that a type of event has.
 *
 * @param type A name, or a type with its class.
 * @returns The class; of a name with two classes the first of state, message, ephemeral, account
 * data and to-device; `"unknown"` of a name that neither the specification nor Greenroom defines.
 */
export function classOf(type: EventType): EventClass {
  if (typeof type !== "string") return type.class;
  for (const eventClass of KNOWN_CLASSES) {
    if (isKnownAs(type, eventClass)) return eventClass;
  }
  return "unknown";
}

/**
 * Returns whether events of a type can be of a class: `m.room.encrypted` can be a message and go to a
 * device, `m.room.name` can only be state, and an unknown name can be anything but internal.
 *
 * @param type A name, or a type with its class.
 * @param eventClass The class in question.
 */
export function canBeOfClass(type: EventType, eventClass: EventClass): boolean {
  const known = classOf(type);
  if (known === "unknown") return eventClass !== "internal";
  return known === eventClass || (typeof type === "string" && isKnownAs(type, eventClass));
}

/**
 * The name of a type of event, as the wire has it.
 *
 * @param type A name, or a type with its class.
 */
export function typeName(type: EventType): string {
  return typeof type === "string" ? type : type.type;
}

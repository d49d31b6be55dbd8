/**
 * What kind of event an event is: its type and its class.
 *
 * The class matters because a type does not say it: anyone can send a *message* of the type
 * `m.room.name`, and no handler of room names may see it.
 *
 * @module
 */

import { CHECKED_CLASSES, shapeOf } from "../checks/content_shapes.ts";
import { InternalEventType } from "./internal_event_type.ts";

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

/** Whether `type` is known to be of `eventClass`. */
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
 * Whether events of a type can be of a class: `m.room.encrypted` can be a message and go to a
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

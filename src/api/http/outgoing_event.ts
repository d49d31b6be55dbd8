/**
 * What is about to be sent: the type and the content of an event, checked.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { type EventDefinition, validateContent } from "../../types/events/define_event.ts";
import type { ContentOf, ContentsByClass } from "../../types/events/event_of.ts";
import type { EventClass, EventType, EventTypeRef } from "../../types/events/event_type.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

/**
 * The content of a type of event, where its class is known; any object of an unknown type.
 */
export type ContentAs<T extends EventType, Class extends keyof ContentsByClass> = T extends string
  ? T extends keyof ContentsByClass[Class] ? Extract<ContentsByClass[Class][T], object> : JsonObject
  : ContentOf<T>;

/** What may be sent as the content of a type of event. */
export type SendableContent<T extends EventType, Class extends keyof ContentsByClass> = T extends string
  ? T extends keyof ContentsByClass[Class] ? Extract<ContentsByClass[Class][T], object> : object
  : ContentOf<T>;

/** An event that may be sent. */
export interface OutgoingEvent {
  /** Its type, as the wire has it. */
  readonly eventType: string;
  /** Its content, as the schema of the type's definition returned it, if there is one. */
  readonly content: object;
}

/**
 * Checks an event before it is sent.
 *
 * @param type The type, by name, with its class, or defined by the application.
 * @param eventClass The class that events have which are sent this way.
 * @param content The content.
 * @throws {ValueError} If the type is empty or of another class, or the content is no object or
 *   refused by the schema.
 */
export async function outgoingEvent(
  type: EventType,
  eventClass: EventClass,
  content: object,
): Promise<OutgoingEvent> {
  const eventType = checkedType(type, eventClass);
  if (!isJsonObject(content)) {
    throw new ValueError(`Cannot send ${eventType}: its content must be an object`);
  }
  return { eventType, content: isDefinition(type) ? await validateContent(type, content) : content };
}

/**
 * The name of a type that must be of a class. A bare name may be of any.
 *
 * @throws {ValueError} If it is empty, or said to be of another class.
 */
export function checkedType(type: EventType, eventClass: EventClass): string {
  const name = typeof type === "string" ? type : type.type;
  if (typeof name !== "string" || name === "") throw new ValueError("Cannot use the event type: it is empty");
  if (typeof type !== "string" && type.class !== eventClass) {
    throw new ValueError(
      `Cannot use the event type ${name}: it is of class ${type.class}, and not ${eventClass}`,
    );
  }
  return name;
}

function isDefinition(type: EventType): type is EventDefinition & EventTypeRef {
  return typeof type !== "string" && "schema" in type;
}

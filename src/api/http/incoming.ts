/**
 * What servers answer with and others wrote: events and contents, checked before they are handed
 * out with the types that they are said to have.
 *
 * @module
 */

import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { contentCheckOf, Malformed } from "../../types/events/content_check.ts";
import { Misfit, type Notes, type Shape } from "../../types/checks/shape.ts";
import { type EventClass, type EventType, eventType } from "../../types/events/event_type.ts";
import type { Parse } from "./endpoint.ts";

/**
 * Returns a body of a shape, without optional members and items that do not fit. Events that are left out are
 * logged; those of a room that was asked about need not say which it is.
 */
export function shaped<T>(shape: Shape<T>): Parse<T> {
  return (body, request, { room, log } = {}) => {
    const notes: Notes = { taken: [], depth: 0, ...(room !== undefined && { room }) };
    const fitting = shape(body, notes);
    if (notes.leftOut !== undefined) {
      const [first] = notes.taken;
      const why = first && `${first.path.join(".")} ${first.problem}`;
      log?.warn("Left out events of an answer that are none of what was asked for", {
        request,
        events: notes.leftOut,
        ...(why && { why }),
      });
    }
    if (!(fitting instanceof Misfit)) return fitting;
    const { path, problem } = fitting;
    throw new ServiceResponseError(
      `Cannot use the answer to ${request}: ${path.join(".") || "it"} ${problem}`,
    );
  };
}

/**
 * Checks the content of an event that was asked for.
 *
 * @param type The type, by name, with its class, or defined by the application.
 * @param eventClass The class that such events have.
 * @param content The content, as the server gave it.
 * @returns The content without what may be absent and does not fit.
 * @throws {MalformedContentError} If it is not what its type says.
 */
export async function incomingContent(
  type: EventType,
  eventClass: EventClass,
  content: object,
): Promise<object> {
  const check = contentCheckOf(typeof type === "string" ? eventType(type, eventClass) : type);
  const checked = check === undefined ? content : await check(content);
  if (!(checked instanceof Malformed)) return checked;
  if (checked.content === undefined) throw checked.reason;
  return checked.content;
}

/**
 * Users, rooms and events as people and clients write them.
 *
 * @module
 */

import { type MatrixLink, matrixToUrl, parseMatrixLink } from "../../../mod.ts";
import { memberOf, textOf } from "../text/json.ts";

/** What an ID, a link, or the object that stands for a room or an event leads to. */
export function linkOf(value: unknown): MatrixLink | undefined {
  const text = textOf(value)?.trim();
  const via = memberOf(value, "via");
  const eventId = memberOf(value, "event_id");
  try {
    if (text !== undefined && !/^[@#!]/.test(text)) return parseMatrixLink(text);
    const link = {
      id: text ?? memberOf(value, "id") ?? memberOf(value, "room_id"),
      ...(eventId !== undefined && { eventId }),
      ...(Array.isArray(via) && via.length > 0 && { via }),
    } as MatrixLink;
    return parseMatrixLink(matrixToUrl(link)); // which checks all of it
  } catch {
    return undefined;
  }
}

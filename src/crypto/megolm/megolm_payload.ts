/**
 * What is inside an encrypted event.
 *
 * @module
 */

import { isShallow } from "../../types/checks/depth.ts";
import { isName } from "../../types/checks/identifiers.ts";
import { canBeOfClass } from "../../types/events/event_type.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** What counts of it: everything else comes from the envelope. */
export interface MegolmPayload {
  /** The event's type. */
  readonly type: string;
  /** The event's content, freshly parsed: nobody else has it. */
  readonly content: JsonObject;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads what was encrypted.
 *
 * @param plaintext What vodozemac gave.
 * @param roomId The room that the event came in.
 * @returns What is inside, or what is wrong with it in words.
 */
export function readMegolmPayload(plaintext: Uint8Array, roomId: RoomID): MegolmPayload | string {
  let payload: unknown;
  try {
    payload = JSON.parse(decoder.decode(plaintext));
  } catch {
    return "its content is not JSON in UTF-8";
  }
  if (!isJsonObject(payload)) return "its content is not a JSON object";
  if (!isShallow(payload)) return "its content is nested too deeply";
  const { type, content, room_id } = payload;
  if (room_id !== roomId) return "it was encrypted for another room";
  if (!isName(type)) return "its content says no type";
  if (!isJsonObject(content)) return "its content says no content";
  if (Object.hasOwn(payload, "state_key")) return "it pretends to be state, which is not encrypted";
  // State, events of other kinds and the own ones of the library only pretend to be messages, and a redaction is what
  // the server has done, not what a member says.
  if (type === "m.room.encrypted" || type === "m.room.redaction" || !canBeOfClass(type, "message")) {
    return "it has a type that is never encrypted";
  }
  return { type, content };
}

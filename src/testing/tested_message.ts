/**
 * Messages as a test reads them, and the error of a test to which no message comes.
 *
 * A file of its own because rooms that are tried and users read messages alike.
 *
 * @module
 */

import { MatrixError } from "../errors/matrix_error.ts";
import type { EventID, UserID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { ViewedEvent } from "./views.ts";

/** A message, as it reads now. */
export interface TestedMessage {
  /** The event that it began with. */
  readonly eventId: EventID;
  /** The user ID of the message's sender. */
  readonly sender: UserID;
  /** Its plain text, after all edits. */
  readonly text: string;
  /** Its text with formatting; undefined: it has none. */
  readonly html: string | undefined;
  /** Its content, after all edits. */
  readonly content: JsonObject;
  /** The event that it is a reply to; undefined: it is none. */
  readonly replyTo: EventID | undefined;
  /** The first event of its thread; undefined: it is in none. */
  readonly thread: EventID | undefined;
}

/**
 * A bot did not do what a test expects of it.
 *
 * Mend: Read what the message says the bot did and logged, and correct the bot or the test.
 */
export class ExpectationError extends MatrixError {
  /** What went wrong, for programs. */
  override readonly code: string = "EXPECTATION";
}

/** The messages among events of a room, oldest first, each with its edits applied. */
export function messagesOf(events: readonly ViewedEvent[]): TestedMessage[] {
  const byId = new Map<string, TestedMessage>();
  for (const { type, event_id, sender, content } of events) {
    if (type !== "m.room.message") continue;
    const relation = isJsonObject(content["m.relates_to"]) ? content["m.relates_to"] : {};
    if (relation.rel_type === "m.replace") {
      const old = byId.get(String(relation.event_id));
      const replacement = content["m.new_content"];
      if (old !== undefined && isJsonObject(replacement)) {
        byId.set(old.eventId, { ...old, ...readAs(replacement) });
      }
      continue;
    }
    const reply = isJsonObject(relation["m.in_reply_to"]) ? relation["m.in_reply_to"].event_id : undefined;
    const thread = relation.rel_type === "m.thread" ? relation.event_id as EventID : undefined;
    const replyTo = relation.is_falling_back === true ? undefined : reply as EventID | undefined;
    byId.set(event_id, { eventId: event_id, sender, replyTo, thread, ...readAs(content) });
  }
  return [...byId.values()];
}

function readAs(content: JsonObject): Pick<TestedMessage, "text" | "html" | "content"> {
  const { body, formatted_body: html } = content;
  return {
    text: typeof body === "string" ? body : "",
    html: typeof html === "string" ? html : undefined,
    content,
  };
}

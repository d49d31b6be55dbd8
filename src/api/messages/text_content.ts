/**
 * What the contents of texts and captions share: formatting, and how they relate to other events.
 *
 * @module
 */

import { RelationType } from "../../types/enums.ts";
import type { Mentions, RelatesTo } from "../../types/content/message_content.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { EventID } from "../../types/ids.ts";
import type { SendOptions } from "./messages.ts";

/** Which event a message answers, and which thread it is part of. */
export interface ReplyPlace {
  /** The event that is answered. Default: none. */
  readonly replyTo?: EventID;
  /** The first event of the thread. Default: none. */
  readonly thread?: EventID;
}

/** Options of all operations that send what people see. */
export interface PlacedSendOptions extends SendOptions, ReplyPlace {
  /** Whom the message notifies. Default: it says nothing of that, and clients go by the names in it. */
  mentions?: Mentions;
  /**
   * How the message relates to another event, in all that `replyTo` and `thread` can't say. Default: not at
   * all.
   */
  relatesTo?: RelatesTo;
}

/**
 * Returns the `m.relates_to` of a reply, of a message in a thread, or of both. In a thread, a message that
 * answers nothing is shown as a reply to the thread's first event by clients that know no threads.
 *
 * @param place The event that is answered, and the thread.
 * @returns The relation; undefined: none.
 * @throws {ValueError} If one of the two is no event ID.
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#threading | Threading}
 * @example
 * ```ts
 * import { relationTo } from "@greenroom/matrix";
 *
 * const content = { answers: ["tea"], "m.relates_to": relationTo({ replyTo: "$question" }) };
 * console.assert(content["m.relates_to"]?.["m.in_reply_to"]?.event_id === "$question");
 * ```
 */
export function relationTo({ replyTo, thread }: ReplyPlace): RelatesTo | undefined {
  for (const eventId of [replyTo, thread]) if (eventId !== undefined) checkIdentifier("eventId", eventId);
  const answered = replyTo ?? thread;
  if (answered === undefined) return undefined;
  const reply = { "m.in_reply_to": { event_id: answered } };
  if (thread === undefined) return reply;
  const fallback = replyTo === undefined ? { is_falling_back: true } : {};
  return { rel_type: RelationType.THREAD, event_id: thread, ...fallback, ...reply };
}

/**
 * The part of a content that says whom the message notifies, with all that received mentions have, and how it
 * relates to other events; empty: nothing was said.
 *
 * @throws {ValueError} If the relation is said twice, or an event ID is none.
 */
export function addressing(
  { replyTo, thread, mentions, relatesTo }: Omit<PlacedSendOptions, keyof SendOptions>,
): { "m.mentions"?: Mentions; "m.relates_to"?: RelatesTo } {
  const place = relationTo({ replyTo, thread });
  if (place !== undefined && relatesTo !== undefined) {
    throw new ValueError("Cannot send a message: give relatesTo, or replyTo and thread, not both");
  }
  const relation = relatesTo ?? place;
  return { ...(mentions && { "m.mentions": mentions }), ...(relation && { "m.relates_to": relation }) };
}

/** The part of a content that has its text as HTML; empty: there is none. */
export function formatted(html: string | undefined): { format?: string; formatted_body?: string } {
  return html === undefined ? {} : { format: "org.matrix.custom.html", formatted_body: html };
}

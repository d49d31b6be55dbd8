/**
 * Edits of messages, as they are sent.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#event-replacements | Event replacements}
 * @module
 */

import { RelationType } from "../../types/enums.ts";
import { isJsonObject } from "../../types/json.ts";
import type { RoomMessageContent } from "../../types/content/message_content.ts";

/**
 * The content of a message as it is sent: an edit says what it says twice, in `m.new_content` for clients that know edits, and
 * with a `* ` in front for those that don't. Any other message, and an edit that has its `m.new_content`, stays as it is.
 */
export function withEditFallback(content: RoomMessageContent): RoomMessageContent {
  if (!isJsonObject(content)) return content;
  const { "m.relates_to": relatesTo, ...replacement } = content;
  if (relatesTo?.rel_type !== RelationType.REPLACE || replacement["m.new_content"] !== undefined) {
    return content;
  }
  const edit: RoomMessageContent & { formatted_body?: string } = { ...content, body: `* ${content.body}` };
  if (edit.formatted_body !== undefined) edit.formatted_body = `* ${edit.formatted_body}`;
  edit["m.new_content"] = replacement;
  return edit;
}

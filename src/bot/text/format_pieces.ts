/**
 * Long Markdown as the contents of several messages, each of which servers take.
 *
 * @module
 */

import type { UserID } from "../../../types.ts";
import { formatMarkdown, type FormattedMessage, type MentionOptions } from "./format_message.ts";
import { byteLength, PIECE_BYTES, splitMessage } from "./split_message.ts";

/** Options of {@link formatPieces}. */
export interface FormatPiecesOptions extends MentionOptions {
  /** How many bytes of Markdown a piece may have, at least 64. Default: 7,500. */
  limit?: number;
}

/**
 * How many bytes of JSON the text of a message may take, in both its forms and with its mentions.
 * Twice that, as an edit needs, with relations, encrypted, and with what servers add, is less than
 * the 65,536 bytes of an event.
 */
export const MAX_TEXT_BYTES = 22_000;
/** Shorter pieces are not split further: they are sent without formatting. */
const MIN_SPLIT = 128;
/** How long the first part is of a piece that is split: with what the second one repeats, as a table's header, they are two. */
const FIRST_PART = 0.6;

/**
 * Formats Markdown of any length: split as `splitMessage()` does, each piece formatted as
 * `formatMarkdown()` does. What a piece takes in an event is measured, and one that takes too much
 * is split again; so each fits into an event, encrypted and as an edit too.
 *
 * Users are mentioned by the first piece that does so, and only if the whole text mentions them: a
 * quote stays a quote. Links in a text of more than 65,536 characters mention nobody.
 *
 * @param markdown What to say.
 * @param options The length of the pieces, and whom to mention in the first one.
 * @returns The contents, without `msgtype`; none if the text is blank.
 * @throws {ValueError} If the limit is no integer, or too low.
 * @example
 * ```ts
 * import { formatPieces } from "@greenroom/matrix/bot";
 *
 * const pieces = await formatPieces("**To be**, or not to be.\n\n".repeat(1_000));
 * console.assert(pieces.length > 1 && pieces.every(({ formatted_body }) => formatted_body !== undefined));
 * ```
 */
export async function formatPieces(
  markdown: string,
  { limit = PIECE_BYTES, users = [], room, links = true }: FormatPiecesOptions = {},
): Promise<FormattedMessage[]> {
  const pieces = splitMessage(markdown, limit);
  const contents: FormattedMessage[] = [];
  for (const piece of pieces) contents.push(...await fitting(piece, links));
  const whole = links && contents.length > 1 ? await formatMarkdown(markdown) : undefined;
  const linked = whole && new Set<UserID>(whole["m.mentions"].user_ids);
  const mentioned = new Set<UserID>();
  return contents.map((content, index) => {
    const own = (content["m.mentions"].user_ids ?? []).filter((user) => linked?.has(user) ?? true);
    const ids = [...new Set([...(index === 0 ? users : []), ...own])].filter((user) => !mentioned.has(user));
    ids.forEach((user) => mentioned.add(user));
    const mentions = { ...(ids.length > 0 && { user_ids: ids }), ...(index === 0 && room && { room }) };
    return { ...content, "m.mentions": mentions };
  });
}

/** The contents of a piece: one, or more if it takes too much. */
async function fitting(piece: string, links: boolean): Promise<FormattedMessage[]> {
  const content = await formatMarkdown(piece, { links });
  if (byteLength(JSON.stringify(content)) <= MAX_TEXT_BYTES) return [content];
  const length = byteLength(piece);
  if (length < MIN_SPLIT) return [{ body: content.body, "m.mentions": content["m.mentions"] }];
  const contents: FormattedMessage[] = [];
  for (const part of splitMessage(piece, Math.ceil(length * FIRST_PART))) {
    contents.push(...await fitting(part, links));
  }
  return contents;
}

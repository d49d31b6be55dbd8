/**
 * Long Markdown and HTML as the contents of several messages, each of which servers take.
 *
 * @module
 */

import { cleanHtml, isVoid } from "./html.ts";
import type { UserID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import {
  formatHtml,
  formatMarkdown,
  type FormattedMessage,
  type MentionOptions,
  MENTIONS,
} from "./format_message.ts";
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
/** How long a piece of HTML is: its plain text, which is in the event too, is seldom longer. */
const HTML_BYTES = 9_000;
/** Shorter pieces are not split further: they are sent without formatting. */
const MIN_SPLIT = 128;
const MIN_SPLIT_HTML = 256;
/**
 * How long the first part is of a piece that is split: with what the second one repeats, as a table's header,
 * they are two.
 */
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
  options: FormatPiecesOptions = {},
): Promise<FormattedMessage[]> {
  checkOptions(options, { limit: true, ...MENTIONS }, "format a message");
  const { limit = PIECE_BYTES, users = [], room, links = true } = options;
  const contents: FormattedMessage[] = [];
  for (const piece of splitMessage(markdown, limit)) {
    for (const content of await fitting(piece, links)) contents.push(content);
  }
  const whole = links && contents.length > 1 ? await formatMarkdown(markdown) : undefined;
  return mentioningOnce(contents, { users, room, linked: whole && (whole["m.mentions"].user_ids ?? []) });
}

/**
 * Formats HTML of any length, as {@linkcode formatPieces} does Markdown: pieces end between blocks, lines or
 * words; what is open there is closed, and opened again in the next piece.
 *
 * @param html What to say.
 * @param options Whom to mention in the first piece.
 * @returns The contents, without `msgtype`; none if it shows nothing.
 * @example
 * ```ts
 * import { formatHtmlPieces } from "@greenroom/matrix/bot";
 *
 * const pieces = await formatHtmlPieces(`<ul>${"<li><b>To be</b>, or not to be</li>".repeat(1_000)}</ul>`);
 * console.assert(pieces.length > 1 && pieces.every(({ formatted_body }) => formatted_body?.startsWith("<ul><li>")));
 * ```
 */
export async function formatHtmlPieces(
  html: string,
  options: MentionOptions = {},
): Promise<FormattedMessage[]> {
  checkOptions(options, MENTIONS, "format a message");
  const { users = [], room, links = true } = options;
  const clean = cleanHtml(html);
  const contents: FormattedMessage[] = [];
  for (const piece of splitHtml(clean.html, HTML_BYTES)) {
    for (const content of await fittingHtml(piece, links)) contents.push(content);
  }
  return mentioningOnce(contents, { users, room, linked: links ? clean.users : [] });
}

/** Has each user be mentioned by the first content alone that does so. */
function mentioningOnce(
  contents: readonly FormattedMessage[],
  { users, room, linked }: {
    readonly users: readonly UserID[];
    readonly room: boolean | undefined;
    /** Whom the whole text mentions; undefined: whom its pieces do. */
    readonly linked: readonly UserID[] | undefined;
  },
): FormattedMessage[] {
  const mayBe = linked && new Set<UserID>(linked);
  const mentioned = new Set<UserID>();
  return contents.map((content, index) => {
    const own = (content["m.mentions"].user_ids ?? []).filter((user) => mayBe?.has(user) ?? true);
    const ids = [...new Set([...(index === 0 ? users : []), ...own])].filter((user) => !mentioned.has(user));
    ids.forEach((user) => mentioned.add(user));
    const mentions = { ...(ids.length > 0 && { user_ids: ids }), ...(index === 0 && room && { room }) };
    return { ...content, "m.mentions": mentions };
  });
}

/** The contents of a piece of HTML: one, or more if it takes too much. */
async function fittingHtml(piece: string, links: boolean): Promise<FormattedMessage[]> {
  const content = await formatHtml(piece, { links });
  if (byteLength(JSON.stringify(content)) <= MAX_TEXT_BYTES) return [content];
  const limit = Math.ceil(byteLength(piece) * FIRST_PART);
  if (limit < MIN_SPLIT_HTML) return [{ body: content.body, "m.mentions": content["m.mentions"] }];
  const contents: FormattedMessage[] = [];
  for (const part of splitHtml(piece, limit)) {
    for (const content of await fittingHtml(part, links)) contents.push(content);
  }
  return contents;
}

/** The contents of a piece: one, or more if it takes too much. */
async function fitting(piece: string, links: boolean): Promise<FormattedMessage[]> {
  const content = await formatMarkdown(piece, { links });
  if (byteLength(JSON.stringify(content)) <= MAX_TEXT_BYTES) return [content];
  const length = byteLength(piece);
  if (length < MIN_SPLIT) return [{ body: content.body, "m.mentions": content["m.mentions"] }];
  const contents: FormattedMessage[] = [];
  for (const part of splitMessage(piece, Math.ceil(length * FIRST_PART))) {
    for (const content of await fitting(part, links)) contents.push(content);
  }
  return contents;
}

/** An element that is open, and those around it. */
interface Open {
  readonly tag: string;
  /** Its beginning; empty: it is left out, since all beginnings together are too long to be repeated. */
  readonly opening: string;
  readonly parent: Open | undefined;
  /** Of a list with numbers: the number of its first item, and how many have begun. */
  readonly first: number;
  readonly items: number;
  /** How many bytes all beginnings have, and all ends. */
  readonly openBytes: number;
  readonly closeBytes: number;
}

/** A place where a piece may end: behind a token, with what is open there. */
interface Cut {
  readonly at: number;
  readonly open: Open | undefined;
}

/** What clean HTML consists of: tags, entities, line breaks, spaces, and words, long ones in parts. */
const TOKEN = /<[^<>]*>|&[a-z]+;|\n|[^\S\n]+|[^<&\s]{1,64}/gu;
const BLOCK = /^<\/(?:p|li|ul|ol|h[1-6]|blockquote|pre|div|table|thead|tbody|tr|details|summary)>$|^<hr>$/;
const LINE = /^(?:\n|<br>)$/;

/**
 * Splits HTML where it may be split best: between blocks, else between lines, else between words, and within
 * a word only if there is no other way. Elements that are open at the end of a piece are closed, and opened
 * again in the next; lists go on with their numbers. The time is linear in the length of the HTML.
 *
 * @param html HTML as {@link cleanHtml} writes it.
 * @param limit How many bytes of UTF-8 a piece may have, at least 256.
 * @returns The pieces, in order; one if it is short enough, and none without text or pictures.
 */
export function splitHtml(html: string, limit: number): string[] {
  if (byteLength(html) <= limit) return isShown(html) ? [html] : [];
  const tokens = html.match(TOKEN) ?? [];
  const pieces: string[] = [];
  let from: Cut = { at: 0, open: undefined };
  while (from.at < tokens.length) {
    const { piece, end } = nextPiece(tokens, from, limit);
    if (isShown(piece)) pieces.push(piece);
    from = end;
  }
  return pieces;
}

function nextPiece(
  tokens: readonly string[],
  { at: start, open: around }: Cut,
  limit: number,
): { readonly piece: string; readonly end: Cut } {
  const parts: string[] = [reopened(around)];
  const cuts: (Cut | undefined)[] = [];
  let open = around;
  let bytes = byteLength(parts[0] ?? "");
  const least = bytes + (limit - bytes) / 4; // a piece should not be tiny for the sake of its end
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at] ?? "";
    const { text, open: now } = taken(token, open, limit);
    const size = byteLength(text);
    if (bytes + size + (now?.closeBytes ?? 0) > limit && at > start) {
      const end = cuts.find((cut) => cut !== undefined) ?? { at, open };
      const kept = parts.slice(0, 1 + end.at - start);
      return { piece: kept.join("").trim() + closed(end.open), end };
    }
    parts.push(text);
    bytes += size;
    open = now;
    if (bytes >= least) cuts[rankOf(token, open)] = { at: at + 1, open };
  }
  return { piece: parts.join("").trim() + closed(open), end: { at: tokens.length, open: undefined } };
}

/** Ranks the place behind a token as the end of a piece; 0 is best. */
function rankOf(token: string, open: Open | undefined): number {
  if (BLOCK.test(token)) return open === undefined ? 0 : 1;
  if (LINE.test(token)) return 2;
  return token.trim() === "" ? 3 : 4;
}

/** Returns what a token writes, and what is open behind it. */
function taken(
  token: string,
  open: Open | undefined,
  limit: number,
): { readonly text: string; readonly open: Open | undefined } {
  const [, slash, tag = ""] = /^<(\/?)([a-z0-9]+)/.exec(token) ?? [];
  if (slash === undefined) return { text: token, open };
  if (slash === "/") return { text: open?.opening === "" ? "" : token, open: open?.parent };
  if (isVoid(tag)) return { text: byteLength(token) > limit / 2 ? "" : token, open };
  const isItem = tag === "li" && open?.tag === "ol";
  const parent = isItem ? { ...open, items: open.items + 1 } : open;
  const openBytes = (parent?.openBytes ?? 0) + byteLength(token);
  const isLeftOut = openBytes > limit / 4;
  return {
    text: isLeftOut ? "" : token,
    open: {
      tag,
      parent,
      opening: isLeftOut ? "" : token,
      first: Number(/ start="(-?\d+)"/.exec(token)?.[1] ?? 1),
      items: 0,
      openBytes: isLeftOut ? parent?.openBytes ?? 0 : openBytes,
      closeBytes: (parent?.closeBytes ?? 0) + (isLeftOut ? 0 : `</${tag}>`.length),
    },
  };
}

/** The beginnings of all that is open. */
function reopened(open: Open | undefined, child?: Open): string {
  if (open === undefined) return "";
  const { tag, opening, parent, first, items } = open;
  const start = first + items - (child === undefined ? 0 : 1); // an item that goes on keeps its number
  return reopened(parent, open) + (tag === "ol" && opening !== "" ? `<ol start="${start}">` : opening);
}

/** The ends of all that is open. */
function closed(open: Open | undefined): string {
  let ends = "";
  for (let each = open; each !== undefined; each = each.parent) {
    if (each.opening !== "") ends += `</${each.tag}>`;
  }
  return ends;
}

/** Returns whether anything of it can be seen. */
function isShown(html: string): boolean {
  return /<(?:img|hr) ?|data-mx-maths/.test(html) || html.replaceAll(/<[^<>]*>/g, "").trim() !== "";
}

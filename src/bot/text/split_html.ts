/**
 * Long HTML in pieces.
 *
 * @module
 */

import { isVoid } from "./allowed_html.ts";
import { byteLength } from "./split_message.ts";

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
 * Splits HTML where it may be split best: between blocks, else between lines, else between words, and within a
 * word only if there is no other way. Elements that are open at the end of a piece are closed, and opened again
 * in the next; lists go on with their numbers. The time is linear in the length of the HTML.
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

/** How good a place it is to end a piece behind a token; 0 is best. */
function rankOf(token: string, open: Open | undefined): number {
  if (BLOCK.test(token)) return open === undefined ? 0 : 1;
  if (LINE.test(token)) return 2;
  return token.trim() === "" ? 3 : 4;
}

/** What a token writes, and what is open behind it. */
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

/** Whether anything of it can be seen. */
function isShown(html: string): boolean {
  return /<(?:img|hr) ?|data-mx-maths/.test(html) || html.replaceAll(/<[^<>]*>/g, "").trim() !== "";
}

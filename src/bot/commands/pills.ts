/**
 * Pills: links to users and rooms, which stand in a message's plain text by their names alone.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#user-and-room-mentions | User and room mentions}
 * @module
 */

import { parseMatrixLink } from "../../../mod.ts";
import { cleanHtml } from "../text/mod.ts";

/** A pill: the text that shows it, and what it links to. */
interface Pill {
  readonly name: string;
  /** An ID, an alias, or the link of an event. */
  readonly target: string;
}

/** How many pills of a message are looked at. */
const MAX_PILLS = 100;
const LINK = /<a href="(https:\/\/matrix\.to\/#\/[^"]*)">([^<]*(?:<(?!\/?a[ >])[^<]*)*)<\/a>/g;
/** The rest of a link in Markdown, as some clients write it in plain text. */
const MARKDOWN_LINK = /^\]\((?:https:\/\/matrix\.to\/#\/|matrix:)[^\s()]*\)/;
/** What stands for a pill in a marked text: characters that no text means anything by. */
const MARK = /\u{E000}(\d{1,2})\u{E001}/gu;
const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

/** What a {@link PillText} is made of, beside the text. */
interface PillTextOptions {
  /** The text with formatting. Default: there is none, and so no pill. */
  readonly html?: string;
  /** The user that reads it: pills of this one are not marked, but written as the ID. */
  readonly own?: string;
}

/**
 * A text whose pills are words, whatever the names are that show them.
 *
 * It can be taken apart at its spaces; {@linkcode idsIn} and {@linkcode namesIn} then read the parts.
 */
export class PillText {
  /** The text, with a mark for each pill. */
  readonly marked: string;
  readonly #pills: readonly Pill[];

  /**
   * @param text What was said, in plain text.
   * @param options What it says with formatting, and who reads it.
   */
  constructor(text: string, { html, own }: PillTextOptions = {}) {
    const pills: Pill[] = [];
    let marked = "";
    let rest = text;
    for (const { name, target, before } of html === undefined ? [] : linksIn(html)) {
      const start = indexAfter(rest, name, before.split(name).length - 1);
      if (start < 0) continue;
      const after = rest.slice(start + name.length);
      const markdown = rest[start - 1] === "[" ? MARKDOWN_LINK.exec(after)?.[0] : undefined;
      marked += rest.slice(0, markdown === undefined ? start : start - 1);
      rest = after.slice(markdown?.length ?? 0);
      if (target === own) {
        marked += own;
        continue;
      }
      marked += `\u{E000}${pills.length}\u{E001}`;
      pills.push({ name, target });
      if (pills.length === MAX_PILLS) break;
    }
    this.marked = marked + rest;
    this.#pills = pills;
  }

  /** A part of the marked text, with the IDs that its pills link to. */
  idsIn(part: string): string {
    return this.#read(part, ({ target }) => target);
  }

  /** A part of the marked text, with the names that show its pills. */
  namesIn(part: string): string {
    return this.#read(part, ({ name }) => name);
  }

  #read(part: string, write: (pill: Pill) => string): string {
    return part.replaceAll(MARK, (mark, index) => {
      const pill = this.#pills[Number(index)];
      return pill === undefined ? mark : write(pill);
    });
  }
}

/** The links to users and rooms, each with the text between the one before and itself. */
function* linksIn(html: string): Generator<Pill & { readonly before: string }> {
  if (!/matrix\.to\/#\/|matrix:/i.test(html)) return; // the usual case
  const clean = cleanHtml(html).html;
  let end = 0;
  for (const link of clean.matchAll(LINK)) {
    const [whole, href = "", inside = ""] = link;
    const name = textOf(inside);
    const target = targetOf(textOf(href));
    if (name === "" || target === undefined) continue;
    yield { name, target, before: textOf(clean.slice(end, link.index)) };
    end = link.index + whole.length;
  }
}

function targetOf(href: string): string | undefined {
  try {
    const { id, eventId } = parseMatrixLink(href);
    return eventId === undefined ? id : href;
  } catch {
    return undefined;
  }
}

/** The text of clean HTML. */
function textOf(html: string): string {
  return html.replaceAll(/<[^<>]*>/g, "").replaceAll(
    /&(?:amp|lt|gt|quot);/g,
    (entity) => ENTITIES[entity] ?? "",
  );
}

/** Where a name stands in a text for the first time after so many others; -1: nowhere. */
function indexAfter(text: string, name: string, others: number): number {
  let at = text.indexOf(name);
  for (let count = 0; count < others && at >= 0; count++) at = text.indexOf(name, at + name.length);
  return at;
}

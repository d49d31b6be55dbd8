/**
 * Reads HTML from anybody, and writes it anew from the tags and attributes that the specification lists;
 * or writes it as plain text.
 *
 * Nothing of the input reaches the output as it stands: a tokenizer takes it apart, and what is
 * written are tags out of a list, attributes that were checked, and escaped text. So no trick of
 * the input can make the output mean something else. Elements that end out of order are closed in
 * order, and those that lie too deep are left out, but not their text. The time is linear in the
 * length of the input.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommessage-msgtypes | m.room.message msgtypes}
 *
 * Over 300 lines because what is allowed stands beside what reads it.
 *
 * @module
 */

import { Tokenizer } from "htmlparser2";
import { matrixToUrl, parseMatrixLink } from "../../../mod.ts";
import type { UserID } from "../../../types.ts";

/** What {@link cleanHtml} makes of HTML. */
export interface CleanHtml {
  /** The HTML that may be sent or shown. */
  readonly html: string;
  /** The users to whom there are links that are neither in a quote nor in code, in that order. */
  readonly users: readonly UserID[];
}

/** How many users one message can mention by links: more is not meant for any of them. */
const MAX_USERS = 100;

/** In which elements some have to lie directly: what is open in between ends by their beginning. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  caption: ["table"],
  thead: ["table"],
  tbody: ["table"],
  tr: ["table", "thead", "tbody"],
  td: ["tr"],
  th: ["tr"],
};
/** What can't lie in a paragraph, and so ends it. */
const ENDS_PARAGRAPH = new Set(
  "p h1 h2 h3 h4 h5 h6 blockquote ul ol hr div table pre details".split(" "),
);
/** What can't lie directly in another of these, and so ends it. */
const HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
/** Where nobody is mentioned. */
const QUOTES = new Set(["blockquote", "pre", "code"]);

/**
 * Writes text so that it is nothing but text in HTML, also between quotation marks. Control characters, which
 * no HTML may have, are left out.
 *
 * @param text The text, of anybody's.
 * @returns HTML that shows it.
 *
 * @example
 * ```ts
 * import { Composer, escapeHtml } from "@greenroom/matrix/bot";
 *
 * const plugin = new Composer();
 * plugin.command("bold <words...>", (c) => c.reply(`<b>${escapeHtml(c.args.words)}</b>`, { format: "html" }));
 * ```
 */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"]|(?![\t\n\r])\p{Cc}/gu, (one) => ESCAPES[one] ?? "");
}
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * Cleans HTML.
 *
 * @param html HTML of anybody's, as long as it may be.
 */
export function cleanHtml(html: string): CleanHtml {
  const out: string[] = [];
  const users = new Set<UserID>();
  const open: string[] = [];
  let hidden: string | undefined;
  let hiddenDepth = 0;
  let quotes = 0;

  let name = "";
  let attributes: [name: string, value: string][] = [];
  let attribute = "";
  let value = "";

  const close = () => {
    const tag = open.pop() ?? "";
    if (QUOTES.has(tag)) quotes--;
    out.push(`</${tag}>`);
  };
  /** Closes the innermost of some elements, unless one of others is further in. */
  const end = (ends: (tag: string) => boolean, until?: (tag: string) => boolean) => {
    for (let at = open.length - 1; at >= 0; at--) {
      const tag = open[at] ?? "";
      if (until?.(tag)) return;
      if (!ends(tag)) continue;
      while (open.length > at) close();
      return;
    }
  };
  /** Ends what is open within the innermost of some parts of a table; false if there is none. */
  const endWithin = (parents: readonly string[]): boolean => {
    const table = open.lastIndexOf("table");
    const at = open.findLastIndex((one) => parents.includes(one));
    if (table < 0 || at < table) return false;
    while (open.length > at + 1) close();
    return true;
  };
  const begin = (ends: "later" | "at once") => {
    const isEmpty = ends === "at once";
    if (hidden !== undefined) {
      if (name === hidden && !isEmpty) hiddenDepth++;
      return;
    }
    if (isHidden(name)) {
      if (!isEmpty) [hidden, hiddenDepth] = [name, 1];
      return;
    }
    const tag = allowedTag(name);
    if (tag === undefined || (isEmpty && !isVoid(tag))) return;
    if (ENDS_PARAGRAPH.has(tag)) end((one) => one === "p", (one) => one !== "p" && ENDS_PARAGRAPH.has(one));
    if (HEADINGS.has(tag) && HEADINGS.has(open.at(-1) ?? "")) close();
    if (tag === "a") end((one) => one === "a"); // as every parser does: links do not lie in links
    if (tag === "li") end((one) => one === "li", (one) => one === "ul" || one === "ol");
    const parents = PARENTS[tag];
    if (parents !== undefined && !endWithin(parents)) return;
    const given = new Map<string, string>();
    for (const [attribute, value] of attributes) {
      const [name, allowed] = allowedAttribute(tag, attribute, value) ?? [];
      if (name !== undefined && allowed !== undefined && !given.has(name)) given.set(name, allowed);
    }
    if (tag === "img" && !given.has("src")) {
      out.push(escapeHtml(given.get("alt") ?? ""));
      return;
    }
    if (!isVoid(tag) && open.length >= MAX_DEPTH) return;
    if (isVoid(tag) && open.length >= MAX_DEPTH && tag !== "br") return;
    out.push(`<${tag}${[...given].map(([name, value]) => ` ${name}="${escapeHtml(value)}"`).join("")}>`);
    if (isVoid(tag)) return;
    open.push(tag);
    if (QUOTES.has(tag)) quotes++;
    if (tag === "a" && quotes === 0 && users.size < MAX_USERS) mentionIn(given.get("href"), users);
  };
  const text = (said: string) => {
    if (hidden === undefined) out.push(escapeHtml(said));
  };

  const tokenizer = new Tokenizer({ decodeEntities: true }, {
    onopentagname: (start, end) => {
      name = html.slice(start, end).toLowerCase();
      attributes = [];
    },
    onattribname: (start, end) => {
      attribute = html.slice(start, Math.min(end, start + 64)).toLowerCase();
      value = "";
    },
    onattribdata: (start, end) => {
      value += html.slice(start, end);
    },
    onattribentity: (code) => {
      value += String.fromCodePoint(code);
    },
    onattribend: () => {
      attributes.push([attribute, value]);
    },
    onopentagend: () => begin("later"),
    onselfclosingtag: () => begin("at once"),
    onclosetag: (start, stop) => {
      const closed = html.slice(start, stop).toLowerCase();
      if (hidden !== undefined) {
        if (closed === hidden && --hiddenDepth === 0) hidden = undefined;
        return;
      }
      const tag = allowedTag(closed);
      if (tag === "br") out.push("<br>");
      else if (tag !== undefined) end((one) => one === tag);
    },
    ontext: (start, end) => text(html.slice(start, end)),
    ontextentity: (code) => text(String.fromCodePoint(code)),
    oncdata: () => {},
    oncomment: () => {},
    ondeclaration: () => {},
    onprocessinginstruction: () => {},
    onend: () => {},
  });
  tokenizer.write(html);
  tokenizer.end();
  while (open.length > 0) close();
  return { html: out.join(""), users: [...users] };
}

/** Notes the user whom a link leads to, if it leads to one. */
function mentionIn(href: string | undefined, users: Set<UserID>): void {
  if (href === undefined || !/^https?:\/\/(?:www\.)?matrix\.to\//i.test(href)) return;
  try {
    const { id } = parseMatrixLink(href);
    if (id.startsWith("@")) users.add(id as UserID);
  } catch {
    // A link that leads nowhere mentions nobody.
  }
}

/**
 * Keeps of HTML what the specification allows in messages: its tags, attributes and schemes of
 * links, at most 100 elements deep.
 *
 * Of other tags only the content stays; scripts, styles and `mx-reply` are left out with all that
 * is in them. A link with `matrix:` becomes one of matrix.to, an image that is not on a homeserver
 * the text that stands for it. The result is always well formed, and means the same to every
 * parser.
 *
 * @param html HTML from anybody. The time is linear in its length.
 * @returns The HTML that is left.
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommessage-msgtypes | m.room.message msgtypes}
 * @example
 * ```ts
 * import { sanitizeHtml } from "@greenroom/matrix/bot";
 *
 * console.assert(sanitizeHtml('<b onclick="steal()">Hi<script>steal()</script>') === "<b>Hi</b>");
 * ```
 */
export function sanitizeHtml(html: string): string {
  return cleanHtml(html).html;
}

/** What a link to a user or a room is known by: its text says more than the link does. */
const PILL = /<a href="https:\/\/matrix\.to\/#\/[^"]*">/g;

/**
 * Writes HTML as plain text: lists with their marks, tables with a bar in front of
 * each cell, links with where they lead, those of matrix.to by their text alone, and images by what
 * stands for them. What `mx-reply` quotes is left out.
 *
 * What does it is loaded at the first call.
 *
 * @param html HTML from anybody.
 * @returns The text.
 * @example
 * ```ts
 * import { htmlToText } from "@greenroom/matrix/bot";
 *
 * console.assert(await htmlToText("<p>To <b>be</b>,</p><ul><li>or not</li></ul>") === "To be,\n\n- or not");
 * ```
 */
export async function htmlToText(html: string): Promise<string> {
  const { textOfHtml } = await import("../../base/html_text.ts");
  return textOfHtml(cleanHtml(html).html.replaceAll(PILL, "<a>"));
}

/** How many elements may lie in each other. */
const MAX_DEPTH = 100;

/** Turns the value of an attribute into one that may be sent; undefined if there is none. */
type Attribute = (value: string) => string | undefined;

const COLOR = /^#[0-9a-f]{6}$/i;
const INTEGER = /^-?\d{1,9}$/;
const PIXELS = /^\d{1,5}$/;
const LANGUAGE = /(?:^|\s)(language-[^\s]{1,64})/;
const MXC = /^mxc:\/\/[^/\s"'<>]{1,255}\/[0-9A-Za-z_-]{1,255}$/;
const HREF = /^(?:https?|ftp|mailto|magnet):/i;
/** A value for a rare long URL; a longer one is no link that somebody wrote. */
const MAX_URL = 8_192;

const any: Attribute = (value) => value;
const matching = (pattern: RegExp): Attribute => (value) =>
  pattern.test(value.trim()) ? value.trim() : undefined;

/** A link as it may be sent; one with `matrix:`, which is not on the list, by way of matrix.to. */
function href(value: string): string | undefined {
  const url = value.trim();
  if (url.length > MAX_URL) return undefined;
  if (HREF.test(url)) return url;
  if (!/^matrix:/i.test(url)) return undefined;
  try {
    return matrixToUrl(parseMatrixLink(url));
  } catch {
    return undefined;
  }
}

const NONE: Readonly<Record<string, Attribute>> = {};

/** The tags that may be sent, with their attributes. */
const TAGS: Readonly<Record<string, Readonly<Record<string, Attribute>>>> = {
  ...Object.fromEntries(
    ("del h1 h2 h3 h4 h5 h6 blockquote p ul sup sub li b i u strong em s hr br table thead tbody tr th td " +
      "caption pre details summary").split(" ").map((tag) => [tag, NONE]),
  ),
  a: { href },
  code: { class: (value) => LANGUAGE.exec(value)?.[1] },
  div: { "data-mx-maths": any },
  img: {
    src: matching(MXC),
    alt: any,
    title: any,
    width: matching(PIXELS),
    height: matching(PIXELS),
  },
  ol: { start: matching(INTEGER) },
  span: {
    "data-mx-color": matching(COLOR),
    "data-mx-bg-color": matching(COLOR),
    "data-mx-spoiler": any,
    "data-mx-maths": any,
  },
};

/** Elements without an end. */
const VOID = new Set(["br", "hr", "img"]);

/** Tags that earlier versions of the specification had, and what they are called now. */
const RENAMED: Readonly<Record<string, string>> = { strike: "s", font: "span" };
const RENAMED_ATTRIBUTES: Readonly<Record<string, string>> = { color: "data-mx-color" };

/** Elements of which nothing is shown: what lies in them is no text of the message. */
const HIDDEN = new Set(
  ("script style title head template iframe object embed applet svg math noscript noembed noframes xmp " +
    "plaintext textarea select audio video canvas mx-reply").split(" "),
);

/** The name under which a tag may be sent; undefined if it may not. */
export function allowedTag(name: string): string | undefined {
  const tag = Object.hasOwn(RENAMED, name) ? RENAMED[name] ?? name : name;
  return Object.hasOwn(TAGS, tag) ? tag : undefined;
}

/** Returns whether what lies in an element is left out with it. */
function isHidden(name: string): boolean {
  return HIDDEN.has(name);
}

/** Returns whether an element has no end. */
export function isVoid(tag: string): boolean {
  return VOID.has(tag);
}

/**
 * An attribute as it may be sent.
 *
 * @param tag A tag that {@link allowedTag} returned.
 * @param name The attribute, in lower case.
 * @param value What it says.
 * @returns Its name and its value; undefined if it may not be sent.
 */
function allowedAttribute(
  tag: string,
  name: string,
  value: string,
): readonly [name: string, value: string] | undefined {
  const attributes = TAGS[tag] ?? NONE;
  const now = tag === "span" && Object.hasOwn(RENAMED_ATTRIBUTES, name)
    ? RENAMED_ATTRIBUTES[name] ?? name
    : name;
  const allowed = Object.hasOwn(attributes, now) ? attributes[now]?.(value) : undefined;
  return allowed === undefined ? undefined : [now, allowed];
}

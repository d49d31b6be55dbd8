/**
 * What of HTML a message may have: the tags and attributes that the specification lists.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes | m.room.message msgtypes}
 * @module
 */

import { matrixToUrl, parseMatrixLink } from "../../../mod.ts";

/** How many elements may lie in each other. */
export const MAX_DEPTH = 100;

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
export function isHidden(name: string): boolean {
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
export function allowedAttribute(
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

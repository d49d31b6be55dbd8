/** What is in a feed, and how it is said in a room. */

import { formatHtml, type FormattedMessage, htmlToText, sanitizeHtml } from "@greenroom/matrix/bot";
// Reads RSS, Atom and RDF as they are found, with one result for all.
import { parseFeed } from "npm:@rowanmanning/feed-parser@^2.1.5";
import { GetError } from "./get.ts";

/** One thing in a feed. */
export interface Item {
  /** The same for the same thing, however long its own ID is. */
  id: string;
  title: string;
  /** Where it is; undefined: nowhere, or behind no http. */
  link: string | undefined;
  /** What is said of it: HTML of anybody's. */
  html: string;
}

/** A feed; the newest comes first. */
export interface ReadFeed {
  title: string;
  items: Item[];
}

const MAX_ITEMS = 100;
const MAX_TITLE = 200;
const MAX_LINK = 2_000;
/** How much HTML is looked at, and how much is said as it is. */
const MAX_HTML = 50_000;
const MAX_SAID = 2_000;
const MAX_EXCERPT = 500;

/**
 * Reads RSS or Atom.
 *
 * @param text The feed.
 * @param base Where it was: what its links are relative to.
 * @throws {GetError} If it is neither.
 */
export async function readFeed(text: string, base: string): Promise<ReadFeed> {
  const parsed = parse(text);
  const items = await Promise.all(
    parsed.items.slice(0, MAX_ITEMS).map(async ({ id, title, url, description, content, published }) => {
      const html = (description ?? content ?? "").slice(0, MAX_HTML);
      const name = await plain(title ?? "");
      return {
        id: await hash(id ?? url ?? `${title} ${html}`),
        title: name || "(without a title)",
        link: linkOf(url, base),
        html,
        published: published?.getTime(),
      };
    }),
  );
  const isDated = items.every(({ published }) => published !== undefined);
  if (isDated) items.sort((one, other) => (other.published ?? 0) - (one.published ?? 0));
  return {
    title: await plain(parsed.title ?? "") || new URL(base).hostname,
    items: items.map(({ published: _, ...item }) => item),
  };
}

/** Says what is new in a feed. It notifies nobody, whatever it links to. */
export async function messageOf(feed: string, { title, link, html }: Item): Promise<FormattedMessage> {
  const name = link === undefined
    ? escapeHtml(title)
    : `<a href="${escapeHtml(link)}">${escapeHtml(title)}</a>`;
  const said = sanitizeHtml(html).trim();
  const text = said.length <= MAX_SAID ? said : escapeHtml(cut(await htmlToText(said), MAX_EXCERPT));
  return await formatHtml(
    `<strong>${escapeHtml(feed)}</strong>: ${name}${text && `<blockquote>${text}</blockquote>`}`,
    { links: false },
  );
}

/** Text as HTML. */
export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replaceAll(/[&<>"]/g, (each) => names[each] ?? each);
}

function parse(text: string): ReturnType<typeof parseFeed> {
  try {
    return parseFeed(text);
  } catch (cause) {
    throw new GetError("it is neither RSS nor Atom", { cause });
  }
}

function linkOf(url: string | null, base: string): string | undefined {
  const link = URL.parse(url ?? "", base);
  if (url === null || link === null || link.href.length > MAX_LINK) return undefined;
  return ["http:", "https:"].includes(link.protocol) ? link.href : undefined;
}

/** A title, which may be written in HTML. */
async function plain(text: string): Promise<string> {
  const short = text.slice(0, 10 * MAX_TITLE);
  const read = await htmlToText(short) || short; // what is all markup may be about markup
  return cut(read.replaceAll(/\s+/g, " ").trim(), MAX_TITLE);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

/** A short name for a text. */
export async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest, 0, 12).toBase64();
}

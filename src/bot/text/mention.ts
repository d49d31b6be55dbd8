/**
 * Writing the names of users and rooms so that clients show them as such, and nobody else's text
 * as anything but text.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#user-and-room-mentions | User and room mentions}
 * @module
 */

import { cleanHtml, escapeHtml } from "./html.ts";
import { isObject, memberOf, readText, textOf } from "./read_text.ts";
import { type MatrixLink, matrixToUrl, parseMatrixLink } from "../../../mod.ts";
import type { EventID, RoomAlias, RoomID, UserID } from "../../../types.ts";

/** What means something wherever it stands in Markdown, and what only where a line begins. */
const ANYWHERE = /[\\`*_[\]<>|~&]/g;
const LINE_START = /^([ \t]*)(?:([#+=-])|(\d{1,9})([.)]))?/gm;

/** How long a name may be: no profile has a longer one that is meant to be read. */
const MAX_NAME = 255;

/**
 * Escapes text for use in Markdown, so that it says just what it said: nothing in it is formatted,
 * and nobody is mentioned by it.
 *
 * @param text Anybody's text.
 * @example
 * ```ts
 * import { escapeMarkdown, formatMarkdown } from "@greenroom/matrix/bot";
 *
 * const said = "*[Bob](https://matrix.to/#/@bob:example.org)*";
 * const { formatted_body, "m.mentions": mentions } = await formatMarkdown(`**You said:** ${escapeMarkdown(said)}`);
 * console.assert(formatted_body === `<strong>You said:</strong> ${said}` && mentions.user_ids === undefined);
 * ```
 */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(ANYWHERE, "\\$&").replaceAll(
    LINE_START,
    (_, space: string, mark = "", number = "", dot = "") => {
      const sign = `${mark}${dot}`;
      return `${space.replaceAll("\t", " ").slice(0, 3)}${number}${sign === "" ? "" : `\\${sign}`}`;
    },
  );
}

/** A name on one line, and not too long. */
function nameOf(name: string | undefined, id: string): string {
  const line = (name ?? "").replaceAll(/\s+/g, " ").trim();
  return [...(line === "" ? id : line).slice(0, MAX_NAME)].join("").toWellFormed();
}

/**
 * Writes a link to a user in Markdown, which clients show as a pill and which mentions the user.
 *
 * @param userId The user.
 * @param name What to call the user; anybody's text is safe. Default: the user ID.
 * @throws {ValueError} If it is no user ID.
 * @example
 * ```ts
 * import { mention } from "@greenroom/matrix/bot";
 *
 * console.assert(mention("@alice:example.org", "Alice") === "[Alice](https://matrix.to/#/%40alice%3Aexample.org)");
 * ```
 */
export function mention(userId: UserID, name?: string): string {
  return linkTo({ id: userId }, name);
}

/**
 * Writes a link to a user in HTML, which clients show as a pill and which mentions the user.
 *
 * @param userId The user.
 * @param name What to call the user; anybody's text is safe. Default: the user ID.
 * @throws {ValueError} If it is no user ID.
 */
export function mentionHtml(userId: UserID, name?: string): string {
  return `<a href="${escapeHtml(matrixToUrl({ id: userId }))}">${escapeHtml(nameOf(name, userId))}</a>`;
}

/** What {@link linkTo} leads to: an ID or alias alone, or with an event and servers. */
export type LinkTarget = UserID | RoomID | RoomAlias | MatrixLink;

/**
 * Writes a link to a user, a room or an event in Markdown.
 *
 * @param target The user, room, alias or link that it leads to. A room's ID needs `via` to be of use to
 *   those who are not in it.
 * @param text What it says; anybody's text is safe. Default: the ID.
 * @throws {ValueError} If it is no ID, or the parts do not go together.
 * @example
 * ```ts
 * import { linkTo } from "@greenroom/matrix/bot";
 *
 * console.assert(linkTo("#stage:example.org", "the stage") === "[the stage](https://matrix.to/#/%23stage%3Aexample.org)");
 * ```
 */
export function linkTo(target: LinkTarget, text?: string): string {
  const link: MatrixLink = typeof target === "string" ? { id: target } : target;
  const url = matrixToUrl(link).replaceAll("(", "%28").replaceAll(")", "%29");
  return `[${escapeMarkdown(nameOf(text, link.eventId ?? link.id))}](${url})`;
}

/** A URL of an event: for {@link linkTo} without text around it. */
export function eventUrl(roomId: RoomID, eventId: EventID, via: readonly string[] = []): string {
  return matrixToUrl({ id: roomId, eventId, via });
}

const LINK = /(?:matrix:(?:u|r|roomid|user|room)\/|https?:\/\/(?:www\.)?matrix\.to\/#\/)[^\s<>"'`]{1,2000}/gi;
const MAX_LINKS = 100;

/**
 * Finds links of Matrix in a text: `matrix:` URIs and URLs of matrix.to.
 *
 * @param text Anybody's text.
 * @returns What the links say, in their order; at most 100, and none that leads nowhere.
 * @example
 * ```ts
 * import { findMatrixLinks } from "@greenroom/matrix/bot";
 *
 * const [link] = findMatrixLinks("See https://matrix.to/#/%23stage%3Aexample.org.");
 * console.assert(link?.id === "#stage:example.org");
 * ```
 */
export function findMatrixLinks(text: string): MatrixLink[] {
  const found: MatrixLink[] = [];
  for (const [url] of text.matchAll(LINK)) {
    if (found.length >= MAX_LINKS) break;
    try {
      found.push(parseMatrixLink(url.replace(/[.,:;!?)\]*_]{1,8}$/, "")));
    } catch {
      // It leads nowhere.
    }
  }
  return found;
}

/**
 * Returns whether a message mentions a user.
 *
 * If it has `m.mentions`, only that counts. Clients that know no `m.mentions` mention a user by a
 * link, or by a name at the beginning of a line that is no quote: the display name, the user ID or
 * its local part, with a colon, a comma or a space behind it.
 *
 * @param content The content of the message, as it was received.
 * @param userId The user.
 * @param displayName What the user is called in the room. Default: unknown, and not looked for.
 * @example
 * ```ts
 * import { mentionsUser } from "@greenroom/matrix/bot";
 *
 * const bot = "@bot:example.org";
 * console.assert(mentionsUser({ body: "anything", "m.mentions": { user_ids: [bot] } }, bot));
 * console.assert(mentionsUser({ body: "Bot: to be?" }, bot));
 * console.assert(!mentionsUser({ body: "Bot: to be?", "m.mentions": {} }, bot));
 * ```
 */
export function mentionsUser(content: unknown, userId: UserID, displayName?: string): boolean {
  const mentions = memberOf(content, "m.mentions");
  if (mentions !== undefined) {
    const users = memberOf(mentions, "user_ids");
    return Array.isArray(users) && users.includes(userId);
  }
  const formatted = textOf(memberOf(content, "formatted_body"));
  if (formatted !== undefined && cleanHtml(formatted).users.includes(userId)) return true;
  const name = withoutName(readText(content).text, userId, displayName);
  return name !== undefined;
}

/** Returns whether a message mentions everyone in its room: only by saying so in `m.mentions`. */
export function mentionsRoom(content: unknown): boolean {
  const mentions = memberOf(content, "m.mentions");
  return isObject(mentions) && memberOf(mentions, "room") === true;
}

/** What may stand between a name and what is said to it. */
const AFTER_NAME = /^(?:\s*[:,;!]+\s*|\s+|$)/;

/**
 * Removes a user's name from the beginning of a text that speaks to the user.
 *
 * @param text What was said, in plain text.
 * @param userId The user.
 * @param displayName What the user is called in the room. Default: unknown, and not looked for.
 * @returns What is said to the user; undefined if the text does not begin with the name.
 * @example
 * ```ts
 * import { withoutName } from "@greenroom/matrix/bot";
 *
 * console.assert(withoutName("Stage bot, ping", "@bot:example.org", "Stage Bot") === "ping");
 * console.assert(withoutName("ping", "@bot:example.org", "Stage Bot") === undefined);
 * ```
 */
export function withoutName(text: string, userId: UserID, displayName?: string): string | undefined {
  const said = text.trimStart();
  const localpart = userId.slice(1, userId.indexOf(":"));
  const names = [userId, displayName?.trim() ?? "", localpart]; // of names that begin alike the longest
  for (const name of names.flatMap((name) => name === "" ? [] : [name, `@${name}`])) {
    const start = said.slice(0, name.length);
    if (start.toLowerCase() !== name.toLowerCase()) continue;
    const behind = said.slice(name.length);
    const separator = AFTER_NAME.exec(behind);
    if (separator !== null) return behind.slice(separator[0].length);
  }
  return undefined;
}

/**
 * Whether a message that was received is meant for somebody.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#user-and-room-mentions | User and room mentions}
 * @module
 */

import type { UserID } from "../../../types.ts";
import { cleanHtml } from "./clean_html.ts";
import { isObject, memberOf, textOf } from "./json.ts";
import { readText } from "./read_text.ts";

/**
 * Whether a message mentions a user.
 *
 * What its `m.mentions` says counts, and nothing else. Clients that know no `m.mentions` mention a
 * user by a link, or by a name at the beginning of a line that is no quote: the display name, the
 * user ID or its local part, with a colon, a comma or a space behind it.
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

/** Whether a message mentions everyone in its room: only by saying so in `m.mentions`. */
export function mentionsRoom(content: unknown): boolean {
  const mentions = memberOf(content, "m.mentions");
  return isObject(mentions) && memberOf(mentions, "room") === true;
}

/** What may stand between a name and what is said to it. */
const AFTER_NAME = /^(?:\s*[:,;!]+\s*|\s+|$)/;

/**
 * Takes the name away by which a text speaks to a user.
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

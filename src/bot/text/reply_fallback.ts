/**
 * What clients of old put in front of a reply.
 *
 * @module
 */

const FIRST_LINE = /^> (?:\* )?<@[^>\n]{1,255}>/;

/**
 * Takes the quote away that clients put in front of a reply up to version 1.12 of the
 * specification: lines that begin with `>`, the first one with the user ID of who is quoted. Any
 * other text, and a quote that the user wrote, stays as it is.
 *
 * @param body The `body` of a message that is a reply.
 * @returns What the user said.
 * @example
 * ```ts
 * import { stripReplyFallback } from "@greenroom/matrix/bot";
 *
 * console.assert(stripReplyFallback("> <@bob:example.org> To be?\n\nOr not.") === "Or not.");
 * ```
 */
export function stripReplyFallback(body: string): string {
  if (!FIRST_LINE.test(body)) return body;
  let at = 0;
  while (body.startsWith(">", at)) {
    const end = body.indexOf("\n", at);
    if (end < 0) return "";
    at = end + 1;
  }
  return body.slice(at).replace(/^\r?\n/, "");
}

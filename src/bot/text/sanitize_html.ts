/**
 * HTML that may be sent, or shown.
 *
 * @module
 */

import { cleanHtml } from "./clean_html.ts";

/**
 * Leaves of HTML what messages may have, by the specification: its tags, attributes and schemes of
 * links, at most 100 elements deep.
 *
 * Other tags are left out, but not what is in them; of scripts, styles and the like, and of
 * `mx-reply`, all is. A link with `matrix:` becomes one of matrix.to, an image that is not on a
 * homeserver the text that stands for it. The result is well formed whatever was given, and means
 * the same to every parser.
 *
 * @param html HTML of anybody's. The time is linear in its length.
 * @returns The HTML that is left.
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes | m.room.message msgtypes}
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

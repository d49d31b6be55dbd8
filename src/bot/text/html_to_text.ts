/**
 * HTML as plain text.
 *
 * @module
 */

import { MAX_DEPTH } from "./allowed_html.ts";
import { cleanHtml } from "./clean_html.ts";

/** What is looked at of an element. */
interface Element {
  readonly attribs?: { readonly alt?: string };
  readonly children?: unknown;
}

/** Goes through elements. */
type Walk = (elements: unknown, builder: TextBuilder) => void;

/** What is used of the library's builder; the library comes without types. */
interface TextBuilder {
  addInline(text: string): void;
}

/** What a link to a user or a room is known by: its text says more than the link does. */
const PILL = /<a href="https:\/\/matrix\.to\/#\/[^"]*">/g;

/**
 * Writes HTML as plain text: lists with their marks, tables with a bar in front of
 * each cell, links with where they lead, those of matrix.to by their text alone, and images by what
 * stands for them. What `mx-reply` quotes is left out.
 *
 * The library that does it is loaded at the first call.
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
  const { convert } = await import("html-to-text");
  return convert(cleanHtml(html).html.replaceAll(PILL, "<a>"), {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH + 1 },
    selectors: [
      { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["(", ")"] } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      { selector: "img", format: "alternative" },
      { selector: "ul", options: { itemPrefix: "- " } },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
    ],
    formatters: {
      alternative: (image: Element, _walk: Walk, builder: TextBuilder) =>
        builder.addInline(image.attribs?.alt ?? ""),
      // The library's tables with columns take time and room that grow faster than the table.
      cell: (cell: Element, walk: Walk, builder: TextBuilder) => {
        builder.addInline("| ");
        walk(cell.children, builder);
        builder.addInline(" ");
      },
    },
  });
}

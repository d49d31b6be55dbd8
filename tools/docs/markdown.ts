/**
 * What checks of documentation want to know of a page: its headings, its links and its running text.
 *
 * @module
 */

import MarkdownIt from "markdown-it";

/** A page, taken apart. */
export interface Page {
  /** The anchors of its headings, as GitHub makes them, and those that it sets itself. */
  readonly anchors: ReadonlySet<string>;
  /** Where its links lead. */
  readonly links: readonly string[];
  /** Its running text, paragraph by paragraph; a piece of code in it is one word, `code`. */
  readonly paragraphs: readonly Paragraph[];
}

/** Text of a paragraph, an item of a list, a heading or a cell of a table. */
export interface Paragraph {
  readonly text: string;
  /** The line it begins in, from 1. */
  readonly line: number;
}

const parser = new MarkdownIt({ html: true });

/** Takes a page apart. */
export function readPage(markdown: string): Page {
  const anchors = new Set<string>();
  const links: string[] = [];
  const paragraphs: Paragraph[] = [];
  let line = 1;
  let isHeading = false;
  for (const token of parser.parse(markdown, {})) {
    line = token.map?.[0] === undefined ? line : token.map[0] + 1;
    if (token.type === "heading_open") isHeading = true;
    if (token.type === "heading_close") isHeading = false;
    if (token.type !== "inline") continue;
    const parts = token.children ?? [];
    links.push(
      ...parts.flatMap(({ attrs }) =>
        (attrs ?? []).flatMap(([name, value]) => name === "href" || name === "src" ? [String(value)] : [])
      ),
    );
    for (const { type, content } of parts) {
      const id = type === "html_inline" ? /\bid="([^"]+)"/.exec(content)?.[1] : undefined;
      if (id !== undefined) anchors.add(id);
    }
    const raw = parts.map(({ type, content }) => type === "softbreak" ? " " : content).join("");
    if (isHeading) anchors.add(freeAnchor(anchorOf(raw), anchors));
    const text = parts.map(({ type, content }) => {
      if (type === "code_inline") return "code";
      return type === "text" ? content : type === "softbreak" ? " " : "";
    }).join("");
    paragraphs.push({ text, line });
  }
  return { anchors, links, paragraphs };
}

function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
}

function freeAnchor(anchor: string, taken: ReadonlySet<string>): string {
  if (!taken.has(anchor)) return anchor;
  for (let number = 1;; number++) {
    if (!taken.has(`${anchor}-${number}`)) return `${anchor}-${number}`;
  }
}

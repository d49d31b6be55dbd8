/**
 * The parser of Markdown, set up for messages: GitHub's tables and strikethrough, `||spoilers||`,
 * line breaks where there are some, and HTML only as far as messages may have it.
 *
 * @module
 */

import type { Delimiter, MarkdownIt, RendererRule, StateInline } from "markdown-it";
import { allowedTag } from "./allowed_html.ts";
import { escapeHtml } from "./html.ts";

/** A spoiler may begin and end within a word. */
const CAN_SPLIT_WORD = true;
const BAR = "|".charCodeAt(0);
/** How many blocks or spans may lie in each other. */
const MAX_NESTING = 50;

let loaded: Promise<MarkdownIt> | undefined;

/** The parser, which is loaded at the first call. */
export function markdownParser(): Promise<MarkdownIt> {
  return loaded ??= import("markdown-it").then(({ default: Parser }) => {
    const parser = new Parser({ html: true, breaks: true, linkify: false, maxNesting: MAX_NESTING });
    parser.inline.ruler.at("text", plainText);
    parser.inline.ruler.before("strikethrough", "spoiler", spoilerMarks);
    parser.inline.ruler2.after("strikethrough", "spoiler", spoilers);
    Object.assign(parser.renderer.rules, RULES);
    return parser;
  });
}

/** What may begin something that is no plain text; the parser's own list lacks the bar. */
const SPECIAL = /[\n!#$%&*+\-:<=>@[\\\]^_`{|}~]/g;

function plainText(state: StateInline, silent: boolean): boolean {
  SPECIAL.lastIndex = state.pos;
  const end = SPECIAL.exec(state.src)?.index ?? state.posMax;
  if (end === state.pos) return false;
  const until = Math.min(end, state.posMax);
  if (!silent) state.pending += state.src.slice(state.pos, until);
  state.pos = until;
  return true;
}

/** Reads a run of bars: two by two they are what spoilers may begin and end with. */
function spoilerMarks(state: StateInline, silent: boolean): boolean {
  if (silent || state.src.charCodeAt(state.pos) !== BAR) return false;
  const { length, can_open: open, can_close: close } = state.scanDelims(state.pos, CAN_SPLIT_WORD);
  if (length < 2) return false;
  if (length % 2 === 1) state.push("text", "", 0).content = "|";
  for (let pairs = Math.floor(length / 2); pairs > 0; pairs--) {
    state.push("text", "", 0).content = "||";
    state.delimiters.push({
      marker: BAR,
      length: 0, // or the rule of three of emphasis would apply
      token: state.tokens.length - 1,
      end: -1,
      open,
      close,
    });
  }
  state.pos += length;
  return true;
}

/** Makes spoilers of the bars that belong together. */
function spoilers(state: StateInline): boolean {
  const mark = (delimiters: readonly Delimiter[]) => {
    for (const { marker, end, token } of delimiters) {
      const last = marker === BAR ? delimiters[end] : undefined;
      const [begins, ends] = [state.tokens[token], state.tokens[last?.token ?? -1]];
      if (begins === undefined || ends === undefined) continue;
      Object.assign(begins, {
        type: "spoiler_open",
        tag: "span",
        nesting: 1,
        attrs: [["data-mx-spoiler", ""]],
        content: "",
      });
      Object.assign(ends, { type: "spoiler_close", tag: "span", nesting: -1, content: "" });
    }
  };
  mark(state.delimiters);
  for (const meta of state.tokens_meta) if (meta?.delimiters) mark(meta.delimiters);
  return true;
}

/** HTML in Markdown: what is no tag of messages was meant as text, as in `Array<string>`. */
function htmlOrText(html: string): string {
  return html.replaceAll(
    /<(?=\/?([a-z][a-z0-9-]*))/gi,
    (_, name: string) => allowedTag(name.toLowerCase()) === undefined ? "&lt;" : "<",
  );
}

const RULES: Record<string, RendererRule> = {
  html_inline: (tokens, at) => htmlOrText(tokens[at]?.content ?? ""),
  html_block: (tokens, at) => htmlOrText(tokens[at]?.content ?? ""),
  // An image that is elsewhere can't be shown, but followed.
  image: (tokens, at) => {
    const { content = "" } = tokens[at] ?? {};
    const src = String(tokens[at]?.attrGet("src") ?? "");
    const alt = escapeHtml(content);
    if (src.startsWith("mxc:")) return `<img src="${escapeHtml(src)}" alt="${alt}">`;
    return `<a href="${escapeHtml(src)}">${alt === "" ? escapeHtml(src) : alt}</a>`;
  },
};

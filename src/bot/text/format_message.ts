/**
 * What is written in Markdown or HTML, as the content of a message. The parser is set up for messages:
 * GitHub's tables and strikethrough, `||spoilers||`, line breaks where there are some, and HTML only as far
 * as messages may have it.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#mroommessage-msgtypes | m.room.message msgtypes}
 *
 * Over 300 lines because the parser and its one user are one thing.
 *
 * @module
 */

import type { Delimiter, MarkdownIt, RendererRule, StateInline, Token } from "markdown-it";
import type { Mentions, UserID } from "../../../types.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { codeRuns } from "./close_markdown.ts";
import { allowedTag, cleanHtml, escapeHtml, htmlToText } from "./html.ts";

/** Whom a message mentions, beside those whom its text does. */
export interface MentionOptions {
  /** Users to mention. Default: none. */
  users?: readonly UserID[];
  /** Whether to mention everyone in the room; `@room` in the text does not. Default: `false`. */
  room?: boolean;
  /**
   * Whether links to users, as `mention()` writes them, mention these users. Default: `true`; but
   * nobody is mentioned by what stands in a quote or in code.
   */
  links?: boolean;
}

/** Their names. */
export const MENTIONS: OptionNames<MentionOptions> = { users: true, room: true, links: true };

/** The text of a message in all its forms: the content of an `m.text` without its `msgtype`. */
export type FormattedMessage = {
  /** The text for those who can't show the formatted one. */
  body: string;
  /** That there is a formatted one. */
  format?: "org.matrix.custom.html";
  /** The text with formatting, as `sanitizeHtml()` leaves it; absent if there is none. */
  formatted_body?: string;
  /** Whom the message mentions. It is always there: without, old rules would look for names. */
  "m.mentions": Mentions;
};

/** Longer Markdown, in UTF-16 units, fits into no event, and is not looked at. */
const MAX_MARKDOWN = 65_536;

/**
 * Formats Markdown: CommonMark with tables and strikethrough, `||spoilers||`, and a line break for
 * each one in the text. HTML works as far as messages may have it; other tags are shown as they are
 * written. The plain text is the Markdown itself, without the backslashes that escape.
 *
 * The parser is loaded at the first call. Markdown of more than 65,536 characters fits into no
 * event: it is left as it is, and its links mention nobody; split it first.
 *
 * @param markdown What to say.
 * @param mentions Whom to mention beside the users to whom there are links.
 * @returns The content, without `msgtype`.
 * @example
 * ```ts
 * import { formatMarkdown, mention } from "@greenroom/matrix/bot";
 *
 * const content = await formatMarkdown(`**Curtain** in five, ${mention("@alice:example.org", "Alice")}`);
 * console.assert(content.formatted_body?.startsWith("<strong>Curtain</strong> in five, "));
 * console.assert(content["m.mentions"].user_ids?.[0] === "@alice:example.org");
 * console.assert((await formatMarkdown("Nothing to format")).formatted_body === undefined);
 * ```
 */
export async function formatMarkdown(
  markdown: string,
  mentions: MentionOptions = {},
): Promise<FormattedMessage> {
  checkOptions(mentions, MENTIONS, "format a message");
  const body = markdown.toWellFormed();
  if (body.length > MAX_MARKDOWN) return { body, "m.mentions": mentionsOf([], mentions) };
  const parser = await markdownParser();
  const env = {};
  const tokens = parser.parse(body.replaceAll("\0", ""), env);
  if (isPlain(tokens, body)) return { body, "m.mentions": mentionsOf([], mentions) };
  const paragraph = tokens.length === 3 && tokens[0]?.type === "paragraph_open"
    ? tokens[1]?.children
    : undefined;
  const rendered = paragraph
    ? parser.renderer.renderInline(paragraph, parser.options, env)
    : parser.renderer.render(tokens, parser.options, env);
  const { html, users } = cleanHtml(rendered.trimEnd());
  return {
    body: unescapeMarkdown(body, tokens),
    format: "org.matrix.custom.html",
    formatted_body: html,
    "m.mentions": mentionsOf(users, mentions),
  };
}

/**
 * Formats HTML: what messages may not have is left out, and the plain text is made of the rest.
 *
 * @param html What to say; what others wrote is safe in it, but may mention users.
 * @param mentions Whom to mention beside the users to whom there are links.
 * @returns The content, without `msgtype`.
 * @example
 * ```ts
 * import { formatHtml } from "@greenroom/matrix/bot";
 *
 * const { body, formatted_body } = await formatHtml("<h1>Programme</h1><p>Overture</p>");
 * console.assert(body === "Programme\n\nOverture" && formatted_body?.startsWith("<h1>"));
 * ```
 */
export async function formatHtml(html: string, mentions: MentionOptions = {}): Promise<FormattedMessage> {
  checkOptions(mentions, MENTIONS, "format a message");
  const clean = cleanHtml(html);
  return {
    body: await htmlToText(clean.html),
    format: "org.matrix.custom.html",
    formatted_body: clean.html,
    "m.mentions": mentionsOf(clean.users, mentions),
  };
}

/**
 * The content of a message of plain text, in which nothing is formatted.
 *
 * @param text What to say.
 * @param mentions Whom to mention.
 */
export function formatText(text: string, mentions: Omit<MentionOptions, "links"> = {}): FormattedMessage {
  checkOptions(mentions, MENTIONS, "format a message");
  return { body: text.toWellFormed(), "m.mentions": mentionsOf([], mentions) };
}

/** The `m.mentions` of a message whose links lead to some users. */
function mentionsOf(
  linked: readonly UserID[],
  { users = [], room = false, links = true }: MentionOptions,
): Mentions {
  const ids = [...new Set([...users, ...(links ? linked : [])])];
  return { ...(ids.length > 0 && { user_ids: ids }), ...(room && { room }) };
}

/** Returns whether all that the Markdown says is its own text, in paragraphs. */
function isPlain(tokens: readonly Token[], markdown: string): boolean {
  const said: string[] = [];
  for (const { type, children } of tokens) {
    if (type === "paragraph_open" || type === "paragraph_close") continue;
    if (type !== "inline") return false;
    for (const child of children ?? []) {
      if (child.type === "softbreak") said.push("\n");
      else if (child.type === "text") said.push(child.content);
      else return false;
    }
    said.push("\n");
  }
  const lines = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean).join("\n");
  return lines(said.join("")) === lines(markdown);
}

/** The lines of Markdown, with their ends. */
const LINES = /[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n/g;
/** An escaped sign or end of a line; a span of code; a tag or an address, in which nothing is escaped. */
const ESCAPED = /\\([!-/:-@[-`{-~]|(?=[\r\n]))|(`+)|<\/?[a-z][^<>]*>/gi;

/**
 * Takes the backslashes away that only say that a sign is meant as itself. In code they stay, for
 * there they are what they are.
 *
 * @param markdown The Markdown.
 * @param tokens What the parser has made of it.
 */
function unescapeMarkdown(markdown: string, tokens: readonly Token[]): string {
  if (!markdown.includes("\\")) return markdown;
  const lines = markdown.match(LINES) ?? [];
  const said: string[] = [];
  let done = 0;
  for (const [from, to] of textRanges(tokens)) {
    if (from < done) continue; // the cells of a row are in one line
    said.push(lines.slice(done, from).join(""), unescaped(lines.slice(from, to).join("")));
    done = to;
  }
  return said.concat(lines.slice(done)).join("");
}

/** The lines of each paragraph, heading and row, in order. */
function textRanges(tokens: readonly Token[]): [from: number, to: number][] {
  return tokens.flatMap(({ type, map }) => (type === "inline" || type === "tr_open") && map ? [map] : []);
}

/** One text without blocks. */
function unescaped(text: string): string {
  const runs = codeRuns(text);
  const end = text.trimEnd().length;
  const said: string[] = [];
  let done = 0;
  ESCAPED.lastIndex = 0;
  for (let found = ESCAPED.exec(text); found !== null; found = ESCAPED.exec(text)) {
    const { 0: { length }, 1: sign, 2: run, index } = found;
    if (run !== undefined) {
      const close = runs(index, length);
      if (close !== undefined) ESCAPED.lastIndex = close + length;
    } else if (sign !== undefined && index + 1 < end) {
      said.push(text.slice(done, index), sign);
      done = index + length;
    }
  }
  return said.join("") + text.slice(done);
}

/** A spoiler may begin and end within a word. */
const CAN_SPLIT_WORD = true;
const BAR = "|".charCodeAt(0);
/** How many blocks or spans may lie in each other. */
const MAX_NESTING = 50;

let loaded: Promise<MarkdownIt> | undefined;

/** The parser, which is loaded at the first call. */
function markdownParser(): Promise<MarkdownIt> {
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

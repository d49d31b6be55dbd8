/**
 * Markdown as those read it who are shown its source.
 *
 * @module
 */

import type { Token } from "markdown-it";
import { codeRuns } from "./close_inline.ts";

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
export function unescapeMarkdown(markdown: string, tokens: readonly Token[]): string {
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

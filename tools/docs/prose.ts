/**
 * Sentences that are too long, and words that make a reader guess: see "Write" in `CONTRIBUTING.md`.
 *
 * @module
 */

import { type Paragraph, readPage } from "./markdown.ts";

/** The most words that a sentence may have. */
const MAX_WORDS = 30;

/** Words that are avoided, with what to write in their place. */
const AVOIDED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwhoever\b/i, "say who: a user, a member, somebody with the token"],
  [/\bwhat(?: is|'s| was| became) due\b/i, "say what: a reminder, a schedule, a timeout"],
  [/\bnobody\b[^.!?;:]*\bby\b/i, "turn it round, in the active voice"],
  [/\blanes?\b/i, "queue, or order"],
  [
    /\bknock(?:s|ed|ing)?\b(?! (?:rule|on (?:the|a) room))/i,
    "ask, or request; only Matrix's rooms are knocked on",
  ],
];

/** What is wrong with the text of a page, a line each. */
export function proseFindings(markdown: string): string[] {
  return readPage(markdown).paragraphs.flatMap(findings);
}

function findings({ text, line }: Paragraph): string[] {
  const found: string[] = [];
  for (const sentence of sentencesOf(text)) {
    const count = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
    if (count > MAX_WORDS) {
      found.push(`line ${line}: a sentence of ${count} words: ${sentence.slice(0, 60)}…`);
    }
    for (const [pattern, instead] of AVOIDED) {
      const word = pattern.exec(sentence)?.[0];
      if (word !== undefined) found.push(`line ${line}: "${word}": ${instead}`);
    }
  }
  return found;
}

/** The sentences of a paragraph. */
function sentencesOf(text: string): string[] {
  return text.trim().split(/(?<=[.!?][)"”]?)\s+(?=[\p{Lu}\p{N}(“"]|code\b)/u);
}

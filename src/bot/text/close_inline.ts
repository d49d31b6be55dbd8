/**
 * One text of Markdown, without blocks, that is still being written: what is open in it is closed.
 *
 * @module
 */

/** Marks that are open, and closed by the same. */
interface Opener {
  readonly mark: string;
  at: number;
  length: number;
}

/** A bracket that may become a link. */
interface Bracket {
  /** Where it begins, with the exclamation mark of an image. */
  readonly from: number;
  readonly to: number;
}

/** How many marks are kept open; more are text. */
const MAX_OPEN = 50;
/** How long a link may be that is held back until it is complete. */
const MAX_LINK = 1_000;

const SPACE = /\s/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const WORD = /[\p{L}\p{N}]/u;
const TARGET = /^\(\S*(?:\s+(?:["'(][^]*)?)?$/;

/**
 * Closes what is open in a text.
 *
 * @param text A paragraph, a heading, an item or a cell, as far as it is written.
 */
export function closeInline(text: string): string {
  const openers: Opener[] = [];
  const brackets: Bracket[] = [];
  const runs = codeRuns(text);
  const linkEnd = linkEnds(text);
  let end = text.length;
  let code = "";
  for (let at = 0; at < end;) {
    const one = text[at] ?? "";
    if (one === "\\") {
      if (at + 1 === end) end = at;
      at += 2;
    } else if (one === "`") {
      const length = runLength(text, at);
      const close = runs(at, length);
      if (close === undefined) {
        while (text[end - 1] === "`" && end > at + length) end--;
        if (text.slice(at + length, end).trim() === "") end = at;
        else code = text.slice(at, at + length);
        break;
      }
      at = close + length;
    } else if (one === "!" && text[at + 1] === "[") {
      brackets.push({ from: at, to: at + 2 });
      at += 2;
    } else if (one === "[") {
      brackets.push({ from: at, to: at + 1 });
      at++;
    } else if (one === "]") {
      const bracket = brackets.pop();
      at++;
      if (bracket !== undefined && at === end) {
        end--;
        brackets.push(bracket);
      }
      if (bracket === undefined || text[at] !== "(") continue;
      const close = linkEnd(at);
      if (close !== undefined) at = close;
      else if (end - at <= MAX_LINK && TARGET.test(text.slice(at, end))) {
        end = at - 1;
        brackets.push(bracket);
      }
    } else if ("*_~|".includes(one)) {
      const length = runLength(text, at);
      if (!take(text, at, length, openers) && at + length === end) end = at;
      at += length;
    } else at++;
  }
  return compose(text, end, { code, openers, brackets });
}

/** Counts how often the character at a place stands there. */
function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end++;
  return end - at;
}

/** Finds the run of backticks that closes one: the next as long. Each run is looked at once. */
export function codeRuns(text: string): (at: number, length: number) => number | undefined {
  const places = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = places.get(run.length);
    if (known === undefined) places.set(run.length, [index]);
    else known.push(index);
  }
  for (const each of places.values()) each.reverse();
  return (at, length) => {
    const left = places.get(length) ?? [];
    while (left.length > 0 && (left.at(-1) ?? 0) <= at) left.pop();
    return left.at(-1);
  };
}

/**
 * Finds what is behind the bracket that closes the address of a link; undefined if it is not there
 * yet. All brackets are looked at once, when the first is asked for.
 */
function linkEnds(text: string): (open: number) => number | undefined {
  let closed: Map<number, number> | undefined;
  return (open) => {
    closed ??= pairs(text);
    const close = closed.get(open);
    return close === undefined || close - open > MAX_LINK ? undefined : close + 1;
  };
}

/** Pairs round brackets. */
function pairs(text: string): Map<number, number> {
  const closed = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (one === "\\") at++;
    else if (one === "(") open.push(at);
    else if (one === ")") {
      const from = open.pop();
      if (from !== undefined) closed.set(from, at);
    }
  }
  return closed;
}

/**
 * Takes a run of marks: it closes what is open, and opens what is left of it, by the rules of
 * CommonMark.
 *
 * @returns Whether all of it means something.
 */
function take(text: string, at: number, run: number, openers: Opener[]): boolean {
  const one = text[at] ?? "";
  const isPair = one === "~" || one === "|";
  let length = isPair ? run - run % 2 : run;
  if (isPair && length === 0) return false;
  const [before, behind] = [text[at - 1] ?? " ", text[at + run] ?? " "];
  const left = !SPACE.test(behind) &&
    (!PUNCTUATION.test(behind) || SPACE.test(before) || PUNCTUATION.test(before));
  const right = !SPACE.test(before) &&
    (!PUNCTUATION.test(before) || SPACE.test(behind) || PUNCTUATION.test(behind));
  const closes = right && (one !== "_" || !WORD.test(behind));
  const opens = left && (one !== "_" || !WORD.test(before));
  for (let index = openers.length - 1; closes && index >= 0 && length > 0; index--) {
    const opener = openers[index];
    if (opener?.mark !== one) continue;
    const used = Math.min(opener.length, length);
    length -= used;
    opener.length -= used;
    openers.length = opener.length === 0 ? index : index + 1;
  }
  if (length === 0) return true;
  if (!opens || openers.length >= MAX_OPEN) return false;
  openers.push({ mark: one, at: at + run - length, length });
  return true;
}

/** Returns what was said, without half a link, and with what closes the rest. */
function compose(
  text: string,
  stop: number,
  open: { readonly code: string; readonly openers: Opener[]; readonly brackets: Bracket[] },
): string {
  const { code, openers } = open;
  const brackets = open.brackets.filter(({ from }) => from < stop && stop - from <= MAX_LINK);
  let end = stop;
  while (code === "") {
    end = text.slice(0, end).trimEnd().length;
    const [bracket, opener] = [brackets.at(-1), openers.at(-1)];
    if (bracket !== undefined && bracket.to >= end) {
      end = Math.min(end, bracket.from);
      brackets.pop();
    } else if (opener !== undefined && opener.at + opener.length >= end) {
      end = Math.min(end, opener.at);
      openers.pop();
    } else break;
  }
  const kept: string[] = [];
  let at = 0;
  for (const { from, to } of brackets) {
    kept.push(text.slice(at, from));
    at = to;
  }
  kept.push(text.slice(at, end), code);
  for (const { mark, length } of openers.toReversed()) kept.push(mark.repeat(length));
  return kept.join("");
}

/**
 * The arguments of a command, taken out of what somebody has said, where users and rooms stand by their
 * names alone: as pills.
 *
 * @module
 */

import type { Command, Parameter } from "./command.ts";
import { type ArgumentSchema, type ArgumentType, readArgument } from "./pattern.ts";
import { parseMatrixLink } from "../../../mod.ts";
import { cleanHtml } from "../text/mod.ts";

/** The arguments, or what is wrong with them. */
export type Arguments = NamedArguments | { readonly args: string[] };

type NamedArguments =
  | { readonly args: Readonly<Record<string, unknown>> }
  | { readonly problem: string };

/**
 * Takes the arguments of a command apart, and has them checked.
 *
 * @param given The rest of the text, with marks for mentions, or the arguments that came with names.
 * @param pills Reads the marks.
 * @param takesWords Whether a command whose pattern has no arguments takes any words.
 * @returns A promise only if there is something to check.
 */
export function argumentsOf(
  command: Command,
  given: string | Readonly<Record<string, unknown>>,
  pills: Pick<PillText, "idsIn" | "namesIn">,
  { takesWords }: { readonly takesWords: boolean },
): Arguments | Promise<Arguments> {
  if (command.parameters.length === 0 && (takesWords || given === "" || typeof given !== "string")) {
    return { args: typeof given === "string" ? wordsOf(given, pills) : [] };
  }
  const texts = typeof given === "string" ? assigned(command, given, pills) : named(command, given);
  return "problem" in texts || Object.keys(command.schemas).length === 0
    ? texts
    : checked(texts.args, command.schemas);
}

/** The most words that a text is taken apart into; the last has the rest. */
const MAX_WORDS = 1_000;

/** The words of a text, and what is in quotation marks. */
function wordsOf(text: string, pills: Pick<PillText, "idsIn">): string[] {
  const words: string[] = [];
  const closes: Closes = {};
  for (let rest = text.trim(); rest !== "";) {
    const isLast = words.length === MAX_WORDS - 1;
    const { value, after } = isLast ? { value: rest, after: "" } : firstWord(rest, closes);
    words.push(pills.idsIn(value));
    rest = after;
  }
  return words;
}

async function checked(
  texts: Readonly<Record<string, unknown>>,
  schemas: Command["schemas"],
): Promise<Arguments> {
  const args: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(texts)) {
    const read = await readBy(schemas[name], text);
    if ("problem" in read) return { problem: `${name}: ${read.problem}` };
    args[name] = read.value;
  }
  return { args };
}

/** Reads a text by a schema or as a type. */
async function readBy(
  schema: ArgumentSchema | ArgumentType | undefined,
  text: unknown,
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  if (schema === undefined || typeof text !== "string") return { value: text }; // flags are read already
  if (typeof schema === "string") return readArgument(schema, text);
  const result = await schema["~standard"].validate(text);
  return result.issues === undefined
    ? { value: result.value }
    : { problem: result.issues[0]?.message ?? "does not fit" };
}

/** Gives each argument its word. */
function assigned(
  { parameters, schemas }: Command,
  text: string,
  pills: Pick<PillText, "idsIn" | "namesIn">,
): NamedArguments {
  const isFlag = ({ name }: Parameter) => schemas[name] === "flag";
  const args: Record<string, string | boolean> = {};
  for (const { name } of parameters.filter(isFlag)) args[name] = false;
  let rest = text.trim();
  /** Takes the flags away that stand at the beginning, or at the end. */
  const takeFlags = (at: RegExp): void => {
    for (let found = at.exec(rest); found !== null; found = at.exec(rest)) {
      const name = found[1] ?? "";
      if (schemas[name] !== "flag") return;
      args[name] = true;
      rest = found.index === 0 ? rest.slice(found[0].length) : rest.slice(0, found.index);
    }
  };
  if (parameters.some(isFlag)) takeFlags(/\s--([\w-]{1,50})$/);
  for (const { name, isRequired, isRest } of parameters.filter((each) => !isFlag(each))) {
    takeFlags(/^--([\w-]{1,50})(?:\s+|$)/);
    if (rest === "") {
      if (isRequired) return { problem: `${name} is missing` };
      break;
    }
    const word = isRest ? { value: rest, after: "" } : firstWord(rest);
    const isText = isRest && (schemas[name] === undefined || schemas[name] === "text");
    args[name] = isText ? pills.namesIn(word.value) : pills.idsIn(word.value);
    rest = word.after;
  }
  takeFlags(/^--([\w-]{1,50})(?:\s+|$)/);
  return rest === "" ? { args } : { problem: `"${shortened(pills.namesIn(rest))}" is too much` };
}

/** Takes the arguments that came with names. */
function named({ parameters, schemas }: Command, given: Readonly<Record<string, unknown>>): NamedArguments {
  const args: Record<string, string | boolean> = {};
  for (const { name, isRequired } of parameters) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) {
      if (isRequired) return { problem: `${name} is missing` };
      if (schemas[name] === "flag") args[name] = false;
      continue;
    }
    args[name] = typeof value === "object" ? JSON.stringify(value) : String(value);
  }
  return { args };
}

/** The mark of a mention, and what people and clients write between it and what they say. */
const MENTION = /^(\u{E000}\d{1,2}\u{E001})\s*[:,;!?]+(?=\s|$)/u;

/** How far from the end of a text the closing marks stand that were found last; 0: there is none. */
type Closes = Partial<Record<'"' | "”", number>>;

/**
 * Finds the first closing mark after the first character of a text.
 *
 * @param closes What was found in longer texts that end with this one, and is not searched again.
 * @returns -1 if there is none.
 */
function closeOf(text: string, mark: keyof Closes, closes: Closes): number {
  const known = closes[mark];
  if (known === undefined || known >= text.length) {
    const found = text.indexOf(mark, 1);
    closes[mark] = found === -1 ? 0 : text.length - found;
    return found;
  }
  return known === 0 ? -1 : text.length - known;
}

/** The first word, or what is in quotation marks, and what comes after it. */
function firstWord(text: string, closes: Closes = {}): { readonly value: string; readonly after: string } {
  const [said, mention] = MENTION.exec(text) ?? [];
  if (mention !== undefined) return { value: mention, after: text.slice(said?.length).trimStart() };
  const close = text.startsWith('"')
    ? closeOf(text, '"', closes)
    : text.startsWith("“")
    ? closeOf(text, "”", closes)
    : -1;
  if (close > 0 && /^(?:\s|$)/.test(text.slice(close + 1, close + 2))) {
    return { value: text.slice(1, close), after: text.slice(close + 1).trimStart() };
  }
  const end = text.search(/\s/);
  return end === -1
    ? { value: text, after: "" }
    : { value: text.slice(0, end), after: text.slice(end).trimStart() };
}

const shortened = (text: string): string => text.length > 30 ? `${text.slice(0, 30)}…` : text;

/** A pill: the text that shows it, and what it links to. */
interface Pill {
  readonly name: string;
  /** An ID, an alias, or the link of an event. */
  readonly target: string;
}

/** How many pills of a message are looked at. */
const MAX_PILLS = 100;
const LINK = /<a href="(https:\/\/matrix\.to\/#\/[^"]*)">([^<]*(?:<(?!\/?a[ >])[^<]*)*)<\/a>/g;
/** The rest of a link in Markdown, as some clients write it in plain text. */
const MARKDOWN_LINK = /^\]\((?:https:\/\/matrix\.to\/#\/|matrix:)[^\s()]*\)/;
/** What stands for a pill in a marked text: characters that no text means anything by. */
const MARK = /\u{E000}(\d{1,2})\u{E001}/gu;
const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

/**
 * A text whose pills are words, whatever the names are that show them.
 *
 * It can be taken apart at its spaces; {@linkcode idsIn} and {@linkcode namesIn} then read the parts.
 */
export class PillText {
  /** The text, with a mark for each pill. */
  readonly marked: string;
  readonly #pills: readonly Pill[];

  /**
   * @param text What was said, in plain text.
   * @param html What was said, with formatting. Default: there is none, and so no pill.
   * @param own The user that reads it: pills of this one are not marked, but written as the ID.
   */
  constructor(text: string, html?: string, own?: string) {
    const pills: Pill[] = [];
    let marked = "";
    let rest = text;
    for (const { name, target, before } of html === undefined ? [] : linksIn(html)) {
      const start = indexAfter(rest, name, before.split(name).length - 1);
      if (start < 0) continue;
      const after = rest.slice(start + name.length);
      const markdown = rest[start - 1] === "[" ? MARKDOWN_LINK.exec(after)?.[0] : undefined;
      marked += rest.slice(0, markdown === undefined ? start : start - 1);
      rest = after.slice(markdown?.length ?? 0);
      if (target === own) {
        marked += own;
        continue;
      }
      marked += `\u{E000}${pills.length}\u{E001}`;
      pills.push({ name, target });
      if (pills.length === MAX_PILLS) break;
    }
    this.marked = marked + rest;
    this.#pills = pills;
  }

  /** A part of the marked text, with the IDs that its pills link to. */
  idsIn(part: string): string {
    return this.#read(part, ({ target }) => target);
  }

  /** A part of the marked text, with the names that show its pills. */
  namesIn(part: string): string {
    return this.#read(part, ({ name }) => name);
  }

  #read(part: string, write: (pill: Pill) => string): string {
    return part.replaceAll(MARK, (mark, index) => {
      const pill = this.#pills[Number(index)];
      return pill === undefined ? mark : write(pill);
    });
  }
}

/** The links to users and rooms, each with the text between the one before and itself. */
function* linksIn(html: string): Generator<Pill & { readonly before: string }> {
  if (!/matrix\.to\/#\/|matrix:/i.test(html)) return; // the usual case
  const clean = cleanHtml(html).html;
  let end = 0;
  for (const link of clean.matchAll(LINK)) {
    const [whole, href = "", inside = ""] = link;
    const name = textOf(inside);
    const target = targetOf(textOf(href));
    if (name === "" || target === undefined) continue;
    yield { name, target, before: textOf(clean.slice(end, link.index)) };
    end = link.index + whole.length;
  }
}

function targetOf(href: string): string | undefined {
  try {
    const { id, eventId } = parseMatrixLink(href);
    return eventId === undefined ? id : href;
  } catch {
    return undefined;
  }
}

/** The text of clean HTML. */
function textOf(html: string): string {
  return html.replaceAll(/<[^<>]*>/g, "").replaceAll(
    /&(?:amp|lt|gt|quot);/g,
    (entity) => ENTITIES[entity] ?? "",
  );
}

/** Finds a name in a text, for the first time after so many others; -1: nowhere. */
function indexAfter(text: string, name: string, others: number): number {
  let at = text.indexOf(name);
  for (let count = 0; count < others && at >= 0; count++) at = text.indexOf(name, at + name.length);
  return at;
}

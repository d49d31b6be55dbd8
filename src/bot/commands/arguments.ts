/**
 * The arguments of a command, taken out of what somebody has said.
 *
 * @module
 */

import type { Command, Parameter } from "./command.ts";
import { type ArgumentSchema, type ArgumentType, readArgument } from "./pattern.ts";
import type { PillText } from "./pills.ts";

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
 * Where the first closing mark stands after the first character of a text.
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

/**
 * What counts as an answer to a question with choices: words, or reactions.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import type { WriteOptions } from "./writing.ts";

/** The words of {@linkcode Context.confirm}. */
export interface ConfirmWords {
  /** What means yes, in place of `yes`, `y`, `yeah`, `yep`, `yes please`, `sure`, `ok`, `okay`. */
  readonly yes?: readonly string[];
  /** What means no, in place of `no`, `n`, `nope`, `no thanks`, `no thank you`. */
  readonly no?: readonly string[];
}

/** What is said of each choice: by its reaction. */
export type ChoiceLabels = Readonly<Record<string, string | undefined>>;

/** The answers that a question has. */
export interface Choices<Meaning> {
  /** The reactions that are shown. */
  readonly shown: readonly string[];
  /** The words for each of them. */
  readonly labels: ChoiceLabels;
  /** Returns what an answer stands for; undefined if it is none. */
  readonly meaning: (answer: string) => Meaning | undefined;
}

/** A word or a reaction, and what it stands for. */
type Word<Meaning> = readonly [word: string, meaning: Meaning];

const YES = ["yes", "y", "yeah", "yep", "yes please", "sure", "ok", "okay"];
const NO = ["no", "n", "nope", "no thanks", "no thank you"];
/** Reactions are of no language. */
const REACTIONS: readonly Word<boolean>[] = [
  ...["✅", "☑️", "✔️", "👍"].map((each) => [each, true] as const),
  ...["❌", "✖️", "👎"].map((each) => [each, false] as const),
];

/** The most that there are numbers for. */
const MAX_NUMBERED = 10;

/**
 * Returns the answers of a question with a yes and a no.
 *
 * @throws {ValueError} If something is no word, or means both.
 */
export function yesOrNo({ yes = YES, no = NO }: ConfirmWords): Choices<boolean> {
  const words = confirmWords(yes, no);
  const examples = [yes, no].map(([word = ""]) => word).filter((word) => word !== "");
  const labels = Object.fromEntries(examples.map((word) => [word, undefined]));
  return { shown: ["✅", "❌"], labels, meaning: (answer) => confirmed(answer, words) };
}

/** Returns the answers of a menu: each stands for its reaction. */
export function menuOf(
  choices: Readonly<Record<string, unknown>>,
  labels: ChoiceLabels | false | undefined,
): Choices<string> {
  const labelOf = (key: string): string | undefined => {
    if (labels === false) return undefined;
    const label = labels === undefined ? choices[key] : labels[key];
    return typeof label === "string" && label.trim() !== "" && label !== key ? label : undefined;
  };
  const keys = Object.keys(choices);
  const named = keys.map((key) => [key, labelOf(key)] as const);
  const words: Word<string>[] = keys.map((key) => [key, key]);
  for (const [key, label] of named) if (label !== undefined) words.push([label, key]);
  return { shown: keys, labels: Object.fromEntries(named), meaning: (answer) => meaningOf(answer, words) };
}

/**
 * Choices by their reactions: those of a list have numbers.
 *
 * @throws {ValueError} If a list has none, or too many.
 */
export function choicesByKey<Choice>(
  choices: Readonly<Record<string, Choice>> | readonly Choice[],
): Readonly<Record<string, Choice>> {
  if (!isList(choices)) return choices;
  if (choices.length === 0 || choices.length > MAX_NUMBERED) {
    throw new ValueError(
      `Cannot show a menu: a list has 1 to ${MAX_NUMBERED} choices, and not ${choices.length}`,
    );
  }
  const keyAt = (at: number): string => at === MAX_NUMBERED - 1 ? "🔟" : `${at + 1}\uFE0F\u20E3`;
  return Object.fromEntries(choices.map((choice, at) => [keyAt(at), choice]));
}

/** `Array.isArray()`, which knows no read-only lists. */
function isList<Choice>(choices: object | readonly Choice[]): choices is readonly Choice[] {
  return Array.isArray(choices);
}

/** What may end a sentence. */
const STOP = /^[\s.!?…。！？]$/u;
/** What means nothing behind a word. */
const DECORATION =
  /^[\s\p{P}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u200D\uFE0F]$/u;

/**
 * What means yes, and what no.
 *
 * @throws {ValueError} If something is no word, or means both.
 */
function confirmWords(yes: readonly string[], no: readonly string[]): Word<boolean>[] {
  for (const [name, given] of Object.entries({ yes, no })) {
    if (!Array.isArray(given) || given.some((each) => typeof each !== "string" || each.trim() === "")) {
      throw new ValueError(`Cannot ask for a yes or a no: ${name} must be a list of words`);
    }
  }
  const words: Word<boolean>[] = [
    ...REACTIONS,
    ...yes.map((each) => [each, true] as const),
    ...no.map((each) => [each, false] as const),
  ];
  const both = words.find(([word, meaning]) =>
    words.some(([other, another]) => another !== meaning && bareWord(other) === bareWord(word))
  );
  if (both !== undefined) throw new ValueError(`Cannot ask for a yes or a no: "${both[0]}" means both`);
  return words;
}

/**
 * What an answer stands for: as it is written; or else whatever its case, the colour of a hand, and the
 * punctuation at its end.
 */
function meaningOf<Meaning>(answer: string, words: readonly Word<Meaning>[]): Meaning | undefined {
  const [said, bare] = [shown(answer), bareWord(answer)];
  const found = words.find(([word]) => shown(word) === said) ??
    words.find(([word]) => bareWord(word) === bare);
  return found?.[1];
}

/** The most that is read behind a yes or a no, in UTF-16 code units. */
const MAX_BEHIND = 100;

/**
 * Returns whether an answer is a yes or a no: a whole one, or one with emoji and punctuation behind it of
 * which none means the opposite.
 */
function confirmed(answer: string, words: readonly Word<boolean>[]): boolean | undefined {
  const whole = meaningOf(answer, words);
  if (whole !== undefined) return whole;
  const word = withoutEnd(answer, DECORATION);
  const behind = answer.slice(word.length);
  const meaning = meaningOf(word, words);
  if (behind.length > MAX_BEHIND) return undefined;
  const more = Array.from(new Intl.Segmenter().segment(behind), ({ segment }) => meaningOf(segment, words));
  return more.includes(!meaning) ? undefined : meaning;
}

/**
 * A question with what each choice is: labels by the choices' reactions.
 *
 * @param how.all Whether choices without a label are there too: no reaction shows them.
 */
export async function withLabels(
  question: string,
  labels: ChoiceLabels,
  { format = "markdown", all }: { readonly format: WriteOptions["format"]; readonly all: boolean },
): Promise<string> {
  const lines = Object.entries(labels).filter(([, label]) => all || label !== undefined);
  if (lines.length === 0) return question;
  const texts = lines.map(([key, label]) => label === undefined ? key : `${key} ${label}`);
  if (format === "plain") return [question, "", ...texts].join("\n");
  if (format === "html") {
    const { escapeHtml } = await import("../text/html.ts"); // with its library
    return `${question}<ul>${texts.map((each) => `<li>${escapeHtml(each)}</li>`).join("")}</ul>`;
  }
  const { escapeMarkdown } = await import("../text/mention.ts");
  return [question, "", ...texts.map((each) => `- ${escapeMarkdown(each)}`)].join("\n");
}

/** A text without the selectors of how an emoji is shown. */
function shown(text: string): string {
  return text.replaceAll(/[\uFE0E\uFE0F]/g, "").trim().toLowerCase();
}

/** A text without what makes no difference to who reads it; one that is nothing else stays as it is. */
function bareWord(text: string): string {
  const word = shown(text);
  const bare = withoutEnd(word.replaceAll(/\p{Emoji_Modifier}/gu, "").replaceAll(/[\s,]+/g, " "), STOP);
  return bare === "" ? word : bare;
}

/**
 * A text without what it ends with. A pattern of all of that would look at each place of a long text anew.
 */
function withoutEnd(text: string, character: RegExp): string {
  const characters = [...text];
  let length = characters.length;
  while (character.test(characters[length - 1] ?? "")) length--;
  return characters.slice(0, length).join("");
}

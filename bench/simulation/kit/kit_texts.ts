/**
 * What people and bots of the kit say to each other: each text once, with the number of what was said
 * first behind "of".
 *
 * @module
 */

/** What people can ask for, and what a bot answers first. */
export const COMMANDS = {
  order: "what",
  survey: "any",
  tell: "told",
  remind: "noted",
  later: "set",
  several: "first",
} as const;

/** What a bot says at once, in that order. */
export const SEVERAL = [COMMANDS.several, "second", "third", "fourth"] as const;

/** A command's name. */
export type CommandName = keyof typeof COMMANDS;

/** What a bot says that is the same at all times. */
export const PHRASES: ReadonlySet<string> = new Set([
  "Cancelled.",
  "There is nothing to cancel.",
]);

/** A command. */
export function commandText(name: CommandName, number: number): string {
  return `!${name} of ${number}`;
}

/** An answer to a question of a conversation. */
export function answerText(
  { command, question }: { readonly command: number; readonly question: string },
  number: number,
): string {
  return `pick ${question} of ${command} as answer of ${number}`;
}

/** The question whose answer is a reaction, a yes or a no: no text with a number is one to it. */
export const CONFIRMATION = "sure";
/** What reactions say. */
export const [YES, NO] = ["✅", "❌"];

/** What an answer is one to. */
export function readAnswer(
  text: string,
): { readonly command: number; readonly question: string; readonly answer: number } | undefined {
  const [, question, command, answer] = /^pick (\w+) of (\d+) as answer of (\d+)$/.exec(text) ?? [];
  return question === undefined ? undefined : { question, command: Number(command), answer: Number(answer) };
}

/** The question that a text of a bot is; undefined: it is none. */
export function readQuestion(
  text: string,
): { readonly command: number; readonly question: string } | undefined {
  const [, question, command] = /^(what|many|sure|any) of (\d+)$/.exec(text) ?? [];
  return question === undefined ? undefined : { question, command: Number(command) };
}

/** The command that a text of a person is. */
export function readCommand(
  text: string,
): { readonly name: CommandName; readonly number: number } | undefined {
  const [, name, number] = /^!(\w+) of (\d+)$/.exec(text) ?? [];
  return name !== undefined && name in COMMANDS
    ? { name: name as CommandName, number: Number(number) }
    : undefined;
}

/** The number at the end of a text. */
export function numberOf(text: string): number {
  return Number(/ (\d+)$/.exec(text)?.[1]);
}

/** Whether a question is to anyone, or to who began the conversation. */
export function isOpenToAll(command: number): boolean {
  return command % 3 === 0;
}

/** The shortest time for an answer, and what is added to it, in milliseconds: the world's end is later. */
const [TIMEOUT, MORE_TIME] = [20_000, 15_000];

/** How long each question of a conversation waits for its answer, in milliseconds. */
export function timeoutOf(command: number): number {
  return TIMEOUT + (command % 4) * MORE_TIME;
}

/** What a text says was counted in the room, and as which number; undefined: nothing. */
export function readCount(text: string): { readonly entry: string; readonly count: number } | undefined {
  const [, count, number] = /^reply (\d+) to (\d+)$/.exec(text) ?? [];
  if (number !== undefined) return { entry: `reply to ${number}`, count: Number(count) };
  const [, order, place] = /^ordered of (\d+) .* as (\d+)$/.exec(text) ?? [];
  return order === undefined ? undefined : { entry: `ordered of ${order}`, count: Number(place) };
}

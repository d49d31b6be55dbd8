/**
 * Commands: read from patterns, and found in messages.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { checkHinted } from "../../errors/hints.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import {
  ARGUMENT_TYPES,
  type ArgumentSchema,
  type ArgumentType,
  COMMAND_HINTS,
  type CommandOptions,
  isArgumentType,
  type TextCommandOptions,
} from "./pattern.ts";

/** An argument of a command. */
export interface Parameter {
  /** As the command's description shows it, and as handlers find its value. */
  readonly name: string;
  /** Whether it has to be there. */
  readonly isRequired: boolean;
  /** Whether it takes the rest of the text. */
  readonly isRest: boolean;
}

/** What users can tell the bot to do. */
export interface Command {
  /** Its name, in small letters. */
  readonly name: string;
  /** Its name and the others, in small letters. */
  readonly names: readonly string[];
  /** Its arguments, in order. */
  readonly parameters: readonly Parameter[];
  /** What the command does, as help shows it. */
  readonly description: string;
  /** How it is used, after the name: the arguments as they are written, if nothing else was given. */
  readonly usage: string;
  /** What checks arguments: schemas and types. */
  readonly schemas: Readonly<Record<string, ArgumentSchema | ArgumentType | undefined>>;
  /** Who may use the command. */
  readonly access: NonNullable<CommandOptions<string>["access"]>;
  /** The least power level in the room that a user needs. */
  readonly powerLevel: number;
  /** Whether it is taken only from encrypted messages. */
  readonly isEncryptedOnly: boolean;
  /** Whether help leaves out the command. */
  readonly isHidden: boolean;
  /** Whether every bot has it, so that no function is called. Default: no. */
  readonly isBuiltIn?: true;
}

const OPTIONS: OptionNames<CommandOptions<string>> = {
  ...{
    description: true,
    usage: true,
    aliases: true,
    args: true,
    access: true,
    powerLevel: true,
    hidden: true,
  },
  encryptedOnly: true,
};
/** What other libraries call types of arguments, and what to write here. */
const OTHER_ARGUMENT_TYPES: ReadonlyMap<string, string> = new Map([
  ...["rest", "text...", "remainder"].map((name) => [name, "dots behind the name: <text...>"] as const),
  ...["string", "str", "word"].map((name) => [name, "text, or nothing: it is the default"] as const),
  ...["int", "integer", "float"].map((name) => [name, "number"] as const),
  ...["bool", "boolean"].map((name) => [name, "flag"] as const),
  ...["mention", "member"].map((name) => [name, "user"] as const),
  ...["time", "interval"].map((name) => [name, "duration"] as const),
]);
/** The most words of a name: `todo list add`. */
const MAX_WORDS = 3;
const NAME = /^[^\s<>[\]"]{1,50}$/u;
/** An argument: its name, and perhaps its type, and dots if it takes the rest. */
const PARAMETER = /^(?:<([\w-]{1,50})(?::(\w{1,50}))?(\.\.\.)?>|\[([\w-]{1,50})(?::(\w{1,50}))?(\.\.\.)?\])$/;

/**
 * Reads a pattern.
 *
 * @throws {ValueError} If it can't be read.
 */
export function parsePattern(
  beginning: string,
  options: CommandOptions<string> | TextCommandOptions<string>,
): Command {
  const { description = "", aliases = [], args: written = {}, access = "everybody" } = options;
  const [pattern, given] = typeof written === "string"
    ? [`${beginning} ${written}`, {}]
    : [beginning, written];
  checkHinted(options, OPTIONS, COMMAND_HINTS, `add the command "${pattern}"`);
  checkOptions(options, OPTIONS, `add the command "${pattern}"`);
  const { powerLevel = -Infinity } = options;
  if (typeof powerLevel !== "number" || Number.isNaN(powerLevel)) {
    throw bad(pattern, "powerLevel must be a number");
  }
  const { encryptedOnly: isEncryptedOnly = false, hidden: isHidden = false } = options;
  const words = pattern.trim().split(/\s+/);
  const found = words.findIndex((word) => /^[<[]/.test(word));
  const count = found === -1 ? words.length : found;
  const name = words.slice(0, count).join(" ");
  const rest = found === -1 ? patternsOf(given) : words.slice(count);
  const names = [name, ...aliases].map((each) => each.trim().toLowerCase().replaceAll(/\s+/g, " "));
  for (const each of names) {
    const parts = each.split(" ");
    const wrong = parts.find((part) => !NAME.test(part));
    if (wrong !== undefined) throw bad(pattern, `"${wrong}" is no name: 1 to 50 characters`);
    if (/^[!/]./.test(each)) {
      const mend = `write ${each.slice(1)}, and the option prefix of the bot if it is not !`;
      throw bad(pattern, `"${each}" has a prefix; ${mend}`);
    }
    if (parts.length > MAX_WORDS) throw bad(pattern, `a name has at most ${MAX_WORDS} words`);
  }
  const types: Record<string, ArgumentType> = {};
  const parameters = rest.map((text): Parameter => {
    const [, required, type, dots, optional, optionalType, optionalDots] = PARAMETER.exec(text) ?? [];
    const name = required ?? optional;
    if (name === undefined) throw bad(pattern, `"${text}" is neither <name> nor [name]`);
    const named = type ?? optionalType;
    if (named !== undefined) {
      if (Object.hasOwn(given, name)) throw bad(pattern, `the type of ${name} stands in args, too`);
      types[name] = named as ArgumentType; // which is checked below, as those in `args` are
    }
    return { name, isRequired: required !== undefined, isRest: (dots ?? optionalDots) !== undefined };
  });
  const args = { ...given, ...types };
  for (const [index, { name, isRequired, isRest }] of parameters.entries()) {
    if (isRest && index < parameters.length - 1) throw bad(pattern, `<${name}...> must be the last`);
    if (isRequired && parameters[index - 1]?.isRequired === false) {
      throw bad(pattern, `<${name}> has to be there, and can't come after one that need not be`);
    }
    if (parameters.findIndex((each) => each.name === name) !== index) {
      throw bad(pattern, `two arguments are called ${name}`);
    }
  }
  for (const [name, type] of Object.entries(args)) {
    const parameter = parameters.find((each) => each.name === name);
    if (parameter === undefined) throw bad(pattern, `it has no argument ${name}`);
    if (typeof type === "string" && !isArgumentType(type)) {
      const elsewhere = OTHER_ARGUMENT_TYPES.get(type);
      const mend = elsewhere === undefined ? `there are ${ARGUMENT_TYPES.join(", ")}` : `write ${elsewhere}`;
      throw bad(pattern, `"${type}" is no type: ${mend}`);
    }
    if (type === "flag" && (parameter.isRequired || parameter.isRest)) {
      throw bad(
        pattern,
        `the flag ${name} need not be there: write [${name}${types[name] === undefined ? "" : ":flag"}]`,
      );
    }
  }
  const asWritten = parameters.map(({ name, isRequired, isRest }) => {
    if (args[name] === "flag") return `[--${name}]`;
    const shown = isRest ? `${name}...` : name;
    return isRequired ? `<${shown}>` : `[${shown}]`;
  }).join(" ");
  const { usage = asWritten } = options;
  if (typeof usage !== "string") throw bad(pattern, "usage must be a text");
  const [first = ""] = usage.toLowerCase().split(/\s/, 1);
  if (names.some((each) => each.split(" ", 1)[0] === first.replace(/^[!/]/, ""))) {
    throw bad(pattern, `usage stands behind the name: leave ${first} out of it`);
  }
  return {
    ...{ name, names, parameters, description, usage, schemas: args },
    ...{ access, powerLevel, isEncryptedOnly, isHidden },
  };
}

/** The arguments that stand in `args` alone, as a pattern has them. */
function patternsOf(args: Command["schemas"]): string[] {
  return Object.entries(args).map(([name, type], index, { length }) => {
    if (type === "flag") return `[${name}]`;
    return type === "text" && index === length - 1 ? `<${name}...>` : `<${name}>`;
  });
}

/** What a message asks for. */
export interface Invocation {
  /** The name, in small letters, as it was written. */
  readonly name: string;
  /** What comes after it. */
  readonly rest: string;
}

/** The longest text that is looked at, in UTF-16 units; events are smaller. */
const MAX_TEXT = 100_000;

/**
 * Takes a text apart that may ask for a command.
 *
 * @param text The text, without a prefix or a mention of the bot.
 * @returns Undefined if it has no name.
 */
export function invocationOf(text: string): Invocation | undefined {
  const [, name, rest = ""] = /^\s*(\S{1,50})(?:\s([^]*))?$/u.exec(text.slice(0, MAX_TEXT)) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), rest: rest.trim() };
}

/** A command that was found, and what comes after its name. */
interface Chosen {
  readonly command: Command;
  /** What comes after its name. */
  readonly rest: string;
}

/**
 * Finds the command that a message asks for: the one whose name takes most of its words.
 *
 * @returns Undefined if there is none.
 */
export function chosenOf(commands: readonly Command[], { name, rest }: Invocation): Chosen | undefined {
  let [words, after] = [name, rest];
  let chosen: Chosen | undefined;
  for (let count = 1; count <= MAX_WORDS; count++) {
    const command = commands.find(({ names }) => names.includes(words));
    if (command !== undefined) chosen = { command, rest: after };
    if (after === "") break;
    const [, next, left = ""] = /^(\S{1,50})(?:\s([^]*))?$/u.exec(after) ?? [];
    if (next === undefined) break;
    [words, after] = [`${words} ${next.toLowerCase()}`, left.trimStart()];
  }
  return chosen;
}

/** Returns whether a name is the beginning of that of a command. */
export function isPartOf({ names }: Command, name: string): boolean {
  return names.some((each) => each === name || each.startsWith(`${name} `));
}

/** Returns whether a name of a command is one of another and more words, as `todo add` is of `todo`. */
export function goesOnFrom({ names }: Command, other: Command): boolean {
  return names.some((each) =>
    !other.names.includes(each) && other.names.some((name) => each.startsWith(`${name} `))
  );
}

function bad(pattern: string, why: string): ValueError {
  return new ValueError(`Cannot read the command "${pattern}": ${why}`);
}

/**
 * Commands as data: their options are parsed, helped with and completed from one table.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { nearestName } from "../../errors/known_names.ts";
import { UsageError } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

/** An option of a command. */
interface OptionSpec {
  /** What its value is called; absent: it has none. */
  readonly value?: string;
  /** Whether it may be given more than once. Default: no; the last one counts. */
  readonly isList?: boolean;
  /** What it does. */
  readonly about: string;
}

/** What a command is given. */
export interface Input {
  /** The arguments; what stands behind `--` too, even if it looks like an option. */
  readonly args: readonly string[];
  /** What stands behind `--`, of a command that passes that on. */
  readonly rest: readonly string[];
  /** The values of options, by name. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The values of options that may be given more than once, by name. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  /** The options without a value that were given. */
  readonly flags: ReadonlySet<string>;
  /** Where it reads and writes. */
  readonly terminal: Terminal;
}

/** Does what a command does; returns the status of the process. Default: 0. */
type Run = (input: Input) => Promise<number | void>;

export interface CommandSpec {
  /** Its words, like `store inspect`. */
  readonly name: string;
  /** What it does, in a line. */
  readonly summary: string;
  /** Its arguments as the help shows them, like `<room> [text]`. */
  readonly args?: string;
  /** Whether what stands behind `--` goes to another program. */
  readonly passes?: string;
  /** More about it. */
  readonly about?: string;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  readonly load: () => Promise<{ readonly run: Run }>;
}

const HELP: OptionSpec = { about: "Shows this help" };
/** Options that are refused with a reason, wherever they are given. */
const SECRETS = /^--?(?:password|token|access-token|recovery-key|passphrase)(?:=|$)/;

/** Finds the command that arguments begin with, and what is left of them. */
export function findCommand(
  commands: readonly CommandSpec[],
  args: readonly string[],
): { readonly command: CommandSpec; readonly args: readonly string[] } | undefined {
  const fits = commands.filter(({ name }) => name.split(" ").every((word, index) => args[index] === word));
  const [command] = fits.toSorted((one, other) => other.name.length - one.name.length);
  return command && { command, args: args.slice(command.name.split(" ").length) };
}

/** What other programs call commands. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...[["init", "new"], ["create", "new"], ["start", "run"]] as const,
  ...[["status", "doctor"], ["whoami", "doctor"], ["talk", "chat"]] as const,
]);

/** The error of a command that there is not. It never repeats what was given, which may be a secret. */
export function unknownCommand(commands: readonly CommandSpec[], args: readonly string[]): UsageError {
  const names = commands.map(({ name }) => name);
  const [first = "", second = ""] = args;
  const isGroup = names.some((name) => name.startsWith(`${first} `));
  const nearest = ELSEWHERE.get(first) ?? nearestName(`${first} ${second}`, names) ??
    nearestName(first, names);
  const mend = nearest === undefined
    ? `see greenroom ${isGroup ? `${first} ` : ""}--help`
    : `did you mean greenroom ${nearest}?`;
  return new UsageError(`Cannot run it: there is no such command; ${mend}`);
}

/** Parses what follows a command. @throws {UsageError} It never repeats a value, which may be a secret. */
export function parseCommand(command: CommandSpec, given: readonly string[], terminal: Terminal): Input {
  const end = given.indexOf("--");
  const [own, rest] = end < 0 ? [given, []] : [given.slice(0, end), given.slice(end + 1)];
  const mend = `see greenroom ${command.name} --help`;
  const secret = own.find((word) => SECRETS.test(word));
  if (secret !== undefined) {
    const [name] = secret.split("=");
    throw new UsageError(
      `Cannot take ${name}: others see what a command line says, and the shell keeps it; leave it out and type ` +
        `it when you are asked, or hand it over by standard input: ${mend}`,
    );
  }
  const options = Object.entries(command.options ?? {}).map(([name, { value, isList: multiple = false }]) =>
    [name, { type: value === undefined ? "boolean" : "string", multiple }] as const
  );
  const { values, positionals: plain } = parsed(own, Object.fromEntries(options), mend);
  const positionals = command.passes === undefined ? [...plain, ...rest] : plain;
  const words = command.args?.split(" ") ?? [];
  const least = words.filter((word) => word.startsWith("<")).length;
  const most = words.some((word) => word.includes("…")) ? Infinity : words.length;
  if (positionals.length < least) {
    throw new UsageError(`Cannot run ${command.name}: ${words[positionals.length]} is missing; ${mend}`);
  }
  if (positionals.length > most) {
    throw new UsageError(`Cannot run ${command.name}: there are more arguments than it takes; ${mend}`);
  }
  const ofKind = <T>(is: (value: unknown) => value is T): Record<string, T> =>
    Object.fromEntries(Object.entries(values).filter((entry): entry is [string, T] => is(entry[1])));
  return {
    ...{ args: positionals, rest, terminal },
    values: ofKind((value) => typeof value === "string"),
    lists: ofKind(Array.isArray),
    flags: new Set(Object.keys(ofKind((value) => value === true))),
  };
}

function parsed(
  args: readonly string[],
  options: Record<string, { type: "boolean" | "string"; multiple?: boolean }>,
  mend: string,
): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const unknown = /Unknown option '(--?[\w-]+)/.exec(String(error))?.[1];
    if (unknown === undefined) {
      const name = /Option '(?:-\w, )?(--?[\w-]+)/.exec(String(error))?.[1] ?? "an option";
      throw new UsageError(`Cannot run it: ${name} has no value, or one that it does not take; ${mend}`);
    }
    const nearest = nearestName(unknown, [...Object.keys(options), "help"].map((option) => `--${option}`));
    const meant = nearest === undefined ? "" : `did you mean ${nearest}? `;
    throw new UsageError(`Cannot run it: there is no option ${unknown}; ${meant}${mend}`);
  }
}

/** What `--help` shows of it. */
export function helpOf(command: CommandSpec, columns: number): string {
  const passes = command.passes === undefined ? "" : ` [-- ${command.passes}]`;
  const usage = ["greenroom", command.name, command.args, "[options]"].filter(Boolean).join(" ") + passes;
  const options = Object.entries({ ...command.options, help: HELP });
  return [
    ...wrapped(`${command.summary}.`, columns),
    "",
    `Usage: ${usage}`,
    ...command.about === undefined
      ? []
      : ["", ...command.about.split("\n").flatMap((line) => wrapped(line, columns))],
    "",
    "Options:",
    ...table(
      options.map((
        [name, { value, about }],
      ) => [`--${name}${value === undefined ? "" : ` <${value}>`}`, about]),
      columns,
    ),
  ].join("\n");
}

/** What `greenroom --help` shows. */
export function helpOfAll(commands: readonly CommandSpec[], columns: number): string {
  return [
    ...wrapped("greenroom makes, runs and looks after Matrix bots.", columns),
    "",
    "Usage: greenroom <command> [options]",
    "",
    "Commands:",
    ...table(
      commands.map(({ name, summary }) => [name, summary]),
      columns,
    ),
    "",
    ...wrapped(
      "greenroom <command> --help says more. It works in the folder of the bot, with its .env.",
      columns,
    ),
  ].join("\n");
}

/** Two columns, or one below the other where a line is too narrow for that. */
function table(rows: readonly (readonly [string, string])[], columns: number): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4;
  if (columns < width + 24) {
    return rows.flatMap(([left, right]) => [`  ${left}`, ...wrapped(right, columns, "      ")]);
  }
  return rows.flatMap(([left, right]) =>
    wrapped(right, columns, " ".repeat(width)).map((line, index) =>
      index === 0 ? `  ${left}`.padEnd(width) + line.trimStart() : line
    )
  );
}

/** A text in lines, each of which begins with an indent. */
function wrapped(text: string, columns: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line.trim() !== "" && line.length + word.length + 1 > columns) {
      lines.push(line);
      line = indent;
    }
    line += line.trim() === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}

/**
 * Commands: the help that is written of them, and which of them others hide.
 *
 * @module
 */

import { type Command, isPartOf } from "./command.ts";

export {
  type Args,
  type ArgumentResult,
  type ArgumentSchema,
  type ArgumentSchemaProperties,
  type ArgumentType,
  type ArgumentTypes,
  type ArgumentValue,
  type Asking,
  type BareArgs,
  type BareName,
  type CommandOptions,
  type FlagNames,
  type OptionalNames,
  readDate,
  type RequiredNames,
  type Schemas,
} from "./pattern.ts";
export {
  chosenOf,
  type Command,
  goesOnFrom,
  type Invocation,
  invocationOf,
  isPartOf,
  type Parameter,
  parsePattern,
} from "./command.ts";
export { type Arguments, argumentsOf, PillText } from "./arguments.ts";
export {
  type ArgumentDescription,
  type ArgumentKind,
  COMMAND_DESCRIPTION,
  type CommandDescription,
  type CommandState,
  describeCommand,
  readStructuredCommand,
  type StructuredCommand,
} from "./structured.ts";

/** Writes down how a command is used. */
export function usageOf({ name, usage }: Command, prefix: string): string {
  return `${prefix}${name}${usage === "" ? "" : ` ${usage}`}`;
}

/**
 * A list of commands in Markdown, or how one is used.
 *
 * @param commands Those that the reader may use.
 * @param prefix What they begin with.
 * @param about The name of one; undefined: all.
 */
export function helpText(
  commands: readonly Command[],
  { prefix, about }: { readonly prefix: string; readonly about: string | undefined },
): string {
  if (about !== undefined) {
    const wanted = about.toLowerCase().slice(about.startsWith(prefix) ? prefix.length : 0).trim();
    const command = commands.find(({ names }) => names.includes(wanted));
    const parts = commands.filter((each) => each !== command && !each.isHidden && isPartOf(each, wanted));
    if (command === undefined && parts.length > 0) return listOf(parts, prefix);
    if (command === undefined) return `There is no command \`${prefix}${safe(wanted)}\`.`;
    const { description, names } = command;
    const others = names.slice(1).map((each) => `\`${prefix}${each}\``);
    return [
      `\`${usageOf(command, prefix)}\``,
      description,
      others.length === 0 ? "" : `Also: ${others.join(", ")}`,
      parts.length === 0 ? "" : listOf(parts, prefix),
    ].filter((line) => line !== "").join("\n\n");
  }
  const shown = commands.filter(({ isHidden }) => !isHidden);
  return shown.length === 0 ? "There are no commands." : listOf(shown, prefix);
}

function listOf(commands: readonly Command[], prefix: string): string {
  return commands.map((command) =>
    `- \`${usageOf(command, prefix)}\`${command.description === "" ? "" : `: ${command.description}`}`
  ).join("\n");
}

/** A name that somebody else wrote, as it can stand in Markdown. */
function safe(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}_-]/gu, "").slice(0, 50);
}

/**
 * Names of commands that are never found, since another that comes before has the name: trees that
 * are used in one bot may have the same.
 */
export function hiddenNames(commands: readonly Command[]): ReadonlySet<string> {
  const first = new Map<string, Command>();
  const hidden = new Set<string>();
  for (const command of commands) {
    for (const name of command.names) {
      if ((first.get(name) ?? command) !== command) hidden.add(name);
      else first.set(name, command);
    }
  }
  return hidden;
}

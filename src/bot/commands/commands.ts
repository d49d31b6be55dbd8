/**
 * Commands: the help that is written of them, which of them others hide, and structured commands: a bot
 * describes its commands in a room's state, clients offer them with a field for each argument, and send what
 * was filled in as JSON beside the text.
 *
 * The proposal is not accepted yet. What is written here is what clients read today, which is where it
 * differs from the proposal's text: a parameter has a `schema` and may be `optional`.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4391 | MSC4391}
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import type { JsonObject, UserID } from "../../../types.ts";
import { isObject, memberOf, textOf } from "../text/mod.ts";
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
  type NamedArgs,
  type OptionalNames,
  readDate,
  type RequiredNames,
  type Schemas,
  type TextCommandOptions,
  type TypeInPattern,
  type TypesInPattern,
  type WithoutDots,
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

/**
 * The type of the state event that describes a command.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 */
export const COMMAND_DESCRIPTION = "org.matrix.msc4391.command_description";
/** Under which names invocations stand in messages. */
const INVOCATIONS = ["m.bot.command", "org.matrix.msc4391.command"];

/**
 * What an argument of a command may be.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 */
export type ArgumentKind = "text" | "number" | "boolean" | "user" | "room" | "event" | "rest";

/**
 * An argument of a command.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 */
export interface ArgumentDescription {
  /** The name under which handlers find the value. */
  readonly name: string;
  /** Whether the command needs it. Default: `true`. */
  readonly required?: boolean;
  /** The types of value that it accepts. */
  readonly kind: ArgumentKind;
  /** What it is for. Default: nothing is said. */
  readonly description?: string;
}

/**
 * A command, as it is described to clients.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 */
export interface CommandDescription {
  /** Its name, which may have several words: `rooms add`. */
  readonly name: string;
  /** What the command does, as clients show it. */
  readonly description: string;
  /** Other names of it. Default: none. */
  readonly aliases?: readonly string[];
  /** Its arguments, in order. Default: none. */
  readonly args?: readonly ArgumentDescription[];
}

/**
 * A command, as somebody gave it.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 */
export interface StructuredCommand {
  /** The name of the command. */
  readonly command: string;
  /** What was filled in; nothing of it is checked. */
  readonly arguments: Readonly<JsonObject>;
}

/**
 * A state event to send.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 */
export interface CommandState {
  /** Its type: {@link COMMAND_DESCRIPTION}. */
  readonly type: typeof COMMAND_DESCRIPTION;
  /** Its state key, which says whose command it is. */
  readonly stateKey: string;
  /** The content of the state event. */
  readonly content: JsonObject;
}

const primitive = (type: string) => ({ schema_type: "primitive", type });

/** What clients call the kinds. */
const SCHEMAS: Readonly<Record<ArgumentKind, JsonObject>> = {
  text: primitive("string"),
  number: primitive("integer"),
  boolean: primitive("boolean"),
  user: primitive("user_id"),
  room: { schema_type: "union", variants: [primitive("room_id"), primitive("room_alias")] },
  event: primitive("event_id"),
  rest: primitive("string"),
};

const asText = (body: string) => ({ "m.text": [{ body }] });

/**
 * Writes the state event that describes a command. The bot needs the power to send it.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 * @param command The command.
 * @param owner The user ID of the bot.
 * @returns What to give to `sendStateEvent()`.
 * @throws {ValueError} If the command or an argument has no name, two have the same, or a required
 *   one stands behind one that takes all the rest.
 * @example
 * ```ts
 * import { describeCommand } from "@greenroom/matrix/bot";
 *
 * const { type, content } = await describeCommand({
 *   name: "ban",
 *   description: "Bans a user",
 *   args: [{ name: "user", kind: "user" }, { name: "reason", kind: "rest", required: false }],
 * }, "@bot:example.org");
 * console.assert(type === "org.matrix.msc4391.command_description" && content.command === "ban");
 * ```
 */
export async function describeCommand(command: CommandDescription, owner: UserID): Promise<CommandState> {
  const { name, description, aliases = [], args = [] } = checked(command);
  const rest = args.find(({ kind }) => kind === "rest");
  const content = {
    command: name,
    ...(aliases.length > 0 && { aliases: [...aliases] }),
    description: asText(description),
    parameters: args.map(({ name, kind, required = true, description }) => ({
      key: name,
      schema: SCHEMAS[kind],
      ...(!required && { optional: true }),
      ...(description !== undefined && { description: asText(description) }),
    })),
    ...(rest !== undefined && { "fi.mau.tail_parameter": rest.name }),
  };
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name + owner));
  return { type: COMMAND_DESCRIPTION, stateKey: new Uint8Array(hash).toBase64(), content };
}

function checked(command: CommandDescription): CommandDescription {
  const { name, args = [] } = command;
  const refuse = (why: string) =>
    new ValueError(`Cannot describe the command ${JSON.stringify(name)}: ${why}`);
  if (name.trim() === "") throw refuse("it has no name");
  if (args.some(({ name }) => name === "")) throw refuse("an argument has no name");
  if (new Set(args.map(({ name }) => name)).size < args.length) {
    throw refuse("two arguments have the same name");
  }
  const rest = args.findIndex(({ kind }) => kind === "rest");
  if (rest >= 0 && args.slice(rest + 1).some(({ kind, required = true }) => required || kind === "rest")) {
    throw refuse("an argument stands behind the one that takes all the rest");
  }
  return command;
}

/** The longest name of a command; nobody types a longer one. */
const MAX_NAME = 255;

/**
 * Reads an invocation out of a message.
 *
 * @experimental It uses the unstable form of MSC4391: a minor version may change it.
 * @param content The content of the message, as it was received.
 * @param own The user ID of the bot: a command in a message that mentions others, and not it, is
 *   for them. Default: unknown, and not looked at.
 * @returns The command; undefined if there is none, or it is for others.
 * @example
 * ```ts
 * import { readStructuredCommand } from "@greenroom/matrix/bot";
 *
 * const command = readStructuredCommand({
 *   msgtype: "m.text",
 *   body: "/roll 6",
 *   "org.matrix.msc4391.command": { command: "roll", arguments: { eyes: 6 } },
 * });
 * console.assert(command?.command === "roll" && command.arguments.eyes === 6);
 * ```
 */
export function readStructuredCommand(content: unknown, own?: UserID): StructuredCommand | undefined {
  const name = INVOCATIONS.find((each) => memberOf(content, each) !== undefined);
  if (name === undefined) return undefined;
  const block = memberOf(content, name);
  const command = textOf(memberOf(block, "command"))?.trim() ?? "";
  if (command === "" || command.length > MAX_NAME) return undefined;
  const users = memberOf(memberOf(content, "m.mentions"), "user_ids");
  if (own !== undefined && Array.isArray(users) && users.length > 0 && !users.includes(own)) return undefined;
  const given = memberOf(block, "arguments");
  return { command, arguments: isObject(given) ? given : {} };
}

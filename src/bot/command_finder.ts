/**
 * Finds the command that a message is.
 *
 * @module
 */

import {
  argumentsOf,
  chosenOf,
  type Command,
  goesOnFrom,
  helpText,
  type Invocation,
  invocationOf,
  isPartOf,
  PillText,
  readStructuredCommand,
} from "./commands/commands.ts";
import type { RoomID, UserID } from "../../types.ts";
import { Context, type Found } from "./context/context.ts";
import type { Kit } from "./kit.ts";
import type { Access } from "./policy/policy.ts";
import { platform } from "../base/platform/mod.ts";
import type { Run, Update } from "./run/mod.ts";
import { withoutName } from "./text/mod.ts";

/** What is known now mostly, or later. */
type Soon<Value> = Value | Promise<Value>;

/** What a message asks for. */
interface Asked {
  /** The name, in small letters. */
  readonly name: string;
  /** What comes after it. */
  readonly rest: Invocation["rest"] | Readonly<Record<string, unknown>>;
  /** Whether it is the bot for sure that is asked. */
  readonly isAddressed: boolean;
  /** Reads the mentions in it. */
  readonly pills: PillText;
}

const NO_PILLS = new PillText("");

/** What has commands: a tree of middleware. */
interface CommandTree {
  readonly commands: readonly Command[];
}

/** Finds commands. */
export class CommandFinder {
  readonly #kit: Kit;
  readonly #tree: CommandTree;
  /** All commands; undefined: they have to be put together. */
  #known: readonly Command[] | undefined;

  /**
   * @param kit Of the bot.
   * @param tree The bot's commands.
   */
  constructor(kit: Kit, tree: CommandTree) {
    this.#kit = kit;
    this.#tree = tree;
  }

  /** Commands may have been added. */
  refresh(): void {
    this.#known = undefined;
  }

  /** The commands that every bot has, but those that it has others for. */
  get builtIns(): readonly Command[] {
    const names = this.#tree.commands.flatMap((each) => each.names);
    const wanted = this.#kit.behaviour.help === false ? [CANCEL] : [HELP, CANCEL];
    return wanted.filter(({ name }) => !names.includes(name));
  }

  /**
   * The command that a message is, if its sender may use it.
   *
   * @returns A promise only if something has to be looked up: most messages need not wait.
   */
  find(update: Update, run: Run): Soon<Found | undefined> {
    if (!update.queries.has("message:text") || this.#commands.length === 0) return undefined;
    const { mxid } = this.#kit.client;
    const structured = readStructuredCommand(update.event.content, mxid || undefined);
    if (structured !== undefined) {
      const { command, arguments: rest } = structured;
      return this.#found(update, run, {
        name: command.toLowerCase(),
        rest,
        isAddressed: true,
        pills: NO_PILLS,
      });
    }
    const asked = this.#asked(update);
    return asked instanceof Promise
      ? asked.then((later) => later && this.#found(update, run, later))
      : asked && this.#found(update, run, asked);
  }

  get #commands(): readonly Command[] {
    return this.#known ??= [...this.#tree.commands, ...this.builtIns];
  }

  #found(update: Update, run: Run, { name, rest, isAddressed, pills }: Asked): Soon<Found | undefined> {
    const commands = this.#commands;
    const chosen = typeof rest === "string" ? chosenOf(commands, { name, rest }) : undefined;
    const command = chosen?.command ?? commands.find(({ names }) => names.includes(name));
    if (command === undefined) {
      if (commands.some((each) => !each.isHidden && isPartOf(each, name))) {
        return { command: HELP, given: { args: { command: name } } };
      }
      if (this.#kit.behaviour.unknownCommands !== "answer" || !isAddressed) return undefined;
      return { command: UNKNOWN, given: { args: { name } } };
    }
    const given = chosen?.rest ?? rest;
    // What only begins like a command is none, nor is a command of several words with a typing error.
    const takesWords = isAddressed && command.parameters.length === 0 && given !== "" &&
      !commands.some((each) => goesOnFrom(each, command));
    const isInClear = command.isEncryptedOnly && update.encryption === undefined;
    const said = { rest: given, pills, takesWords, isInClear };
    if (run.isReplaying || (command.access === "everybody" && command.powerLevel === -Infinity)) {
      return withArguments(command, said);
    }
    const mayUse = mayBeUsed(command, this.#kit.access, new Context(this.#kit, run, update));
    return mayUse.then((may) => may ? withArguments(command, said) : undefined);
  }

  /** Finds what a message asks for: after the prefix, a mention of the bot, or in a direct chat. */
  #asked(update: Update): Soon<Asked | undefined> {
    const { client, prefix } = this.#kit;
    const { formatted_body: html } = update.event.content as { formatted_body?: unknown };
    const said = update.read?.text ?? "";
    const pills = typeof html === "string" ? new PillText(said, html, client.mxid) : NO_PILLS;
    const text = pills === NO_PILLS ? said : pills.marked;
    if (text.startsWith(prefix)) {
      const invocation = /^\s/.test(text.slice(prefix.length))
        ? undefined
        : invocationOf(text.slice(prefix.length));
      if (invocation !== undefined) return { ...invocation, isAddressed: true, pills };
    }
    const { mxid } = client;
    const mentioned = (update.event.content as { "m.mentions"?: { user_ids?: unknown } })["m.mentions"]
      ?.user_ids;
    if (mxid !== "" && (text.includes(mxid) || (Array.isArray(mentioned) && mentioned.includes(mxid)))) {
      return this.#mentioning({ text, pills }, mxid, update.room);
    }
    const bare = invocationOf(text);
    return bare === undefined || chosenOf(this.#commands, bare) === undefined
      ? undefined
      : this.#isDirect(update.room).then((isDirect) =>
        isDirect ? { ...bare, isAddressed: false, pills } : undefined
      );
  }

  async #mentioning(
    { text, pills }: { readonly text: string; readonly pills: PillText },
    mxid: UserID,
    room: RoomID,
  ): Promise<Asked | undefined> {
    const { client, prefix } = this.#kit;
    const member = await client.stateStore.getMember(room, mxid);
    const rest = withoutName(text, mxid, member?.displayname ?? undefined);
    const invocation = rest === undefined
      ? undefined
      : invocationOf(rest.startsWith(prefix) ? rest.slice(prefix.length) : rest);
    const isKnown = invocation !== undefined &&
      this.#commands.some((each) => isPartOf(each, invocation.name));
    return isKnown ? { ...invocation, isAddressed: true, pills } : undefined;
  }

  /** Returns whether nobody is in a room but the bot and one user. */
  async #isDirect(room: RoomID): Promise<boolean> {
    const members = await this.#kit.client.stateStore.getMembers(room, ["join", "invite"]);
    return members.size === 2;
  }
}

/** Returns whether the sender of a message may use a command. */
async function mayBeUsed({ access, powerLevel }: Command, rules: Access, c: Context): Promise<boolean> {
  const { sender, roomId } = c;
  if (!await rules.hasPowerLevel(sender, roomId, powerLevel)) return false;
  if (typeof access === "function") return await access(platform.inScope(c));
  return access === "everybody" || await rules.isAdmin(sender, roomId);
}

/** What was said behind the name of a command. */
interface Said extends Pick<Asked, "rest" | "pills"> {
  readonly takesWords: boolean;
  /** Whether it came in clear, and the command is taken only encrypted. */
  readonly isInClear: boolean;
}

function withArguments(command: Command, { rest, pills, takesWords, isInClear }: Said): Soon<Found> {
  if (isInClear) return { command: IN_CLEAR, given: { args: { name: command.name } } };
  const given = argumentsOf(command, rest, pills, { takesWords });
  return given instanceof Promise ? given.then((later) => ({ command, given: later })) : { command, given };
}

function builtIn(name: string, usage: string, description: string): Command {
  const parameters = usage === "" ? [] : [{ name: usage.slice(1, -1), isRequired: false, isRest: true }];
  return {
    ...{ name, names: [name], usage, description, parameters },
    ...{
      schemas: {},
      access: "everybody",
      powerLevel: -Infinity,
      isEncryptedOnly: false,
      isHidden: false,
      isBuiltIn: true,
    },
  };
}

/** `help`. */
const HELP = builtIn("help", "[command]", "Says what I can do");
/** `cancel`. */
export const CANCEL = builtIn("cancel", "", "Ends what I asked you");
/** Stands for a command that is not there. */
const UNKNOWN = builtIn("unknown", "", "");

/** Stands for a command that came in clear, and is taken only encrypted. */
const IN_CLEAR = builtIn("in clear", "", "");

/** Answers one of these: what is left to say of `cancel` when nothing was cancelled. */
export async function answerBuiltIn(
  c: Context,
  { command, given }: Found,
  { access, prefix, commands, builtIns }: {
    readonly access: Access;
    readonly prefix: string;
    readonly commands: readonly Command[];
    readonly builtIns: readonly Command[];
  },
): Promise<void> {
  const args: Readonly<Record<string, unknown>> = "args" in given && !Array.isArray(given.args)
    ? given.args
    : {};
  if (command === CANCEL) return void await c.reply("There is nothing to cancel.");
  if (command === IN_CLEAR) {
    const name = String(args.name);
    return void await c.reply(`I take ${prefix}${name} only from an encrypted message.`, { format: "plain" });
  }
  if (command === UNKNOWN) {
    const name = String(args.name).replaceAll(/[^\p{L}\p{N}_-]/gu, "").slice(0, 50);
    const hasHelp = [...commands, ...builtIns].some(({ names }) => names.includes(HELP.name));
    const advice = hasHelp ? ` Try ${prefix}help.` : "";
    return void await c.reply(`There is no command ${prefix}${name}.${advice}`, { format: "plain" });
  }
  const visible: Command[] = [];
  for (const each of commands) {
    if (await mayBeUsed(each, access, c)) visible.push(each);
  }
  const about = typeof args.command === "string" ? args.command : undefined;
  await c.reply(helpText([...visible, ...builtIns], { prefix, about }));
}

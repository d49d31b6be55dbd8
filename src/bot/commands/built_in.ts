/**
 * Commands that every bot has.
 *
 * @module
 */

import type { Context, Found } from "../context/context.ts";
import type { Command } from "./command.ts";
import { helpText } from "./help.ts";

function builtIn(name: string, usage: string, description: string): Command {
  const parameters = usage === "" ? [] : [{ name: usage.slice(1, -1), isRequired: false, isRest: true }];
  return {
    ...{ name, names: [name], usage, description, parameters },
    ...{ schemas: {}, access: "everybody", isEncryptedOnly: false, isHidden: false },
  };
}

/** `help`. */
export const HELP = builtIn("help", "[command]", "Says what I can do");
/** `cancel`. */
export const CANCEL = builtIn("cancel", "", "Ends what I asked you");
/** Stands for a command that is not there. */
export const UNKNOWN = builtIn("unknown", "", "");

/** Stands for a command that came in clear, and is taken only encrypted. */
export const IN_CLEAR = builtIn("in clear", "", "");

/** Whether a command is one of these. */
export function isBuiltIn(command: Command): boolean {
  return [HELP, CANCEL, UNKNOWN, IN_CLEAR].includes(command);
}

/** Answers one of these: what is left to say of `cancel` when nothing was cancelled. */
export async function answerBuiltIn(
  c: Context,
  { command, given }: Found,
  { prefix, commands, builtIns }: {
    readonly prefix: string;
    readonly commands: readonly Command[];
    readonly builtIns: readonly Command[];
  },
): Promise<void> {
  const args = "args" in given ? given.args : {};
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
    const { access } = each;
    const mayUse = access === "everybody" ||
      (access === "admins" ? await c.isAdmin(c.sender) : await access(c));
    if (mayUse) visible.push(each);
  }
  const about = typeof args.command === "string" ? args.command : undefined;
  await c.reply(helpText([...visible, ...builtIns], { prefix, about }));
}

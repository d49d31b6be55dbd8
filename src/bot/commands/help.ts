/**
 * What `!help` says.
 *
 * @module
 */

import type { Command } from "./command.ts";

/** How a command is written. */
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
    const wanted = about.toLowerCase().slice(about.startsWith(prefix) ? prefix.length : 0);
    const command = commands.find(({ names }) => names.includes(wanted));
    if (command === undefined) return `There is no command \`${prefix}${safe(wanted)}\`.`;
    const { description, names } = command;
    const others = names.slice(1).map((each) => `\`${prefix}${each}\``);
    return [
      `\`${usageOf(command, prefix)}\``,
      description,
      others.length === 0 ? "" : `Also: ${others.join(", ")}`,
    ].filter((line) => line !== "").join("\n\n");
  }
  const lines = commands.filter(({ isHidden }) => !isHidden).map((command) =>
    `- \`${usageOf(command, prefix)}\`${command.description === "" ? "" : `: ${command.description}`}`
  );
  return lines.length === 0 ? "There are no commands." : lines.join("\n");
}

/** A name that somebody else wrote, as it can stand in Markdown. */
function safe(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}_-]/gu, "").slice(0, 50);
}

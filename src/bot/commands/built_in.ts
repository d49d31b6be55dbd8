/**
 * Commands that every bot has.
 *
 * @module
 */

import type { Command } from "./command.ts";

function builtIn(name: string, usage: string, description: string): Command {
  const parameters = usage === "" ? [] : [{ name: usage.slice(1, -1), isRequired: false, isRest: true }];
  return {
    ...{ name, names: [name], usage, description, parameters },
    ...{ schemas: {}, access: "everybody", isHidden: false },
  };
}

/** `help`. */
export const HELP = builtIn("help", "[command]", "Says what I can do");
/** `cancel`. */
export const CANCEL = builtIn("cancel", "", "Ends what I asked you");
/** Stands for a command that is not there. */
export const UNKNOWN = builtIn("unknown", "", "");

/** Whether a command is one of these. */
export function isBuiltIn(command: Command): boolean {
  return command === HELP || command === CANCEL || command === UNKNOWN;
}

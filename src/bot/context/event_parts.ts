/**
 * What an event says beside its text, of whom it mentions; and the command that it is.
 *
 * @module
 */

import { isUserId } from "../../../mod.ts";
import type { UserID } from "../../../types.ts";
import type { Arguments, Command } from "../commands/commands.ts";
import { memberOf } from "../text/mod.ts";

// What the kit alone calls of a context is named by symbols, so that no editor offers it.

/** The command that the message is. */
export const COMMAND: unique symbol = Symbol("command");
/** Calls the function of the command. */
export const CALL: unique symbol = Symbol("call");
/** Tells the user that the command has failed. */
export const SAY_FAILED: unique symbol = Symbol("sayFailed");

/** What a command was found to be. */
export interface Found {
  readonly command: Command;
  /** Its arguments, or what is wrong with them. */
  readonly given: Arguments;
  /** Whether the command was reached: no function before it took the message for itself. */
  isReached?: boolean;
  /** Whether its function has failed. */
  hasFailed?: boolean;
}

/** Reads whom a message mentions, as its sender's client says; nobody where it does not say. */
export function mentionedIn(content: object): readonly UserID[] {
  const users = memberOf(memberOf(content, "m.mentions"), "user_ids");
  return Array.isArray(users) ? users.filter(isUserId) : [];
}

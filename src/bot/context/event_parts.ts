/**
 * What an event says beside its text: of a reaction, of a file, of whom it mentions; and the command that it is.
 *
 * @module
 */

import { isEventId, isUserId } from "../../../mod.ts";
import type { EventID, UserID } from "../../../types.ts";
import type { Arguments, Command } from "../commands/commands.ts";
import { memberOf, textOf } from "../text/mod.ts";

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

/** A reaction, as {@linkcode Context.reaction} has it. */
export interface Reaction {
  /** The reaction itself, an emoji mostly. */
  readonly key: string;
  /** What somebody reacts to. */
  readonly eventId: EventID;
}

/** The file of a message, as {@linkcode Context.file} has it. */
export interface MessageFile {
  /** Its name; the text of the message if it has no name of its own. */
  readonly name: string;
  /** Its media type; undefined if the sender does not say. */
  readonly mimeType: string | undefined;
  /** Its size in bytes; undefined if the sender does not say. */
  readonly size: number | undefined;
}

/** Reads what the content of a reaction says; undefined if it is none. */
export function reactionOf(content: object): Reaction | undefined {
  const relation = memberOf(content, "m.relates_to");
  const [key, eventId] = [textOf(memberOf(relation, "key")), textOf(memberOf(relation, "event_id"))];
  return key === undefined || !isEventId(eventId) ? undefined : { key, eventId };
}

/** Reads what the content of a message says of its file; undefined if it has none. */
export function fileOf(content: object): MessageFile | undefined {
  const { url, file, filename, body, info } = content as Partial<Record<string, unknown>>;
  if (file === undefined && url === undefined) return undefined;
  const size = memberOf(info, "size");
  return {
    name: textOf(filename) ?? textOf(body) ?? "",
    mimeType: textOf(memberOf(info, "mimetype")),
    size: typeof size === "number" ? size : undefined,
  };
}

/** Reads whom a message mentions, as its sender's client says; nobody where it does not say. */
export function mentionedIn(content: object): readonly UserID[] {
  const users = memberOf(memberOf(content, "m.mentions"), "user_ids");
  return Array.isArray(users) ? users.filter(isUserId) : [];
}

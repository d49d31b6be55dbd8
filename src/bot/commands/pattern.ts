/**
 * The types of a command's arguments, read from its pattern.
 *
 * @module
 */

import type { Client } from "../../../mod.ts";
import type { EncryptionInfo, RoomID, SenderInfo, UserID } from "../../../types.ts";
import type { ArgumentType, ArgumentTypes } from "./argument_types.ts";

/** What checks an argument: a schema of any library with Standard Schema, version 1. */
export interface ArgumentSchema<Output = unknown> {
  /** The library's side of the interface. */
  readonly "~standard": ArgumentSchemaProperties<Output>;
}

/** What a schema library provides of each schema. */
export interface ArgumentSchemaProperties<Output> {
  /** The version of Standard Schema. */
  readonly version: 1;
  /** The library's name. */
  readonly vendor: string;
  /** Checks a text. */
  readonly validate: (value: unknown) => ArgumentResult<Output> | Promise<ArgumentResult<Output>>;
  /** What goes in and what comes out; for the compiler alone, there is no value at run time. */
  readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
}

/** What a schema makes of a text, or what is wrong with it. */
export type ArgumentResult<Output> = { readonly value: Output; readonly issues?: undefined } | {
  readonly issues: readonly { readonly message: string }[];
};

/** The names of the arguments that have to be there. */
export type RequiredNames<P extends string> = P extends `${string}<${infer Name}>${infer Rest}`
  ? BareName<Name> | RequiredNames<Rest>
  : never;
/** The names of the others. */
export type OptionalNames<P extends string> = P extends `${string}[${infer Name}]${infer Rest}`
  ? BareName<Name> | OptionalNames<Rest>
  : never;
/** A name without the dots of an argument that takes the rest. */
export type BareName<Name extends string> = Name extends `${infer Bare}...` ? Bare : Name;

/** What becomes of an argument by its schema or type. */
export type ArgumentValue<S, Name extends PropertyKey> = Name extends keyof S
  ? S[Name] extends ArgumentSchema<infer Output> ? Output
  : S[Name] extends ArgumentType ? ArgumentTypes[S[Name]]
  : string
  : string;

/** The names of the arguments that are flags: they are true or false, and never absent. */
export type FlagNames<P extends string, S> = {
  [Name in OptionalNames<P>]: Name extends keyof S ? S[Name] extends "flag" ? Name : never : never;
}[OptionalNames<P>];

/**
 * The arguments of a pattern, by their names: text, or what their schemas and types make of it.
 *
 * @example
 * ```ts
 * import type { Args } from "@greenroom/matrix/bot";
 *
 * const args: Args<"remind <when> [text...]"> = { when: "tomorrow" };
 * console.assert(args.text === undefined);
 * const ban: Args<"ban <user> [quiet]", { user: "user"; quiet: "flag" }> = { user: "@a:example.org", quiet: false };
 * console.assert(ban.user.startsWith("@"));
 * ```
 */
export type Args<P extends string, S = Record<never, never>> = string extends P
  ? Readonly<Record<string, string | undefined>>
  :
    & { readonly [Name in RequiredNames<P> | FlagNames<P, S>]: ArgumentValue<S, Name> }
    & { readonly [Name in Exclude<OptionalNames<P>, FlagNames<P, S>>]?: ArgumentValue<S, Name> };

/** Types of some of a pattern's arguments, or schemas of any library with Standard Schema. */
export type Schemas<P extends string> = string extends P
  ? Readonly<Record<string, ArgumentSchema | ArgumentType>>
  : { readonly [Name in RequiredNames<P> | OptionalNames<P>]?: ArgumentSchema | ArgumentType };

/** Who asks for a command, and where: a context is one. */
export interface Asking {
  /** The user who sent the command. */
  readonly sender: UserID;
  /** The room that the command was sent in. */
  readonly roomId: RoomID;
  /** How the message was encrypted, and by whom; undefined: it was not. */
  readonly encryption: EncryptionInfo | SenderInfo | undefined;
  /** The bot's client. */
  readonly client: Client;
  /** Whether a user is an admin of the bot. */
  isAdmin(userId: UserID): Promise<boolean>;
}

/** What a command is, beside its pattern. */
export interface CommandOptions<P extends string, S extends Schemas<P> = Schemas<P>> {
  /** What it does, in a few words, for `!help`. Default: nothing. */
  description?: string;
  /** Other names of the command. Default: none. */
  aliases?: readonly string[];
  /**
   * What checks arguments, and makes something else of the text: a type ({@linkcode ArgumentTypes}), or a
   * schema. What is wrong with an argument is answered, with how the command is used. Default: none, they
   * are text. A mention of a user or a room is one argument, whatever spaces the name has: its ID.
   */
  args?: S;
  /**
   * Who may use it: everybody, the bot's admins, or users that a function accepts. For others the
   * command does not exist. Default: `everybody`.
   */
  access?: "everybody" | "admins" | ((asking: Asking) => boolean | Promise<boolean>);
  /**
   * Whether it is taken only from an encrypted message, and what it asks is answered only by what
   * is encrypted. A message in clear may be the homeserver's, or an attacker's who has stolen a
   * user's token: set this for commands that can do harm. The client's `accept` says which devices
   * of users are trusted; a function for `access` finds in `encryption.senderTrust` how far.
   * Default: as the bot's `encryptedOnly`.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wipe", { access: "admins", encryptedOnly: true }, async (c) => {
   *   if (await c.confirm("Everything?")) await c.reply("Gone."); // a yes in words, encrypted
   * });
   * plugin.command("pay <whom>", {
   *   encryptedOnly: true,
   *   access: ({ encryption }) => encryption?.senderTrust === "verified",
   * }, (c) => c.reply(`Paid ${c.args.whom}`, { format: "plain" }));
   * ```
   */
  encryptedOnly?: boolean;
  /** Whether `!help` leaves it out. Default: false. */
  hidden?: boolean;
}

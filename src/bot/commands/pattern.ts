/**
 * The types of a command's arguments, read from its pattern, and those that need no schema library.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { type Client, type MatrixLink, matrixToUrl, parseMatrixLink } from "../../../mod.ts";
import type { EncryptionInfo, RoomAlias, RoomID, SenderInfo, UserID } from "../../../types.ts";
import { readDuration } from "../../base/clock.ts";
import type { Hints } from "../../errors/hints.ts";

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
/** A name without the type behind it, and the dots of an argument that takes the rest. */
export type BareName<Name extends string> = Name extends `${infer Bare}:${string}` ? Bare : WithoutDots<Name>;
/** What stands before the dots of an argument that takes the rest. */
export type WithoutDots<Text extends string> = Text extends `${infer Bare}...` ? Bare : Text;

/** The type that stands behind the name of an argument: `number` of `<n:number>`. */
export type TypeInPattern<P extends string, Name extends string> = P extends
  `${string}<${Name}:${infer Type}>${string}` ? WithoutDots<Type>
  : P extends `${string}[${Name}:${infer Type}]${string}` ? WithoutDots<Type>
  : never;
/** The types that stand in a pattern, by the names of the arguments. */
export type TypesInPattern<P extends string> = {
  readonly [
    Name in RequiredNames<P> | OptionalNames<P> as [TypeInPattern<P, Name>] extends [never] ? never : Name
  ]: TypeInPattern<P, Name>;
};

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
 * The arguments of a pattern, by their names: text, or what their types and schemas make of it. Of a pattern
 * without arguments, like `echo`, those of `args`; without, a list of the words
 * after the name; a mention is its ID.
 *
 * @example
 * ```ts
 * import type { Args } from "@greenroom/matrix/bot";
 *
 * const args: Args<"remind <when> [text...]"> = { when: "tomorrow" };
 * console.assert(args.text === undefined);
 * const ban: Args<"ban <user:user> [quiet:flag]"> = { user: "@a:example.org", quiet: false };
 * console.assert(ban.user.startsWith("@"));
 * const words: Args<"echo"> = ["Hello,", "stage!"];
 * console.assert(words.join(" ") === "Hello, stage!");
 * ```
 */
export type Args<P extends string, S = Record<never, never>> = string extends P
  ? Readonly<Record<string, string | undefined>>
  : [RequiredNames<P> | OptionalNames<P>] extends [never] ? BareArgs<S>
  : NamedArgs<P, Omit<S, keyof TypesInPattern<P>> & TypesInPattern<P>>;

/** The arguments of a pattern that names them. */
export type NamedArgs<P extends string, S> =
  & { readonly [Name in RequiredNames<P> | FlagNames<P, S>]: ArgumentValue<S, Name> }
  & { readonly [Name in Exclude<OptionalNames<P>, FlagNames<P, S>>]?: ArgumentValue<S, Name> };

/** The arguments of a pattern without any: those that are in `args` alone, else the words. */
export type BareArgs<S> = [keyof S] extends [never] ? string[]
  : string extends keyof S ? string[]
  : { readonly [Name in keyof S]: ArgumentValue<S, Name> };

/** Types of some of a pattern's arguments, or schemas of any library with Standard Schema. */
export type Schemas<P extends string> = string extends P
  ? Readonly<Record<string, ArgumentSchema | ArgumentType>>
  : [RequiredNames<P> | OptionalNames<P>] extends [never]
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
  /** Returns whether a user is an admin of the bot. */
  isAdmin(userId: UserID): Promise<boolean>;
}

/** What other libraries call options of commands, and what to write here. */
export const COMMAND_HINTS = {
  options: 'the arguments in the pattern, "add <a> <b>", and their types in args',
  help: "description",
  level: "powerLevel",
  minLevel: "powerLevel",
  minPower: "powerLevel",
  minPowerLevel: "powerLevel",
  requiredPowerLevel: "powerLevel",
  adminOnly: 'access: "admins"',
  ownerOnly: 'access: "admins"',
  admin: 'access: "admins"',
  permission: 'powerLevel, access: "admins", or a function',
  permissions: 'powerLevel, access: "admins", or a function',
  scope: "access: async (c) => (await c.client.stateStore.getMembers(c.roomId)).size === 2, or another test",
  users: "access: ({ sender }) => USERS.includes(sender)",
  rooms: "access: ({ roomId }) => ROOMS.includes(roomId)",
  cooldown: "the bot's option rateLimit, which is for all of its commands",
} as const;

/** What a command is whose arguments stand in a text, beside its name. */
export interface TextCommandOptions<A extends string> extends Omit<CommandOptions<string>, "args"> {
  /** Its arguments, as they may stand behind its name in the pattern: `"<user:user> [reason...]"`. */
  args: A;
}

/** @internal Names of other libraries, for the compiler. */
export interface CommandOptionsHints extends Hints<typeof COMMAND_HINTS> {}

/** What a command is, beside its pattern. */
export interface CommandOptions<P extends string, S extends Schemas<P> = Schemas<P>>
  extends CommandOptionsHints {
  /** What it does, in a few words, for `!help`. Default: nothing. */
  description?: string;
  /** How it is used, behind its name, for `!help`: `"2d6 + 3"`. Default: the arguments of its pattern. */
  usage?: string;
  /** Other names of the command. Default: none. */
  aliases?: readonly string[];
  /**
   * What checks arguments, and makes something else of the text: a type ({@linkcode ArgumentTypes}), or a
   * schema. What is wrong with an argument is answered, with how the command is used. Default: none, they
   * are text. A mention of a user or a room is one argument, whatever spaces the name has: its ID. If the
   * pattern has no arguments, these are all, in their order; a `text` at the end takes the rest.
   */
  args?: S;
  /**
   * Who may use it: everybody, the bot's admins, or users that a function accepts. For others the
   * command does not exist. Default: `everybody`.
   */
  access?: "everybody" | "admins" | ((asking: Asking) => boolean | Promise<boolean>);
  /**
   * The least power level in the room that a user needs, beside what `access` says.
   * For others the command does not exist. Default: none is needed.
   */
  powerLevel?: number;
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

/** What an argument becomes, by its type. */
export interface ArgumentTypes {
  /** The text, as it is written. */
  text: string;
  /** A user: a mention, a user ID, or a link to one. */
  user: UserID;
  /** A room: a mention, a room ID, an alias, or a link to one. */
  room: RoomID | RoomAlias;
  /** A number, also a negative one or one with decimals. */
  number: number;
  /**
   * A duration in milliseconds, at most ten years: `90s`, `10m`, `1h30m`, `2d`, `1w`.
   * Units are `s`, `m`, `h`, `d` and `w`, or the words that begin so (`sec`, `minutes`).
   */
  duration: number;
  /**
   * A moment: `2026-12-24`, `2026-12-24T18:00`, or with a space in quotation marks. Without an offset, as
   * in `2026-12-24T18:00+01:00`, it is in UTC.
   */
  date: Date;
  /**
   * Whether `--name` stands among the arguments, in front of the one that takes the rest of the text, or at
   * the end. Its argument has to be an optional one.
   */
  flag: boolean;
}

/** The name of a type of argument. */
export type ArgumentType = keyof ArgumentTypes;

/** How a text is read as a type, and what it has to be. */
interface Reader<Value> {
  readonly read: (text: string) => Value | undefined;
  readonly meaning: string;
}

const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}(?::\d{2})?)\s*(Z|[+-]\d{2}:\d{2})?)?$/i;

const READERS: { readonly [Type in ArgumentType]: Reader<ArgumentTypes[Type]> } = {
  text: { read: (text) => text, meaning: "text" },
  user: {
    read: (text) => {
      const id = linkOf(text)?.id;
      return id?.startsWith("@") ? id as UserID : undefined;
    },
    meaning: "a user: a mention, or an ID like @name:server.name",
  },
  room: {
    read: (text) => {
      const link = linkOf(text);
      return link === undefined || link.id.startsWith("@") || link.eventId !== undefined
        ? undefined
        : link.id as RoomID | RoomAlias;
    },
    meaning: "a room: a mention, an alias like #name:server.name, or an ID like !id",
  },
  number: {
    read: (text) => /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : undefined,
    meaning: "a number",
  },
  duration: { read: readDuration, meaning: "a duration, like 90s, 10m, 1h30m or 2d" },
  date: { read: readDate, meaning: 'a date, like 2026-12-24 or "2026-12-24 18:00"' },
  flag: { read: readFlag, meaning: "yes or no" },
};

/** Returns whether a value names a type. */
export function isArgumentType(value: unknown): value is ArgumentType {
  return typeof value === "string" && Object.hasOwn(READERS, value);
}

/** The names of all types. */
export const ARGUMENT_TYPES: readonly string[] = Object.keys(READERS);

/**
 * Reads an argument.
 *
 * @returns What it is, or what it has to be.
 */
export function readArgument(
  type: ArgumentType,
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  const { read, meaning } = READERS[type];
  const value = read(text);
  return value === undefined ? { problem: `must be ${meaning}` } : { value };
}

/** Reads a moment; undefined: it is none. */
export function readDate(text: string): Date | undefined {
  const [, day, time = "00:00", offset = "Z"] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(
    `${day}T${time.padStart(time.indexOf(":") === 1 ? time.length + 1 : 0, "0")}${offset}`,
  );
  const begin = new Date(`${day}T00:00Z`); // a day that its month does not have would become another one
  const isDay = !Number.isNaN(begin.getTime()) && begin.toISOString().startsWith(day);
  return isDay && !Number.isNaN(date.getTime()) ? date : undefined;
}

function readFlag(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(word)) return true;
  return ["false", "no", "off", "0"].includes(word) ? false : undefined;
}

/** Reads what an ID or a link leads to; none ends with a mark by which people speak to somebody. */
function linkOf(value: string): MatrixLink | undefined {
  const text = value.trim().replace(/\s{0,8}[:,;!?]{1,8}$/, "");
  try {
    const isId = /^[@#!]/.test(text);
    return parseMatrixLink(isId ? matrixToUrl({ id: text } as MatrixLink) : text); // which checks all of it
  } catch {
    return undefined;
  }
}

/**
 * The types that a command's arguments may have without a schema library.
 *
 * @module
 */

import { type MatrixLink, matrixToUrl, parseMatrixLink } from "../../../mod.ts";
import type { RoomAlias, RoomID, UserID } from "../../../types.ts";

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
   * A duration in milliseconds, at most ten years: `90s`, `10m`, `1h30m`, `2d`, `1w`. Units are `s`, `m`, `h`,
   * `d` and `w`, or the words that begin so (`sec`, `minutes`).
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

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DURATION_PART =
  /\s*(\d{1,9}(?:\.\d{1,3})?)\s*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?![a-z])/iy;
const MAX_DURATION_MS = 3650 * 86_400_000;
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

/** Whether a value names a type. */
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

function readDuration(text: string): number | undefined {
  let total = 0;
  DURATION_PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = DURATION_PART.lastIndex) {
    const [, count, unit = ""] = DURATION_PART.exec(text) ?? [];
    if (count === undefined) return undefined;
    total += Number(count) * (UNITS_MS[unit.charAt(0).toLowerCase()] ?? 0);
  }
  return text === "" || total > MAX_DURATION_MS ? undefined : Math.round(total);
}

function readDate(text: string): Date | undefined {
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

/** What an ID or a link leads to; none ends with a mark by which people speak to somebody. */
function linkOf(value: string): MatrixLink | undefined {
  const text = value.trim().replace(/\s{0,8}[:,;!?]{1,8}$/, "");
  try {
    const isId = /^[@#!]/.test(text);
    return parseMatrixLink(isId ? matrixToUrl({ id: text } as MatrixLink) : text); // which checks all of it
  } catch {
    return undefined;
  }
}

/**
 * Changes of one field in what is else as it should be.
 *
 * @module
 */

import { isJsonObject } from "../../src/types/json.ts";
import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import { put, RAW } from "./odd_values.ts";

/** The field is not there. */
export const ABSENT: unique symbol = Symbol("absent");

/** What takes the place of a field. */
export const ODD: readonly unknown[] = [
  ...[ABSENT, null, true, 0, -1, 0.5, 2 ** 53, 1.7976931348623157e308, `${RAW}1e400`, `${RAW}-0`],
  ...["", "x", "x".repeat(70_000), "NaN", "\u0000", "\ud800", "\u202e", "__proto__", "@:", OWN_USER],
  ...[[], {}, [null], [[]], { "": null }, Array.from({ length: 2_000 }, (_, index) => `@user${index}:a`)],
  `${RAW}${"[".repeat(3_000)}${"]".repeat(3_000)}`,
  put({ constructor: { prototype: 1 } }, "__proto__", { polluted: true }),
];

/** Which changes are played. */
export interface FieldsOptions {
  /** How many changes are played, spread over all. Default: all. */
  readonly count?: number;
  /** Which of them: another seed takes others. Default: 1. */
  readonly seed?: number;
}

/** The outcome. */
export interface FieldsPlayed {
  /** How many changes there are. */
  readonly all: number;
  /** How many were played, by kind. */
  readonly played: ReadonlyMap<string, number>;
  /** What went wrong, the first time. */
  readonly fault: string | undefined;
  /** How many messages the client has sent, encrypted. */
  readonly sent: number;
}

/** The places of all members, from the outside in. */
export function places(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [at, ...members.flatMap(([name, member]) => places(member, [...at, name]))];
}

/** A tree with something else in a place. */
export function changedAt(value: unknown, [name, ...rest]: readonly string[], odd: unknown): unknown {
  if (name === undefined) return odd;
  if (Array.isArray(value)) return value.with(Number(name), changedAt(value[Number(name)], rest, odd));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([each]) => each !== name);
  const member = changedAt(value[name], rest, odd);
  const copy: Record<string, unknown> = Object.fromEntries(members);
  return member === ABSENT ? copy : put(copy, name, member);
}

/**
 * The survivors that no test can kill, and why.
 *
 * @module
 */

import type { Mutant } from "./types.ts";

/** Why mutants survive, by reason: a list of their keys each. */
export type Accepted = Readonly<Record<string, readonly string[]>>;

/** Why mutants survive, by their keys. */
export async function readAccepted(): Promise<ReadonlyMap<string, string>> {
  const text = await Deno.readTextFile(new URL("accepted.json", import.meta.url));
  const accepted: Accepted = JSON.parse(text);
  return new Map(Object.entries(accepted).flatMap(([reason, keys]) => keys.map((key) => [key, reason])));
}

/** The keys of accepted survivors that are not there any more. */
export function stale(accepted: ReadonlyMap<string, string>, mutants: readonly Mutant[]): readonly string[] {
  const there = new Set(mutants.map(({ key }) => key));
  return [...accepted.keys()].filter((key) => !there.has(key));
}

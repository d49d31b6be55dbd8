/**
 * A ratchet: how far each top folder of `src/` is from folders with doors. The numbers in
 * `ratchet.json` may only go down.
 *
 * @module
 */

import type { Violation } from "./types.ts";

/** What is counted of a top folder, or of several together. */
export interface Debts {
  /** Imports of its files that reach past the door of a folder. */
  pastDoors: number;
  /** Its folders that import values from each other in a cycle. */
  inCycles: number;
  /** Its files that belong into the one file that imports them. */
  lonely: number;
}

/** What each number is called, and how it is lowered. */
const NAMES: Record<keyof Debts, [what: string, mend: string]> = {
  pastDoors: ["imports past a door", "import the door of the folder, and export there what is needed"],
  inCycles: ["folders in a cycle", "move what both sides need below them"],
  lonely: ["small files with one importer", 'merge it, or say in its head "A file of its own because …"'],
};

/** The part of the ratchet that a file or folder belongs to. */
export function partOf(path: string, parts: readonly string[]): string {
  const top = path.split("/").slice(0, 2).join("/");
  return parts.find((part) => part.split(" ").includes(top)) ?? top;
}

/**
 * Numbers that have grown.
 *
 * @param allowed The numbers that are committed, by top folder; none means zero.
 * @param found The numbers of today.
 */
export function grown(allowed: Record<string, Debts>, found: Record<string, Debts>): Violation[] {
  return compare(allowed, found, (most, now) => now > most)
    .map(({ part, key, most, now }) =>
      `${part}: has ${now} ${NAMES[key][0]}, at most ${most}; ${NAMES[key][1]} (--list=${part.split(" ")[0]})`
    );
}

/** Numbers that may be lowered, as sentences. */
export function shrunk(allowed: Record<string, Debts>, found: Record<string, Debts>): string[] {
  return compare(allowed, found, (most, now) => now < most)
    .map(({ part, key, most, now }) =>
      `${part}: has ${now} ${NAMES[key][0]} and ${most} are allowed; lower it (--lower)`
    );
}

function compare(
  allowed: Record<string, Debts>,
  found: Record<string, Debts>,
  differs: (most: number, now: number) => boolean,
) {
  const parts = new Set([...Object.keys(allowed), ...Object.keys(found)]);
  return [...parts].toSorted().flatMap((part) =>
    (["pastDoors", "inCycles", "lonely"] as const).flatMap((key) => {
      const [most, now] = [allowed[part]?.[key] ?? 0, found[part]?.[key] ?? 0];
      return differs(most, now) ? [{ part, key, most, now }] : [];
    })
  );
}

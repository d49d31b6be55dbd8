/**
 * How long it takes from the start of a process to the first event handled, and what memory clients take that only wait.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { median } from "../support/statistics.ts";
import { type Entrant, NAMES } from "./entrants.ts";
import type { Stub } from "./stub_process.ts";
import { type Answer, takeTurn } from "./turn.ts";

const MIB = 2 ** 20;

/** Starts everybody in turn, round by round, and tables how long that took. */
export async function startTable(stub: Stub, entrants: readonly Entrant[], rounds: number): Promise<string> {
  const answers = entrants.map((): Answer[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, entrant] of entrants.entries()) {
      const token = `brief-start-${round}-${index}`;
      const answer = await takeTurn(entrant, { url: stub.url, token, what: "start" });
      if (round > 0) answers[index]?.push(answer); // the one before has filled caches
    }
  }
  const rows = entrants.map(({ name }, index) => {
    const of = (figure: (answer: Answer) => number) => (answers[index] ?? []).map(figure);
    const walls = of(({ wall }) => wall);
    return row([
      name,
      `${number(median(walls))} (${number(Math.min(...walls))})`,
      number(median(of(({ cpu = NaN }) => cpu))),
      number(median(of(({ memory }) => memory / MIB))),
    ]);
  });
  const head = ["client", "ms, median (best)", "CPU ms", "peak memory, MiB"];
  return [row(head), "|---|---:|---:|---:|", ...rows].join("\n");
}

/** Has everybody be so many clients that wait, and tables what one more takes. */
export async function idleTable(
  stub: Stub,
  entrants: readonly Entrant[],
  counts: readonly number[],
): Promise<string> {
  const rows: string[] = [];
  for (const [index, entrant] of entrants.entries()) {
    const memory: number[] = [];
    for (const clients of counts) {
      const token = `brief-idle-${index}-${clients}`;
      memory.push((await takeTurn(entrant, { url: stub.url, token, what: "idle", clients })).memory);
      for (let client = 0; client < clients; client++) await stub.forget(`${token}-${client}`);
    }
    const [one = NaN, most = NaN] = [memory[0], memory.at(-1)];
    const each = (most - one) / ((counts.at(-1) ?? NaN) - (counts[0] ?? NaN)) / 1000;
    rows.push(row([entrant.name, ...memory.map((bytes) => number(bytes / MIB)), number(each)]));
  }
  const head = ["client", ...counts.map((count) => `${count.toLocaleString("en")}, MiB`), "kB for one more"];
  return [row(head), `|---|${"---:|".repeat(counts.length + 1)}`, ...rows].join("\n");
}

/** Those whom it makes sense to start many of. */
export function forIdle(entrants: readonly Entrant[]): Entrant[] {
  return entrants.filter(({ name, playsOnly = false }) => !playsOnly && !name.endsWith(", Node"));
}

/** Those who are started. */
export function forStart(entrants: readonly Entrant[]): Entrant[] {
  return entrants.filter(({ name, playsOnly = false }) =>
    !playsOnly || name === NAMES.sqlite || name === NAMES.kv
  );
}

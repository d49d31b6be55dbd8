/**
 * Whether a sync costs more in many rooms than in few.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { median, medianRatio } from "../support/statistics.ts";
import { greenroom } from "./entrants.ts";
import { figures, playersOf, playRounds, type Standing } from "./rounds.ts";
import type { Stub } from "./stub/stub_process.ts";

/** What one of our stores came to, by numbers of rooms. */
export interface Growth {
  readonly name: string;
  readonly standings: readonly Standing[];
}

const JOB = "small";

/** Has a client with each of our stores take small syncs among so many rooms. */
export async function measureGrowth(
  { stub, sizes, rounds }: {
    readonly stub: Stub;
    readonly sizes: readonly number[];
    readonly rounds: number;
  },
  print: (line: string) => void,
): Promise<Growth[]> {
  const entrants = greenroom();
  const groups = await Promise.all(
    entrants.map(async (entrant) =>
      (await Promise.all(sizes.map((size) => playersOf(stub, `grow${size}`, [entrant])))).flat()
    ),
  );
  const standings = await playRounds({ stub, groups, rounds }, print);
  return entrants.map(({ name }, index) => ({ name, standings: standings[index] ?? [] }));
}

/** How many times as much an event costs in most rooms as in fewest. */
export function grown({ standings }: Growth, figure: "wall" | "cpu"): number {
  const [small, large] = [standings.at(0), standings.at(-1)];
  if (small === undefined || large === undefined) return NaN;
  return medianRatio(figures(large, JOB, figure), figures(small, JOB, figure));
}

/** A table of what an event costs, in microseconds. */
export function growthTable(growth: readonly Growth[], sizes: readonly number[]): string {
  const rows = growth.map((each) => {
    const cost = (figure: "wall" | "cpu") =>
      each.standings.map((standing) =>
        number(median(figures(standing, JOB, figure)) * 1_000 / eventsOf(standing))
      );
    return row([
      each.name,
      ...cost("wall"),
      number(grown(each, "wall")),
      ...cost("cpu"),
      number(grown(each, "cpu")),
    ]);
  });
  const columns = (unit: string) => sizes.map((size) => `${size.toLocaleString("en")} rooms, ${unit}`);
  const head = ["client", ...columns("µs"), "grown ×", ...columns("CPU µs"), "grown ×"];
  return [row(head), `|---|${"---:|".repeat(head.length - 1)}`, ...rows].join("\n");
}

function eventsOf({ rounds: [first = []] }: Standing): number {
  return first.find(({ job }) => job === JOB)?.events ?? NaN;
}

/**
 * What the rounds came to, as tables in Markdown.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import type { Job } from "./inputs/plan.ts";
import { figures, middle, type Standing, times } from "./rounds.ts";

const MIB = 2 ** 20;

/**
 * A table of a job: the fastest first; the first of the standings is what all are compared with.
 */
export function jobTable({ name, events }: Job, standings: readonly Standing[]): string {
  const [limit] = standings;
  const sorted = standings.toSorted((one, other) => middle(one, name, "wall") - middle(other, name, "wall"));
  const what = name === "send" ? "messages" : "events";
  const head = [
    "client",
    `${what}/s, median (worst – best)`,
    "of the limit",
    "µs each",
    "CPU µs each",
    "× limit",
    "peak memory, MiB",
    "× limit",
  ];
  const rows = sorted.map((standing) => {
    const against = (figure: "wall" | "cpu" | "memory") =>
      limit === undefined ? NaN : times(standing, limit, { job: name, figure });
    const walls = figures(standing, name, "wall");
    const speed = (wall: number) => number(events / wall * 1000);
    return row([
      standing.entrant.name,
      `${speed(middle(standing, name, "wall"))} (${speed(Math.max(...walls))} – ${
        speed(Math.min(...walls))
      })`,
      (1 / against("wall")).toFixed(2),
      number(middle(standing, name, "wall") * 1000 / events),
      number(middle(standing, name, "cpu") * 1000 / events),
      number(against("cpu")),
      number(middle(standing, name, "memory") / MIB),
      number(against("memory")),
    ]);
  });
  return [row(head), "|---|---:|---:|---:|---:|---:|---:|---:|", ...rows].join("\n");
}

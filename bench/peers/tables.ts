/**
 * What the rounds came to, as tables in Markdown.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { NAMES } from "./entrants.ts";
import type { Job, JobName } from "./plan.ts";
import { figures, middle, type Standing, times } from "./rounds.ts";

const MIB = 2 ** 20;

/** A table of a job: the fastest first. */
export function jobTable(job: Job, standings: readonly Standing[]): string {
  const limit = standings.find(({ entrant }) => entrant.name === NAMES.limit);
  const sorted = standings.toSorted((one, other) =>
    middle(one, job.name, "wall") - middle(other, job.name, "wall")
  );
  const head = [
    "client",
    "events/s, median (worst – best)",
    "of the limit",
    "ms",
    "CPU µs an event",
    "× limit",
    "peak memory, MiB",
    "× limit",
  ];
  const rows = sorted.map((standing) => {
    const name = job.name;
    const against = (figure: "wall" | "cpu" | "memory") =>
      limit === undefined ? NaN : times(standing, limit, { job: name, figure });
    const walls = figures(standing, name, "wall");
    const speed = (wall: number) => number(job.events / wall * 1000);
    return row([
      standing.entrant.name,
      `${speed(middle(standing, name, "wall"))} (${speed(Math.max(...walls))} – ${
        speed(Math.min(...walls))
      })`,
      (1 / against("wall")).toFixed(2),
      number(middle(standing, name, "wall")),
      number(middle(standing, name, "cpu") * 1000 / job.events),
      number(against("cpu")),
      number(middle(standing, name, "memory") / MIB),
      number(against("memory")),
    ]);
  });
  return [row(head), "|---|---:|---:|---:|---:|---:|---:|---:|", ...rows].join("\n");
}

/** A goal. */
interface Goal {
  readonly text: string;
  readonly job: JobName;
  readonly figure: "speed" | "memory";
  readonly one: string;
  readonly other: string;
  /** Of speeds the least, of memory the most. */
  readonly bound: number;
}

const { limit, memory, sqlite, kv, jsSdk } = NAMES;
const GOALS: readonly Goal[] = [
  { text: "1: of the limit", job: "initial", figure: "speed", one: memory, other: limit, bound: 0.75 },
  { text: "1: × matrix-js-sdk", job: "initial", figure: "speed", one: memory, other: jsSdk, bound: 8 },
  { text: "2: of the limit", job: "incremental", figure: "speed", one: memory, other: limit, bound: 0.8 },
  { text: "3: of the limit", job: "small", figure: "speed", one: memory, other: limit, bound: 0.8 },
  { text: "3, SQLite: of the limit", job: "small", figure: "speed", one: sqlite, other: limit, bound: 0.5 },
  { text: "3, Deno KV: of the limit", job: "small", figure: "speed", one: kv, other: limit, bound: 0.5 },
  {
    text: "8: peak memory after job 1, × limit",
    job: "initial",
    figure: "memory",
    one: memory,
    other: limit,
    bound: 1.5,
  },
  {
    text: "8: peak memory after all, × limit",
    job: "small",
    figure: "memory",
    one: memory,
    other: limit,
    bound: 1.5,
  },
];

/** A table of the goals, as far as those they are about took part. */
export function goalTable(standings: readonly Standing[]): string {
  const find = (name: string) => standings.find(({ entrant }) => entrant.name === name);
  const rows = GOALS.flatMap(({ text, job, figure, one, other, bound }) => {
    const [ours, theirs] = [find(one), find(other)];
    if (ours === undefined || theirs === undefined) return [];
    const wanted = figure === "speed" ? `≥ ${bound}` : `≤ ${bound}`;
    const value = (of: "wall" | "cpu" | "memory") => times(ours, theirs, { job, figure: of });
    const reached = figure === "speed" ? 1 / value("wall") : value("memory");
    const met = figure === "speed" ? reached >= bound : reached <= bound;
    const byCpu = figure === "speed" ? number(1 / value("cpu")) : "";
    return [row([text, wanted, number(reached), byCpu, met ? "met" : "**missed**"])];
  });
  return [
    row(["goal", "wanted", "on the clock", "on the processor", ""]),
    "|---|---:|---:|---:|---|",
    ...rows,
  ].join("\n");
}

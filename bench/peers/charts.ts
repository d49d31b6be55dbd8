/**
 * The charts, by the names of their files.
 *
 * @module
 */

import { barChart } from "./chart.ts";
import type { Measurements } from "./goals.ts";
import type { JobName } from "./inputs/plan.ts";
import { middle, type Standing, times } from "./rounds.ts";

const MIB = 2 ** 20;
const SYNCS: readonly JobName[] = ["initial", "incremental", "small"];
const SERIES = ["initial sync", "large syncs", "small syncs"];

/** Draws them; each says when it was measured, and the pages with the figures on what. */
export function charts({ plain, encrypted }: Measurements, label: string): Record<string, string> {
  const [note = ""] = label.split(";"); // a phone's width has room for no more
  return {
    "speed.svg": barChart({
      title: "Speed of syncing: of what fetch and JSON.parse alone reach",
      note,
      series: SERIES,
      groups: speeds(plain),
      label: percent,
      mark: 1,
    }),
    "encrypted.svg": barChart({
      title: "Speed of syncing encrypted rooms: of what vodozemac alone reaches",
      note,
      series: SERIES,
      groups: speeds(encrypted),
      label: percent,
      mark: 1,
    }),
    "memory.svg": barChart({
      title: "Peak memory: of the process in MiB, after each job",
      note,
      series: SERIES,
      groups: plain.map((standing) => ({
        name: standing.entrant.name,
        values: SYNCS.map((job) => middle(standing, job, "memory") / MIB),
      })),
      label: (value) => String(Math.round(value)),
    }),
  };
}

function percent(value: number): string {
  return `${Math.round(100 * value)} %`;
}

/** Everybody's but the limit's, which is the first. */
function speeds([limit, ...others]: readonly Standing[]) {
  if (limit === undefined) return [];
  return others.map((standing) => ({
    name: standing.entrant.name,
    values: SYNCS.map((job) => 1 / times(standing, limit, { job, figure: "wall" })),
  }));
}

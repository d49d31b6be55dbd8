/**
 * All tables, in one text.
 *
 * @module
 */

import { NAMES as ENGINES } from "../crypto/encryption.ts";
import { table } from "../crypto/report.ts";
import { number, row } from "../support/markdown.ts";
import { NAMES } from "./entrants.ts";
import { goalTable, type Measurements } from "./goals.ts";
import { growthTable } from "./growth.ts";
import type { Job } from "./inputs/plan.ts";
import { LATENCY_CELLS } from "./latency.ts";
import { type Figure, figures, middle, type Standing, times } from "./rounds.ts";
import { idleTable, startTable } from "./start_and_idle.ts";

/** The text of `RESULTS.md`. */
export function report(
  measurements: Measurements,
  { head, goals }: { readonly head: readonly string[]; readonly goals: boolean },
): string {
  const { jobs, plain, encryptedJobs, encrypted, encryption, starts, encryptedStarts } = measurements;
  const { idle, clients, growth, rooms, bundles, stores, latency } = measurements;
  const against = [...encryption.against.values()];
  const startOfLimit = starts.find(({ name }) => name === NAMES.limit);
  const grown = [...encryption.growth].flatMap(([name, outcomes]) => [
    `${name}, encrypted, the engine alone:`,
    table(outcomes, { heading: "rooms, devices, sessions", base: "10" }),
  ]);
  const sections = [
    "# Side by side",
    head.join("\n"),
    ...goals ? ["## Goals", goalTable(measurements)] : [],
    ...jobs.flatMap((job) => section(job, plain)),
    ...encryptedJobs.flatMap((job) => section(job, encrypted)),
    ...against.length === 0 ? [] : [
      "## 4, 5, 6: the engine alone, without HTTP",
      table(against, { heading: "contestant", base: ENGINES.raw }),
    ],
    "## 7: from the start of the process to the first event handled",
    'Of Greenroom there are its sources, as this repository has them; "bundled", a program with them in a ' +
    'bundle; and "as published", the package as a bot gets it from JSR.',
    startTable(starts, startOfLimit),
    "The same with an event that must be decrypted, by a device that has the key in its store:",
    startTable(encryptedStarts, startOfLimit),
    "Everything in one file, minified, with what it imports, and the WebAssembly that it loads:",
    bundles,
    "## 8: memory of a process whose clients wait",
    idleTable(idle, clients),
    "## 9: growth",
    "An event of a small sync, among so many rooms of two members each:",
    growthTable(growth, rooms),
    ...grown,
    "## 10: what a message costs a store",
    "Counted, not timed: of a bot with a handler that changes a session; one that it sends comes back to it.",
    stores,
    "## 11: from a message on the wire to its answer on the wire",
    `In fifty rooms, by messages a second. ${LATENCY_CELLS} Who has not answered all of a rate five seconds ` +
    "after the last begins to queue there.",
    latency.plain,
    "The same in encrypted rooms:",
    latency.encrypted,
  ];
  return sections.join("\n\n") + "\n";
}

function section(job: Job, standings: readonly Standing[]): string[] {
  return [`## ${job.title}`, jobTable(job, standings)];
}

const MIB = 2 ** 20;

/**
 * A table of a job: the fastest first; the first of the standings is what all are compared with.
 */
function jobTable({ name, events }: Job, standings: readonly Standing[]): string {
  const [limit] = standings;
  const against = (standing: Standing, figure: Figure) =>
    limit === undefined ? NaN : times(standing, limit, { job: name, figure });
  const sorted = standings.toSorted((one, other) => against(one, "wall") - against(other, "wall"));
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
    const walls = figures(standing, name, "wall");
    const speed = (wall: number) => number(events / wall * 1000);
    return row([
      standing.entrant.name,
      `${speed(middle(standing, name, "wall"))} (${speed(Math.max(...walls))} – ${
        speed(Math.min(...walls))
      })`,
      (1 / against(standing, "wall")).toFixed(2),
      number(middle(standing, name, "wall") * 1000 / events),
      number(middle(standing, name, "cpu") * 1000 / events),
      number(against(standing, "cpu")),
      number(middle(standing, name, "memory") / MIB),
      number(against(standing, "memory")),
    ]);
  });
  return [row(head), "|---|---:|---:|---:|---:|---:|---:|---:|", ...rows].join("\n");
}

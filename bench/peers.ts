/**
 * What syncing costs, against others and against the limit: `deno task bench:peers [--rounds=5] [--quick] [--own] [--write]`.
 *
 * Each contestant is a process of its own, and they take turns: a round is one turn of each, and ratios are taken within a round.
 * A contestant that can't be installed is left out, with a line that says so; with `CI=true` it is an error. `--quick` only shows
 * that everything runs; `--own` leaves others out; `--write` keeps the tables in `bench/RESULTS.md`, and two charts beside it.
 *
 * @module
 */

import { circumstances } from "./support/circumstances.ts";
import { barChart } from "./peers/chart.ts";
import { bundleSizes } from "./peers/bundle_sizes.ts";
import { encryptedStartTable } from "./peers/encrypted_start.ts";
import { type Entrant, entrants as findEntrants, NAMES } from "./peers/entrants.ts";
import type { Job } from "./peers/plan.ts";
import { middle, playRounds, type Standing, times } from "./peers/rounds.ts";
import { forIdle, forStart, idleTable, startTable } from "./peers/start_and_idle.ts";
import { Stub } from "./peers/stub_process.ts";
import { goalTable, jobTable } from "./peers/tables.ts";
import { peerVersions } from "./peers/versions.ts";

const HERE = import.meta.dirname ?? ".";
const QUICK = Deno.args.includes("--quick");
const ROUNDS = Number(Deno.args.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? (QUICK ? 1 : 5));
const STARTS = QUICK ? 1 : 9;
const CLIENTS = QUICK ? [1, 20] : [1, 10, 100, 1_000];
const MIB = 2 ** 20;

const encoder = new TextEncoder();

function say(line: string): void {
  Deno.stdout.writeSync(encoder.encode(line + "\n"));
}

/** The charts, by the names of their files. */
function charts(jobs: readonly Job[], standings: readonly Standing[]): Record<string, string> {
  const limit = standings.find(({ entrant }) => entrant.name === NAMES.limit);
  if (limit === undefined) return {};
  const series = ["initial sync", "large syncs", "small syncs"];
  return {
    "speed.svg": barChart({
      title: "Events per second, of what fetch and JSON.parse alone reach",
      series,
      groups: standings.filter((standing) => standing !== limit).map((standing) => ({
        name: standing.entrant.name,
        values: jobs.map(({ name: job }) => 1 / times(standing, limit, { job, figure: "wall" })),
      })),
      label: (value) => `${Math.round(100 * value)} %`,
      mark: 1,
    }),
    "memory.svg": barChart({
      title: "Peak memory of the process in MiB, after each job",
      series,
      groups: standings.map((standing) => ({
        name: standing.entrant.name,
        values: jobs.map(({ name }) => middle(standing, name, "memory") / MIB),
      })),
      label: (value) => String(Math.round(value)),
    }),
  };
}

async function others(stub: Stub, entrants: readonly Entrant[]): Promise<string[]> {
  const started = await startTable(stub, forStart(entrants), STARTS);
  say("measured: start");
  const encrypted = await encryptedStartTable(STARTS);
  say("measured: encrypted start");
  const idle = await idleTable(stub, forIdle(entrants), CLIENTS);
  say("measured: idle clients");
  return [
    "## 7: from the start of the process to the first event handled",
    started,
    "The same with an event that must be decrypted, by a device that has the key in its store:",
    encrypted,
    "Everything in one file, minified, with what it imports:",
    await bundleSizes(),
    "## 8: memory of a process whose clients wait",
    idle,
  ];
}

if (import.meta.main) {
  const entrants = await findEntrants(say);
  await using stub = await Stub.start(QUICK ? ["--quick"] : []);
  const jobs = await stub.jobs();
  const standings = await playRounds({ stub, jobs, entrants, rounds: ROUNDS }, say);
  const tables = jobs.flatMap((job) => [`## ${job.title}`, jobTable(job, standings)]);
  const sections = [...tables, ...await others(stub, entrants)];
  // Where everything is cold and small, there is nothing to be learnt.
  if (!QUICK) sections.push("## Goals", goalTable(standings));
  const head = [
    ...await circumstances(["src", "mod.ts", "vodozemac-wasm", "bench/peers"]),
    `- ${await peerVersions()}`,
    `- ${ROUNDS} rounds, ${STARTS} starts`,
  ];
  const text = ["# Side by side", head.join("\n"), ...sections].join("\n\n") + "\n";
  say(text);
  if (Deno.args.includes("--write")) {
    await Deno.writeTextFile(`${HERE}/RESULTS.md`, text);
    for (const [name, svg] of Object.entries(charts(jobs, standings))) {
      await Deno.writeTextFile(`${HERE}/${name}`, svg);
    }
  }
}

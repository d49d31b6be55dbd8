/**
 * Rounds of jobs that contestants do in step, and what they came to.
 *
 * @module
 */

import { median, medianRatio } from "../support/statistics.ts";
import type { Entrant } from "./entrants.ts";
import type { Job, JobName, PlanName } from "./inputs/plan.ts";
import type { Stub } from "./stub/stub_process.ts";
import { type Played, takeTurn } from "./turn.ts";

/** What a contestant needed for each job, by rounds. */
export interface Standing {
  readonly entrant: Entrant;
  readonly rounds: readonly (readonly Played[])[];
  /** What the limit needed in the same rounds. Default: there was none. */
  readonly beside?: Standing;
}

/** What can be said of a job. */
export type Figure = "wall" | "cpu" | "memory";

/** A contestant with its plan. */
export interface Player {
  readonly entrant: Entrant;
  readonly plan: PlanName;
  readonly jobs: readonly Job[];
}

/** Gives each contestant a plan. */
export async function playersOf(
  stub: Stub,
  plan: PlanName,
  entrants: readonly Entrant[],
): Promise<Player[]> {
  const jobs = await stub.jobs(plan);
  return entrants.map((entrant) => ({ entrant, plan, jobs }));
}

/**
 * Plays rounds, in each of which the players of a group do all their jobs in step: whatever else the machine
 * does meets all of them within milliseconds. Each is a process that was just started, so that no round is
 * hot already. Time on the clock is that from a response to the next request.
 *
 * @returns Of each group, what its players came to.
 * @throws If a contestant did not do a job: counted too few events or too many, or asked for other
 * responses than all, each once.
 */
export async function playRounds(
  { stub, groups, rounds }: {
    readonly stub: Stub;
    readonly groups: readonly (readonly Player[])[];
    readonly rounds: number;
  },
  print: (line: string) => void = () => {},
): Promise<Standing[][]> {
  const standings = groups.map((group) =>
    group.map(({ entrant }) => ({ entrant, rounds: [] as Played[][] }))
  );
  for (let round = 0; round < rounds; round++) {
    for (const [index, group] of groups.entries()) {
      const played = await playInStep(stub, group);
      played.forEach((results, player) => standings[index]?.[player]?.rounds.push(results));
    }
    print(`round ${round + 1} of ${rounds} is over`);
  }
  return standings;
}

async function playInStep(stub: Stub, group: readonly Player[]): Promise<Played[][]> {
  const ending = `${stub.newGroup()}of${group.length}`;
  const failed = new AbortController();
  return await Promise.all(group.map(async ({ entrant, plan, jobs }, index) => {
    const token = `${plan}-${index}-${ending}`;
    try {
      const { results = [] } = await takeTurn(entrant, { url: stub.url, token, signal: failed.signal });
      check(entrant, jobs, results);
      const worked = await stub.forget(token);
      return results.map((result, job) => ({ ...result, wall: worked[job] ?? NaN }));
    } catch (error) {
      failed.abort(error); // else the others wait for it
      throw error;
    }
  }));
}

function check({ name }: Entrant, jobs: readonly Job[], results: readonly Played[]): void {
  for (const [index, job] of jobs.entries()) {
    const { events, syncs } = results[index] ?? { events: 0, syncs: 0 };
    if (events === job.events && syncs === job.syncs) continue;
    const did = `${events} events of ${syncs} responses or requests, not ${job.events} of ${job.syncs}`;
    throw new Error(`Cannot compare ${name}: of the job "${job.name}" it has counted ${did}`);
  }
}

/** A figure of a job in each round that had it. */
export function figures({ rounds }: Standing, job: JobName, figure: Figure): number[] {
  return rounds.flatMap((results) => results.filter((each) => each.job === job).map((each) => each[figure]));
}

/** What it came to: the median of the rounds. */
export function middle(standing: Standing, job: JobName, figure: Figure): number {
  return median(figures(standing, job, figure));
}

/**
 * The ratio of a contestant's figure to that of `base`: the median of the rounds. Of two that did not keep
 * step with each other, that of their ratios to the limit.
 */
export function times(
  standing: Standing,
  base: Standing,
  what: { readonly job: JobName; readonly figure: Figure },
): number {
  const ofLimit = (each: Standing) => each.beside === undefined ? NaN : ratio(each, each.beside, what);
  return standing.beside === undefined ? ratio(standing, base, what) : ofLimit(standing) / ofLimit(base);
}

function ratio(
  one: Standing,
  other: Standing,
  { job, figure }: { readonly job: JobName; readonly figure: Figure },
): number {
  return medianRatio(figures(one, job, figure), figures(other, job, figure));
}

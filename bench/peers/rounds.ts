/**
 * Rounds: every contestant takes its turn, so that whatever else the machine does meets all of
 * them.
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
 * Plays rounds, each begun by another contestant. In a process that was just started all jobs are
 * done, so that no round is hot already.
 *
 * @throws If a contestant did not do a job: counted too few events or too many, or asked for other
 * responses than all, each once.
 */
export async function playRounds(
  { stub, players, rounds }: {
    readonly stub: Stub;
    readonly players: readonly Player[];
    readonly rounds: number;
  },
  print: (line: string) => void,
): Promise<Standing[]> {
  const standings = players.map((player) => ({ player, entrant: player.entrant, rounds: [] as Played[][] }));
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < standings.length; index++) {
      const standing = standings[(round + index) % standings.length];
      if (standing === undefined) continue;
      const { entrant, plan, jobs } = standing.player;
      const token = `${plan}-${round}-${index}`;
      const { results = [] } = await takeTurn(entrant, { url: stub.url, token });
      await stub.forget(token);
      check(entrant, jobs, results);
      standing.rounds.push([...results]);
    }
    print(`round ${round + 1} of ${rounds} is over`);
  }
  return standings;
}

function check({ name }: Entrant, jobs: readonly Job[], results: readonly Played[]): void {
  for (const [index, job] of jobs.entries()) {
    const { events, syncs } = results[index] ?? { events: 0, syncs: 0 };
    if (events === job.events && syncs === job.syncs) continue;
    const did = `${events} events of ${syncs} responses or requests, not ${job.events} of ${job.syncs}`;
    throw new Error(`Cannot compare ${name}: of the job "${job.name}" it has counted ${did}`);
  }
}

/** A figure of a job in each round. */
export function figures({ rounds }: Standing, job: JobName, figure: Figure): number[] {
  return rounds.map((results) => results.find((each) => each.job === job)?.[figure] ?? NaN);
}

/** What it came to: the median of the rounds. */
export function middle(standing: Standing, job: JobName, figure: Figure): number {
  return median(figures(standing, job, figure));
}

/** The ratio of a contestant's figure to that of `base`: the median of the rounds. */
export function times(
  standing: Standing,
  base: Standing,
  { job, figure }: { job: JobName; figure: Figure },
): number {
  return medianRatio(figures(standing, job, figure), figures(base, job, figure));
}

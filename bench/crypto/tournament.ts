/**
 * Rounds: every contestant does a job in turn, so that whatever else the machine does meets all of
 * them.
 *
 * @module
 */

import { median, medianRatio } from "../support/statistics.ts";
import type { Contestant, ContestantOrder } from "./contestant.ts";
import type { Measured } from "./job.ts";

/** A job, and what is said of it. */
export interface TournamentJob extends ContestantOrder {
  /** What one operation is. */
  readonly title: string;
  /** How many samples each contestant gives in a round; a round counts as their median. */
  readonly samples: number;
}

/** What a contestant has needed, by rounds, in microseconds of one operation. */
export interface Standing {
  readonly name: string;
  readonly rounds: readonly Measured[];
}

/** A job's outcome, for those contestants who know the job. */
export interface Outcome {
  readonly title: string;
  readonly standings: readonly Standing[];
}

/**
 * Plays rounds of a job, and one before them that does not count: what is hot is compiled, files
 * are made.
 */
export async function play(
  contestants: readonly Contestant[],
  job: TournamentJob,
  rounds: number,
): Promise<Outcome> {
  const standings = contestants.map(({ name }): { name: string; rounds: Measured[] } => ({
    name,
    rounds: [],
  }));
  for (let round = -1; round < rounds; round++) {
    for (const [index, contestant] of contestants.entries()) {
      const samples: Measured[] = [];
      for (let sample = 0; sample < job.samples; sample++) {
        const measured = await contestant.measure(job);
        if (measured === undefined) break;
        samples.push(measured);
      }
      if (round < 0 || samples.length === 0) continue;
      const wall = median(samples.map((measured) => measured.wall));
      standings[index]?.rounds.push({ wall, cpu: median(samples.map(({ cpu }) => cpu)) });
    }
  }
  return { title: job.title, standings: standings.filter((standing) => standing.rounds.length > 0) };
}

/** The ratio of a contestant's time to that of `base`: the median of the rounds. */
export function ratio(standing: Standing, base: Standing, of: keyof Measured): number {
  return medianRatio(standing.rounds.map((round) => round[of]), base.rounds.map((round) => round[of]));
}

/**
 * A run: workloads are recorded, the power is cut, and what that leaves is judged.
 *
 * @module
 */

import { seeded } from "../kill/random.ts";
import { Recorder } from "./recorder.ts";
import { Trial, type TrialResult } from "./trial.ts";
import { WORKLOADS } from "./workloads.ts";

/** What a run is to do. */
export interface DiskRun {
  /** How many states to open, about. */
  readonly states: number;
  readonly seed: number;
  /** Only this store. */
  readonly store?: string;
  readonly print: (line: string) => void;
}

/** Runs the workloads. */
export async function diskRun({ states, seed, store, print }: DiskRun): Promise<TrialResult[]> {
  const place = await memoryFolder();
  try {
    const recorder = await Recorder.make(place);
    const results: TrialResult[] = [];
    const workloads = WORKLOADS.filter(({ kind }) => store === undefined || kind === store);
    const shares = workloads.reduce((sum, { share }) => sum + share, 0);
    for (const [index, workload] of workloads.entries()) {
      const random = seeded(seed * WORKLOADS.length + index);
      const trial = new Trial(recorder, { workload, place, random });
      const result = await trial.run(states * workload.share / shares);
      results.push(result);
      const { states: opened, problems } = result.counts;
      print(`${workload.kind}, ${workload.name}: ${opened} states opened, ${problems} problems`);
    }
    return results;
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

/** All states of a run in turn are written there, so it is best in memory. */
async function memoryFolder(): Promise<string> {
  const prefix = "greenroom-disk-";
  try {
    return await Deno.makeTempDir({ prefix, dir: "/dev/shm" });
  } catch {
    return await Deno.makeTempDir({ prefix });
  }
}

/**
 * Records a workload and examines it; then goes on from some of the states, and examines that too.
 *
 * @module
 */

import type { Random } from "../kill/random.ts";
import type { Files } from "./disk.ts";
import { type Examination, examine, type Findings, type Problem } from "./examine.ts";
import { judge } from "./judge.ts";
import type { Recorder, Workload } from "./recorder.ts";
import type { Recording } from "./recording.ts";
import { Expected } from "./rounds.ts";
import { DATABASE } from "./store_kind.ts";
import { AFTER_A_CUT } from "./workloads.ts";

/** What a workload came to. */
export interface TrialResult {
  readonly counts: {
    readonly store: string;
    readonly workload: string;
    /** How many calls were recorded. */
    readonly calls: number;
    /** After how many of them the power was cut. */
    readonly cuts: number;
    /** How many different states were opened. */
    readonly states: number;
    /** How many of them had a commit that was not acknowledged yet. */
    readonly ahead: number;
    readonly problems: number;
    /**
     * How many states were opened until a problem was found in a recording from which the syncs of
     * the log, the database or the folder were left out.
     */
    readonly unsynced: string;
  };
  readonly problems: readonly Problem[];
  /** Whether the judge found nothing although syncs were left out. */
  readonly isBlind: boolean;
}

/** What part of the states come after a second power cut. */
const SECOND = 0.3;

const LOG = `${DATABASE}-wal`;

/** The files whose syncs are left out, to see that the judge finds it. */
const SYNCED: readonly string[] = [LOG, DATABASE, "the folder"];

/** How many states are opened at most until it has. */
const ENOUGH = 100;

/** What a trial needs. */
interface TrialParts {
  readonly workload: Workload;
  /** Where folders are made. */
  readonly place: string;
  readonly random: Random;
}

/** The trial of a workload. */
export class Trial {
  readonly #recorder: Recorder;
  readonly #parts: TrialParts;
  readonly #expected: Expected;

  constructor(recorder: Recorder, parts: TrialParts) {
    this.#recorder = recorder;
    this.#parts = parts;
    this.#expected = new Expected(parts.workload.plan);
  }

  /**
   * Runs it.
   *
   * @param states How many states to open, about.
   */
  async run(states: number): Promise<TrialResult> {
    const { workload } = this.#parts;
    const first = await this.#recorder.record(workload, new Map());
    const found = [await this.#examine(first, { round: 0, states: states * (1 - SECOND) })];
    let calls = callsOf(first);
    const { sound = [] } = found[0] ?? {};
    for (const { files, round } of sound) {
      const next = await this.#recorder.record({ ...workload, steps: AFTER_A_CUT }, files);
      calls += callsOf(next);
      found.push(await this.#examine(next, { round, states: states * SECOND / sound.length }));
    }
    // Deno itself panics at a damaged database of Deno KV.
    const unsynced = workload.kind === "kv" ? [] : await this.#unsynced(first);
    const sum = (count: (findings: Findings) => number) => found.reduce((all, each) => all + count(each), 0);
    const problems = found.flatMap((each) => each.problems);
    return {
      counts: {
        store: workload.kind,
        workload: workload.name,
        calls,
        cuts: sum(({ places }) => places),
        states: sum(({ states }) => states),
        ahead: sum(({ ahead }) => ahead),
        problems: problems.length,
        unsynced: unsynced.map((opened) => opened ?? "none").join(", "),
      },
      problems,
      isBlind: unsynced.includes(undefined),
    };
  }

  /** How many states show that a file was not synced; `undefined`: none does. */
  async #unsynced(recording: Recording): Promise<(number | undefined)[]> {
    const counts: (number | undefined)[] = [];
    for (const name of SYNCED) {
      const { problems, states } = await this.#examine(without(recording, name), {
        round: 0,
        states: ENOUGH,
        first: true,
      });
      counts.push(problems.length > 0 ? states : undefined);
    }
    return counts;
  }

  async #examine(
    recording: Recording,
    extent: Pick<Examination, "round" | "states" | "first">,
  ): Promise<Findings> {
    const { workload: { kind, plan }, place, random } = this.#parts;
    const expected = this.#expected;
    const judged = (files: Files) => judge(files, { kind, plan, expected, place });
    return await examine({ recording, ...extent, random, judge: judged });
  }
}

function callsOf({ events }: Recording): number {
  return events.filter(({ type }) => type !== "mark").length;
}

/** A recording as it would be if a file was never synced. */
function without(recording: Recording, name: string): Recording {
  const { names } = recording;
  const events = recording.events.map((event) =>
    event.type === "sync" && names[event.file] === name ? { ...event, since: 0 } : event
  );
  return { ...recording, events };
}

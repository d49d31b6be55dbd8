/**
 * Tries mutants with the tests of some folders: each with those that reach it, one process beside
 * the other.
 *
 * @module
 */

import { type Outcome, TestProcess } from "./test_process.ts";
import type { Tree } from "./tree.ts";
import type { Mutant, TestRun, Verdict } from "./types.ts";

/** Test files that end the instance of vodozemac that all files in a process share. */
const ALONE = ["tests/crypto/engine/engine_test.ts", "vodozemac-wasm/tests/engine_test.ts"];

/** How many tests are tried with each mutant, however long they take. */
const AT_LEAST = 3;

/** How many tests are remembered that noticed other mutants of a file. */
const SHARP = 40;

/** How a stage is run. */
export interface StageOptions {
  /** How many processes at once. */
  readonly jobs: number;
  /**
   * How long the processor may work for the tests that are tried with one mutant, without it, in
   * milliseconds.
   */
  readonly budgetMs: number;
  /** The tests that failed the last time, by the mutants' keys: they are tried first. */
  readonly killers: ReadonlyMap<string, string>;
  /** Takes what became of each. */
  report(verdict: Verdict): void;
}

/** What the tests of some files did without any mutant. */
interface Baseline {
  readonly files: readonly string[];
  readonly tests: readonly TestRun[];
  /** What was reached while the tests were loaded. */
  readonly early: ReadonlySet<number>;
}

/**
 * Tries mutants with the tests of a folder, all of them in one process, but for those of which
 * others could suffer.
 *
 * @returns The tests that failed without any mutant; they are left out.
 */
export async function runStage(
  tree: Tree,
  { folder, mutants }: { readonly folder: string; readonly mutants: readonly Mutant[] },
  options: StageOptions,
): Promise<readonly TestRun[]> {
  const files = tree.tests(folder);
  const alone = files.filter((file) => ALONE.includes(file));
  const left = new Set(mutants);
  const reachedBy = new Map<Mutant, number>();
  const failed: TestRun[] = [];
  for (const group of [files.filter((file) => !alone.includes(file)), ...alone.map((file) => [file])]) {
    const baseline = await runBaseline(tree, group);
    failed.push(...baseline.tests.filter(({ error }) => error !== undefined));
    const tests = baseline.tests.filter(({ error }) => error === undefined);
    // Each of those that count while sources load takes a process of its own: they come last.
    const mutants = [...left].toSorted((a, b) =>
      Number(baseline.early.has(a.id)) - Number(baseline.early.has(b.id))
    );
    await tryAll(tree, { ...baseline, tests }, { mutants, options, judged });
  }
  for (const mutant of left) options.report({ mutant, reachedBy: reachedBy.get(mutant) ?? 0 });
  return failed;

  function judged(verdict: Verdict): void {
    const { mutant } = verdict;
    reachedBy.set(mutant, (reachedBy.get(mutant) ?? 0) + verdict.reachedBy);
    if (verdict.killer === undefined) return;
    left.delete(mutant);
    options.report(verdict);
  }
}

async function tryAll(
  tree: Tree,
  baseline: Baseline,
  { mutants, options, judged }: {
    readonly mutants: Mutant[];
    readonly options: StageOptions;
    judged(verdict: Verdict): void;
  },
): Promise<void> {
  const reaching = byReached(tree, baseline);
  const sharp = new Map<string, string[]>();
  const lane = async () => {
    await using lane = new Lane(tree, baseline, { ...options, sharp });
    for (let mutant = mutants.shift(); mutant !== undefined; mutant = mutants.shift()) {
      judged(await lane.judge(mutant, reaching(mutant)));
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, lane));
}

async function runBaseline(tree: Tree, files: readonly string[]): Promise<Baseline> {
  const { process, reached } = await TestProcess.start(tree.root, { files });
  if (process === undefined) {
    throw new Error(`Cannot load the tests of ${files[0]} and others: the process ended`);
  }
  try {
    return { files, tests: await process.baseline(), early: new Set(reached) };
  } finally {
    await process.end();
  }
}

/**
 * Who reaches a mutant; if only loading the sources does, who reaches anything in the same file.
 */
function byReached(tree: Tree, { tests, early }: Baseline): (mutant: Mutant) => readonly TestRun[] {
  const pathOf = new Map(tree.mutants.map(({ id, path }) => [id, path]));
  const byId = new Map<number, TestRun[]>();
  const byPath = new Map<string, TestRun[]>();
  for (const test of tests) {
    for (const id of test.reached) getOrMake(byId, id).push(test);
    for (const path of new Set(test.reached.map((id) => pathOf.get(id) ?? ""))) {
      getOrMake(byPath, path).push(test);
    }
  }
  return ({ id, path }) => byId.get(id) ?? (early.has(id) ? byPath.get(path) : undefined) ?? [];
}

function getOrMake<K>(lists: Map<K, TestRun[]>, key: K): TestRun[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** One process after the other. */
class Lane {
  readonly #tree: Tree;
  readonly #baseline: Baseline;
  readonly #options: StageOptions;
  /** Which tests noticed other mutants, by file, the last first; all processes know. */
  readonly #sharp: Map<string, string[]>;
  #process: TestProcess | undefined;

  constructor(
    tree: Tree,
    baseline: Baseline,
    options: StageOptions & { readonly sharp: Map<string, string[]> },
  ) {
    this.#tree = tree;
    this.#sharp = options.sharp;
    this.#baseline = baseline;
    this.#options = options;
  }

  async judge(mutant: Mutant, reaching: readonly TestRun[]): Promise<Verdict> {
    const tests = this.#inOrder(mutant, reaching);
    const survived = { mutant, reachedBy: reaching.length };
    if (tests.length === 0) return survived;
    const outcome = await this.#attemptCleanly(mutant, tests);
    if (outcome.kind === "survived") return survived;
    const killer = tests.find(({ index }) => index === outcome.killer)?.name ?? "loading the tests";
    this.#remember(mutant, killer);
    return { ...survived, killer, how: outcome.kind === "killed" ? outcome.how : "failed" };
  }

  /**
   * A test that goes on failing without the mutant counts if it also fails with it in a process in
   * which nothing was before.
   */
  async #attemptCleanly(mutant: Mutant, tests: readonly TestRun[]): Promise<Outcome> {
    const outcome = await this.#attempt(mutant, tests);
    if (outcome.kind !== "tainted") return outcome;
    await this.#end();
    const suspect = tests.filter(({ index }) => index === outcome.killer);
    const alone = await this.#attempt(mutant, suspect);
    if (alone.kind === "tainted") await this.#end();
    return alone.kind === "survived"
      ? await this.#attemptCleanly(
        mutant,
        tests.slice(tests.findIndex(({ index }) => index === outcome.killer) + 1),
      )
      : alone;
  }

  async #attempt(mutant: Mutant, tests: readonly TestRun[]): Promise<Outcome> {
    const early = tests.every(({ reached }) => !reached.includes(mutant.id));
    if (early) await this.#restart(mutant.id);
    else if (this.#process === undefined) await this.#restart(0);
    const outcome = await this.#process?.attempt(mutant.id, tests) ??
      { kind: "killed", killer: undefined, how: "memory or exit" };
    if (early || (outcome.kind === "killed" && outcome.how !== "failed")) await this.#end();
    return outcome;
  }

  /**
   * The likeliest to notice first, then those that are most about the file, as many as there is
   * time for.
   */
  #inOrder({ key, path }: Mutant, reaching: readonly TestRun[]): readonly TestRun[] {
    const first = [this.#options.killers.get(key), ...this.#sharp.get(path) ?? []];
    const rank = new Map(first.toReversed().map((name, index) => [name, -index]));
    let left = this.#options.budgetMs;
    return reaching
      .toSorted((a, b) =>
        (rank.get(a.name) ?? 1) - (rank.get(b.name) ?? 1) || this.#about(b, path) - this.#about(a, path) ||
        a.ms - b.ms
      )
      .filter(({ ms }, index) => (left -= ms) > 0 || index < AT_LEAST);
  }

  /** How much of what a test reaches is in a file. */
  #about({ reached }: TestRun, path: string): number {
    return reached.filter((id) => this.#tree.mutants[id - 1]?.path === path).length / reached.length;
  }

  #remember({ path }: Mutant, killer: string): void {
    const others = (this.#sharp.get(path) ?? []).filter((name) => name !== killer);
    this.#sharp.set(path, [killer, ...others].slice(0, SHARP));
  }

  async #restart(mutant: number): Promise<void> {
    await this.#end();
    const { files } = this.#baseline;
    this.#process = (await TestProcess.start(this.#tree.root, { files, mutant })).process;
  }

  async #end(): Promise<void> {
    await this.#process?.end();
    this.#process = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }
}

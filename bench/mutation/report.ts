/**
 * What a mutation run shows.
 *
 * @module
 */

import type { Mutant, Verdict } from "./types.ts";

/** All that a run came to. */
export interface Run {
  /** The number of guards, by file. */
  readonly guards: ReadonlyMap<string, number>;
  readonly verdicts: readonly Verdict[];
  /** Why survivors are accepted, by their keys. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Accepted survivors that are not there any more. */
  readonly stale: readonly string[];
  /** Tests that fail without any mutant. */
  readonly failing: readonly string[];
}

/** The report, in Markdown. */
export function report(run: Run): string {
  const { accepted, verdicts } = run;
  const survivors = verdicts.filter(({ killer }) => killer === undefined);
  const unexplained = survivors.filter(({ mutant }) => !accepted.has(mutant.key));
  const explained = survivors.filter(({ mutant }) => accepted.has(mutant.key));
  const byReason = Map.groupBy(explained, ({ mutant }) => accepted.get(mutant.key) ?? "");
  return [
    "# Mutation run",
    table(run),
    ...section("Survivors that nothing explains", unexplained.map(line)),
    ...section("Accepted survivors that are not there any more", run.stale.map((key) => `- \`${key}\``)),
    ...section(
      "Tests that fail without any mutant, and were left out",
      run.failing.map((name) => `- ${name}`),
    ),
    ...[...byReason].flatMap(([reason, verdicts]) => section(reason, verdicts.map(line))),
    `${unexplained.length} unexplained survivors`,
  ].join("\n\n");
}

function table({ guards, verdicts, accepted }: Run): string {
  const byPath = Map.groupBy(verdicts, ({ mutant }) => mutant.path);
  const rows = [...byPath].toSorted().map(([path, verdicts]) => row(path, guards.get(path) ?? 0, verdicts));
  const all = [...byPath.keys()].reduce((sum, path) => sum + (guards.get(path) ?? 0), 0);
  return [
    "| File | Guards | Mutants | Killed | of them by time | of them by memory | Accepted | Unexplained |",
    "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ...rows,
    row("**all**", all, verdicts),
  ].join("\n");

  function row(name: string, guardCount: number, of: readonly Verdict[]): string {
    const survived = of.filter(({ killer }) => killer === undefined);
    const explained = survived.filter(({ mutant }) => accepted.has(mutant.key)).length;
    const by = (how: Verdict["how"]) => of.filter((verdict) => verdict.how === how).length;
    const counts = [guardCount, of.length, of.length - survived.length, by("time"), by("memory or exit")];
    return `| ${[name, ...counts, explained, survived.length - explained].join(" | ")} |`;
  }
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")];
}

function line({ mutant, reachedBy }: Verdict): string {
  return `- ${describe(mutant)} (it makes a difference in ${reachedBy} tests)`;
}

function describe({ path, line, within, code, change }: Mutant): string {
  return `${path}:${line} ${within}: \`${code}\` → ${change}`;
}

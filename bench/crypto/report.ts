/**
 * Tables of outcomes, in Markdown.
 *
 * @module
 */

import type { Measured } from "./job.ts";
import { median, type Outcome, ratio, type Standing } from "./tournament.ts";

/** What a table is about. */
export interface TableOptions {
  /** The column of names. */
  readonly heading: string;
  /** Who the others are compared with; a row without it has no ratios. */
  readonly base: string;
}

/** A table of outcomes: one row for each job and contestant. */
export function table(outcomes: readonly Outcome[], { heading, base }: TableOptions): string {
  const rows = outcomes.flatMap(({ title, standings }) => {
    const first = standings.find(({ name }) => name === base);
    return standings.map((standing, index) =>
      row([
        index === 0 ? title : "",
        standing.name,
        figure(standing, "wall"),
        against(standing, first, "wall"),
        figure(standing, "cpu"),
        against(standing, first, "cpu"),
      ])
    );
  });
  const head = ["operation", heading, "µs, median (best)", `× ${base}`, "CPU µs, median (best)", `× ${base}`];
  return [row(head), "|---|---|---:|---:|---:|---:|", ...rows].join("\n");
}

/** A goal and whether it was met. */
export interface Goal {
  readonly text: string;
  /** What it came to. */
  readonly value: number | undefined;
  /** What it may come to. */
  readonly limit: number;
}

/** A table of goals. */
export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.flatMap(({ text, value, limit }) =>
    value === undefined
      ? []
      : [row([text, number(limit), number(value), value <= limit ? "met" : "**missed**"])]
  );
  return [row(["goal", "at most", "is", ""]), "|---|---:|---:|---|", ...rows].join("\n");
}

/** What somebody's rounds come to. */
export function medianOf(standing: Standing | undefined, of: keyof Measured): number | undefined {
  return standing && median(standing.rounds.map((round) => round[of]));
}

function figure({ rounds }: Standing, of: keyof Measured): string {
  const values = rounds.map((round) => round[of]);
  return `${number(median(values))} (${number(Math.min(...values))})`;
}

function against(standing: Standing, base: Standing | undefined, of: keyof Measured): string {
  return base === undefined ? "–" : number(ratio(standing, base, of));
}

function number(value: number): string {
  if (value >= 10_000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

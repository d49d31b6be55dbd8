/**
 * Tables of outcomes, in Markdown.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { median } from "../support/statistics.ts";
import type { Measured } from "./job.ts";
import { type Outcome, ratio, type Standing } from "./tournament.ts";

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
  /** The result; undefined if it was not measured. */
  readonly value: Measured | undefined;
  /** What it may come to on the clock. */
  readonly limit: number;
}

/** A table of goals. */
export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.flatMap(({ text, value, limit }) => {
    if (value === undefined) return [];
    const verdict = value.wall <= limit ? "met" : "**missed**";
    return [row([text, number(limit), number(value.wall), number(value.cpu), verdict])];
  });
  const head = ["goal", "at most", "on the clock", "on the processor", ""];
  return [row(head), "|---|---:|---:|---:|---|", ...rows].join("\n");
}

/** The median of a contestant's rounds, in microseconds of one operation. */
export function time(standing: Standing | undefined): Measured | undefined {
  if (standing === undefined) return undefined;
  return {
    wall: median(standing.rounds.map(({ wall }) => wall)),
    cpu: median(standing.rounds.map(({ cpu }) => cpu)),
  };
}

/** The ratio of the time to another contestant's. */
export function times(one: Standing | undefined, other: Standing | undefined): Measured | undefined {
  if (one === undefined || other === undefined) return undefined;
  return { wall: ratio(one, other, "wall"), cpu: ratio(one, other, "cpu") };
}

function figure({ rounds }: Standing, of: keyof Measured): string {
  const values = rounds.map((round) => round[of]);
  return `${number(median(values))} (${number(Math.min(...values))})`;
}

function against(standing: Standing, base: Standing | undefined, of: keyof Measured): string {
  return base === undefined ? "–" : number(ratio(standing, base, of));
}

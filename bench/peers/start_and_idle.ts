/**
 * How long it takes from the start of a process to the first event handled, and what memory clients
 * take that only wait.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { median } from "../support/statistics.ts";
import { type Entrant, NAMES } from "./entrants.ts";
import type { Stub } from "./stub/stub_process.ts";
import { type Answer, takeTurn } from "./turn.ts";

const MIB = 2 ** 20;

/** The starts of a contestant. */
export interface Starts {
  readonly name: string;
  readonly answers: readonly Answer[];
}

/** What a contestant needs while it is idle. */
export interface Idle {
  readonly name: string;
  /** Bytes, for each number of clients. */
  readonly memory: readonly number[];
  /** Bytes, for one client more. */
  readonly each: number;
}

/** Starts everybody in turn, round by round. */
export async function measureStarts(
  stub: Stub,
  entrants: readonly Entrant[],
  rounds: number,
): Promise<Starts[]> {
  const starts = entrants.map(({ name }) => ({ name, answers: [] as Answer[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const [index, entrant] of entrants.entries()) {
      const token = `brief-start-${round}-${index}`;
      const answer = await takeTurn(entrant, { url: stub.url, token, what: "start" });
      await stub.forget(token);
      if (round > 0) starts[index]?.answers.push(answer); // the one before has filled caches
    }
  }
  return starts;
}

/** Milliseconds, on the clock or of the processor: the median. */
export function startTime({ answers }: Starts, figure: "wall" | "cpu" = "wall"): number {
  return median(answers.map(({ [figure]: time = NaN }) => time));
}

/** A table of starts, beside that of the limit. */
export function startTable(starts: readonly Starts[], limit: Starts | undefined): string {
  const times = (each: Starts, figure: "wall" | "cpu") =>
    number(limit === undefined ? NaN : startTime(each, figure) / startTime(limit, figure));
  const rows = starts.map((each) => {
    const walls = each.answers.map(({ wall }) => wall);
    return row([
      each.name,
      `${number(startTime(each))} (${number(Math.max(...walls))} – ${number(Math.min(...walls))})`,
      times(each, "wall"),
      number(startTime(each, "cpu")),
      times(each, "cpu"),
      number(median(each.answers.map(({ memory }) => memory / MIB))),
    ]);
  });
  const head = ["client", "ms, median (worst – best)", "× limit", "CPU ms", "× limit", "peak memory, MiB"];
  return [row(head), "|---|---:|---:|---:|---:|---:|", ...rows].join("\n");
}

/** Has everybody be so many clients that wait. */
export async function measureIdle(
  stub: Stub,
  entrants: readonly Entrant[],
  counts: readonly number[],
): Promise<Idle[]> {
  const all: Idle[] = [];
  for (const [index, entrant] of entrants.entries()) {
    const memory: number[] = [];
    for (const clients of counts) {
      const token = `brief-idle-${index}-${clients}`;
      memory.push((await takeTurn(entrant, { url: stub.url, token, what: "idle", clients })).memory);
      for (let client = 0; client < clients; client++) await stub.forget(`${token}-${client}`);
    }
    const [one = NaN, most = NaN] = [memory[0], memory.at(-1)];
    const each = (most - one) / ((counts.at(-1) ?? NaN) - (counts[0] ?? NaN));
    all.push({ name: entrant.name, memory, each });
  }
  return all;
}

/** A table of the idle contestants. */
export function idleTable(idle: readonly Idle[], counts: readonly number[]): string {
  const rows = idle.map(({ name, memory, each }) =>
    row([name, ...memory.map((bytes) => number(bytes / MIB)), number(each / 1_000)])
  );
  const head = ["client", ...counts.map((count) => `${count.toLocaleString("en")}, MiB`), "kB for one more"];
  return [row(head), `|---|${"---:|".repeat(counts.length + 1)}`, ...rows].join("\n");
}

/** Those whom it makes sense to start many of. */
export function forIdle(entrants: readonly Entrant[]): Entrant[] {
  return entrants.filter(({ name, playsOnly = false }) => !playsOnly && !name.endsWith(", Node"));
}

/** The same program with other files of Greenroom. */
export interface Variant {
  /** The contestant, with a name that says so. */
  of(entrant: Entrant): Entrant;
}

/** The contestants that are started: Greenroom's own also with other files. */
export function forStart(entrants: readonly Entrant[], variants: readonly Variant[]): Entrant[] {
  const own: readonly string[] = [NAMES.memory, NAMES.sqlite, NAMES.kv];
  return entrants.flatMap((entrant) => {
    if (own.includes(entrant.name)) return [entrant, ...variants.map((variant) => variant.of(entrant))];
    return entrant.playsOnly === true ? [] : [entrant];
  });
}

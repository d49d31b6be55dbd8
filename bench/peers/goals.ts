/**
 * The goals that were set, and whether they are met.
 *
 * @module
 */

import { type EncryptionOutcomes, growthGoals, NAMES as ENGINES, standing } from "../crypto/encryption.ts";
import { type Goal as CryptoGoal, time } from "../crypto/report.ts";
import { number, row } from "../support/markdown.ts";
import { NAMES } from "./entrants.ts";
import { grown, type Growth } from "./growth.ts";
import type { Job, JobName } from "./inputs/plan.ts";
import { type Figure, type Standing, times } from "./rounds.ts";
import { PUBLISHED } from "./published.ts";
import { BUNDLED } from "./start_bundles.ts";
import { type Idle, type Starts, startTime } from "./start_and_idle.ts";

/** All that was measured. */
export interface Measurements {
  readonly jobs: readonly Job[];
  readonly encryptedJobs: readonly Job[];
  readonly plain: readonly Standing[];
  readonly encrypted: readonly Standing[];
  readonly encryption: EncryptionOutcomes;
  readonly starts: readonly Starts[];
  readonly encryptedStarts: readonly Starts[];
  readonly idle: readonly Idle[];
  /** How many clients there were. */
  readonly clients: readonly number[];
  readonly growth: readonly Growth[];
  /** How many rooms there were. */
  readonly rooms: readonly number[];
  /** Tables of what is not timed. */
  readonly bundles: string;
  readonly stores: string;
  /** Tables of answers to messages that come at rates. */
  readonly latency: { readonly plain: string; readonly encrypted: string };
}

/** A goal. */
interface Goal {
  readonly text: string;
  /** What it may come to, at least or at most. */
  readonly bound: number;
  readonly atLeast?: boolean;
  /** What it came to on the clock; NaN where it could not be measured. */
  readonly value: number;
  /** What it came to on the processor, where that says something. */
  readonly cpu?: number;
}

const { limit, memory, sqlite, kv, jsSdk } = NAMES;

/** A table of all goals that could be measured. */
export function goalTable(measurements: Measurements): string {
  const { encryption, starts, encryptedStarts, idle, growth } = measurements;
  const goals = [
    ...syncGoals(measurements.plain),
    ...engineGoals(encryption),
    ...startGoals(starts, encryptedStarts),
    ...memoryGoals(measurements.plain),
    ...idle.filter(({ name }) => name === memory).map(({ name, each }) => ({
      text: `8: kB for one more idle client: ${name}`,
      bound: 250,
      value: each / 1_000,
    })),
    ...growth.map((each) => ({
      text: `9: ${each.name}: a small sync among most rooms / among fewest`,
      bound: 1.3,
      value: grown(each, "wall"),
      cpu: grown(each, "cpu"),
    })),
    ...growthGoals(encryption.growth).flatMap((goal) => fromCrypto({ ...goal, text: `9: ${goal.text}` })),
  ];
  const rows = goals.filter(({ value }) => !Number.isNaN(value)).map(goalRow);
  const head = ["goal", "wanted", "on the clock", "on the processor", ""];
  return [row(head), "|---|---:|---:|---:|---|", ...rows].join("\n");
}

function goalRow({ text, bound, atLeast = false, value, cpu }: Goal): string {
  const met = atLeast ? value >= bound : value <= bound;
  const wanted = `${atLeast ? "≥" : "≤"} ${bound.toLocaleString("en")}`;
  return row([text, wanted, number(value), cpu === undefined ? "" : number(cpu), met ? "met" : "**missed**"]);
}

/** The speed in one job, as a part of another contestant's. */
function syncGoals(standings: readonly Standing[]): Goal[] {
  const speed = (text: string, bound: number, job: JobName, one: string, other: string): Goal => {
    const value = (figure: Figure) => 1 / compare(standings, { job, figure, one, other });
    return { text, bound, atLeast: true, value: value("wall"), cpu: value("cpu") };
  };
  return [
    speed("1: initial sync, of the limit", 0.75, "initial", memory, limit),
    speed("1: initial sync, × matrix-js-sdk", 8, "initial", memory, jsSdk),
    speed("2: large syncs, of the limit", 0.8, "incremental", memory, limit),
    speed("3: small syncs, of the limit", 0.8, "small", memory, limit),
    speed("3: small syncs, each durable, of the limit: SQLite", 0.5, "small", sqlite, limit),
    speed("3: small syncs, each durable, of the limit: Deno KV", 0.5, "small", kv, limit),
  ];
}

/** Starts of what bots get, beside that of the limit. */
function startGoals(starts: readonly Starts[], encryptedStarts: readonly Starts[]): Goal[] {
  const base = starts.find(({ name }) => name === limit);
  const goal = (text: string, bound: number, all: readonly Starts[], name: string): Goal[] =>
    all.filter((each) => base !== undefined && each.name === name).map((each) => {
      const value = (figure: "wall" | "cpu") => startTime(each, figure) / startTime(base ?? each, figure);
      return { text: `7: ${text}, × limit: ${name}`, bound, value: value("wall"), cpu: value("cpu") };
    });
  return [
    ...goal("plain start", 2, starts, memory + PUBLISHED),
    ...goal("plain start", 1.6, starts, memory + BUNDLED),
    ...goal("encrypted start", 3.5, encryptedStarts, sqlite + PUBLISHED),
  ];
}

function memoryGoals(standings: readonly Standing[]): Goal[] {
  const value = (job: JobName) => compare(standings, { job, figure: "memory", one: memory, other: limit });
  return [
    { text: "8: peak memory after job 1, × limit", bound: 1.5, value: value("initial") },
    { text: "8: peak memory after job 3, × limit", bound: 1.5, value: value("small") },
  ];
}

/** What the engine needs for one event, in microseconds. */
function engineGoals({ against }: EncryptionOutcomes): Goal[] {
  const of = (job: string, name: string) => time(standing(against.get(job), name));
  const goal = (text: string, limit: number, job: string, name: string) =>
    fromCrypto({ text: `${text}, µs: ${name}`, limit, value: of(job, name) });
  const durable = [ENGINES.sqlite, ENGINES.durable];
  return [
    ...durable.flatMap((name) => goal("4: decrypt one 200-byte event", 250, "decrypt_event", name)),
    ...durable.flatMap((name) => goal("4: take a sync with one 200-byte event", 250, "decrypt_one", name)),
    ...goal("5: encrypt one 200-byte event", 200, "encrypt", ENGINES.memory),
    ...durable.flatMap((name) => goal("5: encrypt one 200-byte event", 1_000, "encrypt", name)),
  ];
}

function fromCrypto({ text, limit: bound, value }: CryptoGoal): Goal[] {
  return value === undefined ? [] : [{ text, bound, value: value.wall, cpu: value.cpu }];
}

/**
 * The ratio of a figure to another contestant's; NaN if one of them did not take
 * part.
 */
function compare(
  standings: readonly Standing[],
  { job, figure, one, other }: { job: JobName; figure: Figure; one: string; other: string },
): number {
  const find = (name: string) => standings.find(({ entrant }) => entrant.name === name);
  const [ours, theirs] = [find(one), find(other)];
  return ours === undefined || theirs === undefined ? NaN : times(ours, theirs, { job, figure });
}

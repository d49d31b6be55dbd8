/**
 * The moments at which the bot is killed.
 *
 * @module
 */

import { oneOf, type Random } from "./random.ts";
import type { Progress } from "./progress.ts";
import type { Moment } from "./bot_process.ts";

/** How long it lives after it has taken its device, in milliseconds. */
const LIFE_MS = { min: 200, max: 2_000 };
/**
 * How many of the processes live longer, and how long: long enough to catch up with what they were
 * sent.
 */
const LONG = { odds: 0.06, ms: 5_000 };
/** How many are killed before that, and how long after their start. */
const SHORT = { odds: 0.04, ms: 1_000 };
/** How many of the kills wait for a short operation, and happen then. */
const AIMED = 0.5;
const AFTER_AIM_MS = 12;

/** The operations to kill at, and about how many of them a process has. */
const TARGETS: readonly [[Progress, number], ...[Progress, number][]] = [
  ["begins commit", 60],
  ["ends commit", 60],
  ["begins send", 12],
  ["ends send", 12],
  ["ends send", 6],
  ["begins answer", 6],
  ["ends answer", 6],
  ["ends answer", 3],
  ["begins sendToDevice", 3],
  ["ends sendToDevice", 3],
  ["begins keys/upload", 1],
  ["ends keys/upload", 1],
  ["begins keys/query", 2],
  ["ends keys/query", 2],
  ["begins keys/claim", 1],
  ["ends keys/claim", 1],
  ["begins messages", 1],
  ["ends sync", 5],
  ["ends take", 1],
];

/**
 * When a process that must make progress is killed: after so many steps of it at most, or after so
 * long.
 */
const FRUITFUL = { times: 8, patienceMs: 20_000 };

/** What is known of the processes before. */
export interface Mercy {
  /** Whether they have made no progress. */
  readonly isStuck: boolean;
  /** The end of what is progress. Default: an answer. */
  readonly fruit?: Progress;
}

/** Draws a moment. */
export function drawMoment(random: Random, { isStuck, fruit = "ends answer" }: Mercy): Moment {
  if (isStuck) {
    const { times: most, patienceMs: patience } = FRUITFUL;
    const times = 1 + Math.floor(random() * most);
    return { line: fruit, times, after: random() * AFTER_AIM_MS, patience };
  }
  const fate = random();
  if (fate < LONG.odds) return { line: "ends take", after: LIFE_MS.max + random() * LONG.ms };
  if (fate < LONG.odds + SHORT.odds) return { after: random() * SHORT.ms };
  if (random() >= AIMED) {
    return { line: "ends take", after: LIFE_MS.min + random() * (LIFE_MS.max - LIFE_MS.min) };
  }
  const [line, most] = oneOf(random, TARGETS);
  return { line, times: 1 + Math.floor(random() * most), after: random() * AFTER_AIM_MS };
}

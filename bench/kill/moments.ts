/**
 * When the victim is killed.
 *
 * @module
 */

import { oneOf, type Random } from "./random.ts";
import type { Telltale } from "./telltale.ts";
import type { Moment } from "./victim_process.ts";

/** How long after its start it is killed, in milliseconds. */
const LIFE_MS = { min: 50, max: 1_500 };
/** How many of the processes live longer, and how long: long enough to catch up with what they were sent. */
const LONG = { odds: 0.1, ms: 5_000 };
/** How many of the kills count that time from when the program runs, since Deno may take long to load it. */
const LOADED = 0.7;
/** How many of the kills wait for something that rarely lasts long, and strike then. */
const AIMED = 0.5;
const AFTER_AIM_MS = 12;

/** What is worth striking at, and how many of them a life has, about. */
const TARGETS: readonly [[Telltale, number], ...[Telltale, number][]] = [
  ["begins commit", 60],
  ["ends commit", 60],
  ["begins send", 12],
  ["ends send", 12],
  ["begins sendToDevice", 3],
  ["ends sendToDevice", 3],
  ["begins keys/upload", 1],
  ["ends keys/upload", 1],
  ["begins keys/query", 2],
  ["ends keys/query", 2],
  ["begins keys/claim", 1],
  ["ends keys/claim", 1],
  ["ends sync", 5],
  ["ends open", 1],
];

/** Draws a moment. */
export function drawMoment(random: Random): Moment {
  if (random() < LONG.odds) return { line: "begins open", after: LIFE_MS.max + random() * LONG.ms };
  if (random() >= AIMED) {
    const line = random() < LOADED ? "begins open" : undefined;
    return { line, after: LIFE_MS.min + random() * (LIFE_MS.max - LIFE_MS.min) };
  }
  const [line, most] = oneOf(random, TARGETS);
  return { line, times: 1 + Math.floor(random() * most), after: random() * AFTER_AIM_MS };
}

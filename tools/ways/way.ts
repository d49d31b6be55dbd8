/**
 * The ways that are measured.
 *
 * @module
 */

/** How many messages more take a way the second time. */
export const REPEATS = 5;

/** What a message can go through. */
export const WAYS = [
  "plain receive",
  "plain send",
  "encrypted send, ready",
  "encrypted send, first",
  "encrypted receive",
  "late key",
] as const;

/** One of them. */
export type Way = typeof WAYS[number];

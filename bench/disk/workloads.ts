/**
 * What is recorded: one process and several, closed, killed and started again.
 *
 * @module
 */

import type { Step, Workload } from "./recorder.ts";

const oneProcess: readonly Step[] = [
  ["a", "commit", 16],
  ["a", "together", 6],
  ["a", "commit", 4],
  ["a", "close"],
  ["a", "commit", 5],
  ["a", "together", 4],
  ["a", "die"],
];

const severalProcesses: readonly Step[] = [
  ["a", "commit", 2],
  ["a", "die"],
  ["b", "die"],
  ["c", "commit", 4],
  ["d", "commit", 4],
  ["c", "together", 5],
  ["d", "together", 5],
  ["c", "close"],
  ["d", "commit", 3],
  ["d", "close"],
  ["c", "commit", 3],
  ["d", "commit", 3],
  ["c", "die"],
  ["d", "commit", 2],
  ["d", "together", 3],
  ["d", "die"],
];

const much: readonly Step[] = [
  ["a", "commit", 34],
  ["a", "together", 6],
  ["a", "close"],
  ["a", "commit", 4],
  ["a", "die"],
];

/** What a process does that starts after a power cut. */
export const AFTER_A_CUT: readonly Step[] = [["a", "commit", 4], ["a", "together", 4], ["a", "die"]];

/** All workloads, the most telling first. */
export const WORKLOADS: readonly (Workload & {
  /** Its part of all states. */
  readonly share: number;
})[] = [
  { name: "one process", kind: "sqlite", plan: "everyday", steps: oneProcess, share: 4 },
  { name: "several processes", kind: "sqlite", plan: "everyday", steps: severalProcesses, share: 4 },
  { name: "one process", kind: "sqlite-short", plan: "everyday", steps: oneProcess, share: 4 },
  { name: "several processes", kind: "sqlite-short", plan: "everyday", steps: severalProcesses, share: 4 },
  { name: "large commits", kind: "sqlite", plan: "large", steps: much, share: 1 },
  { name: "one process", kind: "sealed", plan: "everyday", steps: oneProcess, share: 1 },
  { name: "one process", kind: "kv", plan: "split", steps: oneProcess, share: 1.5 },
  { name: "several processes", kind: "kv", plan: "split", steps: severalProcesses, share: 1.5 },
  { name: "large commits", kind: "kv", plan: "large", steps: much, share: 0.5 },
];

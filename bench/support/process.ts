/**
 * What this process has taken.
 *
 * @module
 */

import process from "node:process";

/** Milliseconds of the processor, of all threads. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Bytes that are in use, after a garbage collection. */
export function memoryInUse(): { readonly heap: number; readonly process: number } {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error("Cannot measure memory: run with --v8-flags=--expose-gc");
  gc();
  const { heapUsed: heap, rss: process } = Deno.memoryUsage();
  return { heap, process };
}

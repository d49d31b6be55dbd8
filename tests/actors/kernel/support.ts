/**
 * What several tests of the kernel use.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Clock, Logger } from "@greenroom/matrix";

/** What was logged: level, message and fields. */
export type LogLine = [level: keyof Logger, message: string, data?: Record<string, unknown>];

/** A logger that remembers. */
export function recordingLogger(): Logger & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  const log = (level: keyof Logger) => (message: string, data?: Record<string, unknown>) => {
    lines.push([level, message, data]);
  };
  return { lines, debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

/** What devices that nobody has signed, and those that are kept in memory alone, begin with. */
const EXPECTED = ["Nobody has signed this device", "The keys of this device are lost when"];

/** The warnings and errors of a log, but for those of devices in tests. */
export function complaintsIn({ lines }: { readonly lines: readonly LogLine[] }): LogLine[] {
  return lines.filter(([level, message]) =>
    (level === "warn" || level === "error") && !EXPECTED.some((each) => message.startsWith(each))
  );
}

/** A clock whose waits end when the test says so. */
export class ManualClock implements Clock {
  readonly #waits = new Set<{ until: number; resolve: () => void }>();
  #now = 0;

  /** How many waits are going on. */
  get waiting(): number {
    return this.#waits.size;
  }

  now(): number {
    return this.#now;
  }

  delay(ms: number, options?: { signal?: AbortSignal }): Promise<void> {
    return new Promise((resolve, reject) => {
      const wait = { until: this.#now + ms, resolve };
      this.#waits.add(wait);
      options?.signal?.addEventListener("abort", () => {
        this.#waits.delete(wait);
        reject(options.signal?.reason);
      });
    });
  }

  /** Moves time on. */
  advance(ms: number): void {
    this.#now += ms;
    for (const wait of this.#waits) {
      if (wait.until > this.#now) continue;
      this.#waits.delete(wait);
      wait.resolve();
    }
  }
}

/** Lets everything run that is ready to. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await Promise.resolve();
}

/** Gives the runtime a turn of its event loop, in which it looks for unhandled rejections. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** The reason of a promise; the rejection counts as handled from the call on. */
export function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(() => {
    throw new Error("this should have been rejected");
  }, (error) => error);
}

/** Makes sure that a promise has not settled by the time everything that was ready has run. */
export async function assertPending(promise: Promise<unknown>): Promise<void> {
  let state = "pending";
  promise.then(() => state = "fulfilled", () => state = "rejected");
  await settle();
  assertEquals(state, "pending");
}

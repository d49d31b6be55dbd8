/**
 * Times that come again and again, as cron has them.
 *
 * @module
 */

import { Cron } from "croner";
import { ValueError } from "../../../mod.ts";

/** Something that is done again and again. */
export interface Schedule {
  /** The same after a restart. */
  readonly name: string;
  /** When it is due, and by which clock: if that is another than before, it begins anew. */
  readonly pattern: string;
  /** When it is due next after a time; both in milliseconds since the epoch. */
  readonly next: (after: number) => number;
  /** What is done. */
  readonly work: (...args: never) => unknown;
}

/** The last moment that a date can be. */
const NEVER = 8.64e15;

/**
 * Reads a pattern of cron.
 *
 * @param pattern Five fields, or six with seconds first: minute, hour, day, month, weekday.
 * @param timezone Where the clock hangs, like `Europe/Rome`.
 * @returns When it is due next after a time.
 * @throws {ValueError} If the pattern or the time zone can't be read.
 */
export function readCron(pattern: string, timezone: string): Schedule["next"] {
  checkZone(pattern, timezone);
  try {
    const cron = new Cron(pattern, { timezone, paused: true });
    cron.nextRun(new Date(0)); // which reads the time zone
    return (after) => cron.nextRun(new Date(after))?.getTime() ?? NEVER;
  } catch (cause) {
    throw new ValueError(
      `Cannot schedule "${pattern}" in ${timezone}: write it as cron does, like "0 9 * * *"`,
      {
        cause,
      },
    );
  }
}

function checkZone(pattern: string, timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch (cause) {
    throw new ValueError(
      `Cannot schedule "${pattern}": there is no time zone ${timeZone}; write it like Europe/Rome, or UTC`,
      { cause },
    );
  }
}

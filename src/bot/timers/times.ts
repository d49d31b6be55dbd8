/**
 * The times of schedules.
 *
 * A file of its own because it knows no timer: it reads what authors write.
 *
 * @module
 */

import { Cron } from "croner";
import { ValueError } from "../../../mod.ts";
import { inMilliseconds } from "../../base/duration.ts";
import { LAST } from "./timer.ts";

/** The shortest time between two of a schedule, in milliseconds. */
const SHORTEST = 1_000;

/**
 * Reads when something is done: the multiples of a duration, as they are the same in each process; or as cron has it.
 *
 * @param pattern A duration, as text or in milliseconds; or five fields of cron, or six with seconds first:
 *   minute, hour, day, month, weekday.
 * @param timezone The IANA time zone of a pattern of cron, like `Europe/Rome`. Default: `UTC`.
 * @returns The next time after a time.
 * @throws {ValueError} If the pattern or the time zone can't be read.
 */
export function readTimes(pattern: string | number, timezone: string | undefined): (after: number) => number {
  const length = inMilliseconds(pattern);
  if (!(length >= SHORTEST)) {
    if (typeof pattern === "string" && Number.isNaN(length)) return readCron(pattern, timezone ?? "UTC");
    throw unreadable(`"${pattern}"`);
  }
  if (timezone !== undefined) {
    throw new ValueError(
      `Cannot schedule "${pattern}" in ${timezone}: a duration has no time zone; leave it out, or write the times as ` +
        'cron does, like "0 9 * * *"',
    );
  }
  return (after) => Math.floor(after / length + 1) * length;
}

function unreadable(what: string, cause?: unknown): ValueError {
  return new ValueError(
    `Cannot schedule ${what}: write it as a duration of a second or more, like "10m", or as cron does, like "0 9 * * *"`,
    { cause },
  );
}

function readCron(pattern: string, timezone: string): (after: number) => number {
  checkZone(pattern, timezone);
  try {
    const cron = new Cron(pattern, { timezone, paused: true });
    cron.nextRun(new Date(0)); // which reads the time zone
    return (after) => cron.nextRun(new Date(after))?.getTime() ?? LAST;
  } catch (cause) {
    throw unreadable(timezone === "UTC" ? `"${pattern}"` : `"${pattern}" in ${timezone}`, cause);
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

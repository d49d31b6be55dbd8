/**
 * The keys of timers: they begin with the time, so that the next one comes first.
 *
 * @module
 */

/** The last moment that a date can be. */
const LAST = 8.64e15;

/** The key of a timer that is due at a time, in milliseconds since the epoch. */
export function keyOf(due: number, name: string = crypto.randomUUID()): string {
  const time = new Date(Math.min(Math.max(due, 0), LAST)).toISOString();
  return `${time.length > 24 ? time : `+00${time}`}|${name}`; // years of six digits sort too
}

export function nameOf(key: string): string {
  return key.slice(key.indexOf("|") + 1);
}

/** When a timer is due, by its key. */
export function dueOf(key: string): number {
  return Date.parse(key.split("|", 1)[0] ?? "");
}

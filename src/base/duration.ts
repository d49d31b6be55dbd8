/**
 * Durations as people write them: `90s`, `10m`, `1h30m`, `2 days`.
 *
 * @module
 */

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DURATION_PART =
  /\s*(\d{1,9}(?:\.\d{1,3})?)\s*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?![a-z])/iy;
const MAX_DURATION_MS = 3650 * 86_400_000;

/** Reads a duration, in milliseconds; undefined: it is none. */
export function readDuration(text: string): number | undefined {
  let total = 0;
  DURATION_PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = DURATION_PART.lastIndex) {
    const [, count, unit = ""] = DURATION_PART.exec(text) ?? [];
    if (count === undefined) return undefined;
    total += Number(count) * (UNITS_MS[unit.charAt(0).toLowerCase()] ?? 0);
  }
  return text === "" || total > MAX_DURATION_MS ? undefined : Math.round(total);
}

/** A duration in milliseconds, which is given so or as text; NaN: it is none. */
export function inMilliseconds(duration: number | string): number {
  return typeof duration === "string" ? readDuration(duration) ?? NaN : duration;
}

/** A duration as it was given, for errors. */
export function written(duration: unknown): string {
  return typeof duration === "string" ? JSON.stringify(duration.slice(0, 100)) : String(duration);
}

/**
 * How far the own clock is from the server's, by what a response says.
 *
 * @module
 */

/** What a response has shown of the server's clock; all in milliseconds since the epoch. */
export interface ServerTime {
  /** The server's time when it answered, without a fraction of a second. */
  readonly shown: number;
  /** The own clock when the request was sent. */
  readonly before: number;
  /** The own clock when the answer came. */
  readonly after: number;
}

/** So far the clocks may be apart, in milliseconds. */
const MAX_SKEW = 60_000;

/** When a server has made a response; undefined: it does not say, or a cache has answered. */
export function timeOf({ headers }: Pick<Response, "headers">): number | undefined {
  if (Number(headers.get("age") ?? 0) !== 0) return undefined;
  const shown = Date.parse(headers.get("date") ?? "");
  return Number.isFinite(shown) ? shown : undefined;
}

/** How far the server's clock is ahead of the own one at the least, in milliseconds. */
export function skewOf({ shown, before, after }: ServerTime): number {
  if (shown < before - 1_000) return shown - before; // it counts seconds
  return shown > after ? shown - after : 0;
}

/** How the own clock is beside the server's: a part of a sentence; undefined: it agrees with it. */
export function wrongBy(skew: number): string | undefined {
  if (Math.abs(skew) <= MAX_SKEW) return undefined;
  return `${Math.round(Math.abs(skew) / 1_000)} seconds ${
    skew > 0 ? "behind" : "ahead of"
  } that of the server`;
}

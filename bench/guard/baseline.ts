/**
 * What speed is compared with.
 *
 * @module
 */

/** A commit that nothing may be slower than. It moves only by a commit that says why. */
export const BASELINE = "b793496f52dd4c7d9c9646b91dfe5fef5b3f73c9";

/** The most bytes that the bundle may have, whatever the baseline has. This number only goes down. */
export const MOST_BYTES = 1_040_000;

/**
 * The most processor time that a row may take, × that of the limit in the same run. These numbers only go
 * down: the baseline may move again and again, and each time a little that has been lost is forgotten.
 */
export const LIMITS: Readonly<Record<string, number>> = {
  "Greenroom, memory: initial": 3.1,
  "Greenroom, memory: incremental": 2.2,
  "Greenroom, memory: small": 2.15,
  "Greenroom, memory: send": 1.8,
  "Greenroom, SQLite: initial": 4.5,
  "Greenroom, SQLite: incremental": 2.6,
  "Greenroom, SQLite: small": 3,
  "Greenroom, SQLite: send": 1.85,
  "Greenroom, memory, encrypted: initial": 1.95,
  "Greenroom, memory, encrypted: incremental": 1.65,
  "Greenroom, memory, encrypted: small": 2.2,
  "Greenroom, memory, encrypted: send": 1.95,
  "Greenroom, SQLite, encrypted: initial": 2.2,
  "Greenroom, SQLite, encrypted: incremental": 1.8,
  "Greenroom, SQLite, encrypted: small": 2.6,
  "Greenroom, SQLite, encrypted: send": 2.5,
};

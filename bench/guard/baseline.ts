/**
 * What speed is compared with.
 *
 * @module
 */

/** A commit that nothing may be slower than. It moves only by a commit that says why. */
export const BASELINE = "bc6651eeec4c63f5ca27339bc2e583d22571ebeb";

/** The most bytes that the bundle may have, whatever the baseline has. This number only goes down. */
export const MOST_BYTES = 1_040_000;

/**
 * The most processor time that a row may take, × that of the limit in the same run. These numbers only go
 * down: the baseline may move again and again, and each time a little that has been lost is forgotten.
 */
export const LIMITS: Readonly<Record<string, number>> = {
  "Greenroom, memory: initial": 3.5,
  "Greenroom, memory: incremental": 2.3,
  "Greenroom, memory: small": 3.5,
  "Greenroom, memory: send": 3,
  "Greenroom, SQLite: initial": 5.4,
  "Greenroom, SQLite: incremental": 3.1,
  "Greenroom, SQLite: small": 5.6,
  "Greenroom, SQLite: send": 2.8,
  "Greenroom, memory, encrypted: initial": 1.95,
  "Greenroom, memory, encrypted: incremental": 2.35,
  "Greenroom, memory, encrypted: small": 3.75,
  "Greenroom, memory, encrypted: send": 2.45,
  "Greenroom, SQLite, encrypted: initial": 2.25,
  "Greenroom, SQLite, encrypted: incremental": 1.95,
  "Greenroom, SQLite, encrypted: small": 4.65,
  "Greenroom, SQLite, encrypted: send": 4.8,
};

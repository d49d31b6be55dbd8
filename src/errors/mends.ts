/**
 * What an error's last words ask for, where a program does that by a call, and the command line by something else.
 *
 * @module
 */

/** What an error may ask for. */
export type Mend =
  | "another login"
  | "whose session"
  | "the key of the store"
  | "the key of the copy"
  | "no key";

const mends = new WeakMap<Error, Mend>();

/** Notes what an error asks for in its last words, which come after a semicolon; returns the error. */
export function asksFor<Thrown extends Error>(error: Thrown, mend: Mend): Thrown {
  mends.set(error, mend);
  return error;
}

/** The message of an error; what it asks for, if that was noted, in other words. */
export function saidWith(words: Readonly<Record<Mend, string>>, error: Error): string {
  const mend = mends.get(error);
  return mend === undefined ? error.message : error.message.replace(/; [^;]*$/, () => `; ${words[mend]}`);
}

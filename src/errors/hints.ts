/**
 * Names that authors bring from other libraries: the compiler, and the run, say what is written here. And
 * what an error's last words ask for, where a program does that by a call, and the command line by something
 * else.
 *
 * @module
 */

import { ValueError } from "./matrix_error.ts";

/**
 * The type of a name that another library has, and this one has not:
 * no value has it, and a compiler's message names what to write instead.
 */
export interface WriteInstead<Here extends string> {
  /** The option, or the call. */
  readonly writeInstead: Here;
}

/**
 * Members for the compiler alone, by the names of another library. They are index signatures, which no editor
 * offers and no documentation lists. Only the empty text, digits and signs are in lower and in upper case: so
 * `users` is no member for the hint `user`. They are symbols, since the compiler refuses those in texts too.
 */
export type Hints<Names extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Names & string as `${Name}${Lowercase<string> & Uppercase<string>}`]:
    & symbol
    & WriteInstead<Names[Name]>;
};

const SEALED = "SealedStore.open(store, key) around the store: without it, the store is not encrypted";
/** What other libraries call the key of a store, which each store here is sealed with in the same way. */
export const SEAL_HINTS = {
  passphrase: SEALED,
  password: SEALED,
  key: SEALED,
  encryptionKey: SEALED,
} as const;

/**
 * Refuses options by names of another library, with what to write.
 *
 * @param known The names of the options that there are.
 * @param hints The names elsewhere, and what to write.
 * @param action What was to be done, as the error has it.
 * @throws {ValueError} If there is one.
 */
export function checkHinted(
  options: unknown,
  known: Readonly<Record<string, true>>,
  hints: Readonly<Record<string, string>>,
  action: string,
): void {
  if (typeof options !== "object" || options === null) return;
  for (const name in options) {
    if (Object.hasOwn(known, name) || !Object.hasOwn(hints, name)) continue;
    throw new ValueError(`Cannot ${action}: there is no option ${name}; write ${hints[name]}`);
  }
}

/**
 * Has each name of another library throw when it is read, with what to write: without types it would be
 * undefined. A program that sets it has a member of its own.
 *
 * @param target A class's prototype, or the class.
 * @param what What has no such member, as the error has it.
 * @param names The names, and what to write.
 */
export function hintAt(target: object, what: string, names: Readonly<Record<string, string>>): void {
  for (const [name, here] of Object.entries(names)) {
    Object.defineProperty(target, name, {
      configurable: true,
      get() {
        throw new ValueError(`Cannot read ${name}: ${what} has no such member; write ${here}`);
      },
      set(value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
}

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

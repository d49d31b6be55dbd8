/**
 * Where the in-process homeserver takes the opaque parts of its identifiers from.
 *
 * @module
 */

/** What an identifier is for. */
export type IdKind =
  | "access_token"
  | "device"
  | "event"
  | "login_token"
  | "media"
  | "openid_token"
  | "refresh_token"
  | "room"
  | "uia_session";

/** Makes the opaque parts of identifiers. Give the homeserver one of your own to choose them. */
export interface IdGenerator {
  /**
   * The next identifier, without sigil and server name. It must never repeat for one kind.
   *
   * @param kind What it is for.
   * @param length How many characters it must have.
   */
  next(kind: IdKind, length: number): string;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LETTERS_AND_DIGITS = `${LETTERS}${LETTERS.toLowerCase()}0123456789`;

/** Identifiers that can't be guessed, and that no two homeservers share; the default. */
export function randomIds(): IdGenerator {
  return {
    next(kind, length) {
      const alphabet = kind === "device" ? LETTERS : LETTERS_AND_DIGITS;
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      return Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join("");
    },
  };
}

/**
 * Identifiers that count up from one, the same in every run: for snapshots and for reading a
 * failing test.
 *
 * @param prefix Put before the number; two homeservers of one test need different ones.
 */
export function sequentialIds(prefix = ""): IdGenerator {
  const counts = new Map<IdKind, number>();
  return {
    next(kind, length) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const head = `${prefix}${kind.replaceAll("_", "")}`;
      return `${kind === "device" ? head.toUpperCase() : head}${
        String(count).padStart(length - head.length, "0")
      }`;
    },
  };
}

/**
 * The root of every error Greenroom throws, the words of others in its message, and the errors that a caller
 * can mend: bad input, content that is not what its type says, a missing permission, a client that has ended.
 *
 * @see {@link https://docs.deno.com/runtime/fundamentals/security/ | Deno's permissions}
 *
 * @module
 */

/** Control and format characters, tags, line and paragraph separators, halves of characters. */
export const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
/** Longer texts are cut off. */
const MAX_TEXT = 500;

/**
 * Others' words, made fit for a message: short, and without characters that move a terminal's
 * cursor, turn the direction of what follows, or are not shown.
 */
export function printable(text: string, maxLength: number = MAX_TEXT): string {
  return text.slice(0, maxLength).replace(UNSHOWN, " ");
}

/**
 * What all errors of Greenroom have in common: catch this to catch them all.
 *
 * Decide by class or by {@link MatrixError.code}, never by the text of the message.
 *
 * Mend: Do what the message says: it ends with what to do.
 *
 * @example
 * ```ts
 * import { MatrixError, ValueError } from "@greenroom/matrix";
 *
 * const error: MatrixError = new ValueError("Cannot send a message: the room ID is empty");
 * console.assert(error.code === "VALUE_ERROR");
 * ```
 */
export class MatrixError extends Error {
  /** The class's name, as shown in front of the message. */
  override readonly name: string;

  /** What went wrong, for programs: the server's `errcode`, or an upper-case word of ours. */
  readonly code: string = "MATRIX_ERROR";

  /** The server's `errcode`, like `M_FORBIDDEN`; undefined, unless a homeserver has refused. */
  declare readonly errcode?: string;

  /** The HTTP status of a homeserver's refusal; undefined, unless one has refused. */
  declare readonly status?: number;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param options The `cause`, if another error led to this one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * The client was stopped, was closed, or has failed, before it could do what was asked. If it has
 * failed, the `cause` is the {@linkcode ActorError} that `client.done` rejects with.
 *
 * Mend: Make a new client with the same store; read `cause` if it has failed.
 */
export class ClientEndedError extends MatrixError {
  /** Always `CLIENT_ENDED`. */
  override readonly code = "CLIENT_ENDED";
}

/**
 * An argument can't be used. Thrown before anything is sent or stored.
 *
 * Mend: Correct the argument that the message names.
 */
export class ValueError extends MatrixError {
  /** Always `VALUE_ERROR`. */
  override readonly code = "VALUE_ERROR";
}

/** What makes a {@linkcode MalformedContentError}. */
export interface MalformedContentErrorInit extends ErrorOptions {
  /** Whose content does not fit, like `m.room.topic`. */
  readonly eventType: string;
  /** The members at fault. */
  readonly members: readonly string[];
}

/**
 * The content of an event that was sent or stored does not fit its type. The message names the
 * members at fault and what they are not; it has no values.
 *
 * Mend: Correct the members that the message names.
 */
export class MalformedContentError extends MatrixError {
  /** Always `MALFORMED_CONTENT`. */
  override readonly code = "MALFORMED_CONTENT";
  /** The type of the event, as the sender wrote it. */
  readonly eventType: string;
  /**
   * The members at fault, at most eleven, as paths with dots: `info.h`. In place of an item of a
   * list or an entry of a map stands `*`; the empty path is the whole content. For a type of your
   * own, as its schema names them.
   */
  readonly members: readonly string[];

  /**
   * Makes an error.
   *
   * @param message What is wrong.
   * @param init The event's type, the members at fault, and the `cause`, if another error led to
   *   this one.
   */
  constructor(message: string, { eventType, members, ...options }: MalformedContentErrorInit) {
    super(message, options);
    this.eventType = eventType;
    this.members = members;
  }
}

/**
 * Deno was started without a permission that the client, or its store, needs, and the message names the flag.
 * Or a page's Content-Security-Policy forbids what encryption needs, and the message names what to allow.
 *
 * Mend: Start Deno with the flag that the message names, or allow in the page's policy what it names.
 */
export class MissingPermissionError extends MatrixError {
  /** Always `MISSING_PERMISSION`. */
  override readonly code = "MISSING_PERMISSION";
}

/**
 * Says which flag is missing.
 *
 * @param error What was thrown.
 * @param action What was to be done.
 * @returns Undefined if it was thrown for another reason.
 */
export function missingPermission(error: unknown, action: string): MissingPermissionError | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  const [, kind = "", what = ""] = /^Requires (\w+) access to "([^"]*)"/.exec(error.message) ?? [];
  const lacking = LACKING[kind]?.(what);
  return lacking &&
    new MissingPermissionError(
      `Cannot ${action}: the program may not ${lacking.may}; start Deno with ${lacking.flag}`,
      { cause: error },
    );
}

/** A store reads and writes, and has files of its own beside that of its path: its folder is needed. */
const ofFile = (path: string) => {
  const folder =
    path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(/(.)[/\\]$/, "$1") ||
    ".";
  return { may: `read or write ${path}`, flag: `--allow-read=${folder} --allow-write=${folder}` };
};

/** What may not be done, and the flag for it, by the kind of access. */
const LACKING: Readonly<Record<string, ((what: string) => { may: string; flag: string }) | undefined>> = {
  net(address) {
    const host = address.replace(/:(?:80|443)$/, "");
    return { may: `connect to ${host}`, flag: `--allow-net=${host}` };
  },
  read: ofFile,
  write: ofFile,
};

const PERMANENT = Symbol("permanent");

/** Marks an error as one that the same would lead to at any other time, too. */
export function permanent<Failure extends Error>(error: Failure): Failure {
  return Object.defineProperty(error, PERMANENT, { value: true }); // not enumerable: logs don't show it
}

/** Returns whether an error was marked by {@linkcode permanent}. */
export function isPermanent(error: Error): boolean {
  return PERMANENT in error;
}

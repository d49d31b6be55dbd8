/**
 * How a command fails: what it says, and the status that the process ends with.
 *
 * @module
 */

import {
  ForbiddenError,
  MatrixError,
  MatrixRequestError,
  NetworkError,
  UnknownTokenError,
  ValueError,
} from "../../../mod.ts";
import {
  ActorError,
  OAuthError,
  RequestTimeoutError,
  ServiceResponseError,
  StoreError,
  StoreInUseError,
  WellKnownError,
} from "../../../errors.ts";

/** The statuses of the process; docs/cli.md has the same table. */
export const STATUS = {
  DONE: 0,
  FAILED: 1,
  USAGE: 2,
  NOT_LOGGED_IN: 3,
  REFUSED: 4,
  UNREACHABLE: 5,
  STORE: 6,
  FINDINGS: 7,
  CANCELLED: 130,
  CLOSED_PIPE: 141,
} as const;

/** A failure with a status of its own. */
export class CliError extends MatrixError {
  /** What the process ends with. */
  readonly exitStatus: number;

  /**
   * @param message What could not be done, and what to do.
   * @param exitStatus What the process ends with.
   */
  constructor(message: string, exitStatus: number = STATUS.FAILED, options?: ErrorOptions) {
    super(message, options);
    this.exitStatus = exitStatus;
  }
}

/** A prompt that was left with Ctrl-C. */
export class CancelledError extends CliError {
  constructor() {
    super("Cancelled: nothing was changed", STATUS.CANCELLED);
  }
}

/** A command that can't be understood. */
export class UsageError extends CliError {
  /** @param message What is wrong with it. */
  constructor(message: string) {
    super(message, STATUS.USAGE);
  }
}

/** Refusals of an authorization server, and what it does not offer. */
const OAUTH_REFUSALS: ReadonlySet<string | undefined> = new Set(["OAUTH_REFUSED", "OAUTH_UNSUPPORTED"]);

/** Whether an error, or what led to it, says that another process has the store. */
export function isStoreInUse(error: unknown): boolean {
  return error instanceof StoreInUseError || (error instanceof Error && isStoreInUse(error.cause));
}

/** What the process ends with after an error. */
export function statusOf(error: unknown): number {
  if (isStoreInUse(error)) return STATUS.STORE;
  if (error instanceof ActorError && error.cause instanceof MatrixError) return statusOf(error.cause);
  if (error instanceof CliError) return error.exitStatus;
  if (error instanceof UnknownTokenError) return STATUS.NOT_LOGGED_IN;
  if (error instanceof ForbiddenError || error instanceof MatrixRequestError) return STATUS.REFUSED;
  if (error instanceof OAuthError && OAUTH_REFUSALS.has(error.code)) return STATUS.REFUSED;
  if (error instanceof StoreError) return STATUS.STORE;
  const isAway = [NetworkError, RequestTimeoutError, ServiceResponseError, WellKnownError]
    .some((Class) => error instanceof Class);
  if (isAway) return STATUS.UNREACHABLE;
  return error instanceof ValueError ? STATUS.USAGE : STATUS.FAILED;
}

/** What is printed of an error: its message, and no stack unless it is a defect. */
export function messageOf(error: unknown): string {
  if (isStoreInUse(error)) {
    return "Cannot use the bot's store: another process has it, most likely the bot; stop the bot, and start it again afterwards";
  }
  if (error instanceof UnknownTokenError) {
    return `${error.message}; log in again: greenroom login --again`;
  }
  if (error instanceof MatrixError) return inWordsOfCommands(error.message);
  if (error instanceof Error && "syscall" in error) return error.message; // of a file
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/** What a message of the library says to do in a program, and what that is here. */
const MENDS: readonly (readonly [RegExp, string])[] = [
  [
    /; [^;]*(?:client\.login\(\)|loginBy\w+\(\)|clientId)[^;]*$/,
    "; log in in another way: greenroom login --help says how",
  ],
  [/; say whose it is by mxid$/, "; set MATRIX_USER"],
  [
    /; open it with SealedStore\.open\(\) and its key$/,
    "; set MATRIX_STORE_KEY_FILE to the file of its key",
  ],
  [/; give the key it was made with$/, "; name the file with the key it was made with: --key-file"],
  [/; leave the key out if that is right$/, "; leave out --key-file if that is right"],
];

function inWordsOfCommands(message: string): string {
  return MENDS.reduce((text, [call, command]) => text.replace(call, command), message);
}

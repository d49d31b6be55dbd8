/**
 * How a command fails: what it says, and the status that the process ends with.
 *
 * @module
 */

import {
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
import { type Mend, saidWith } from "../../errors/hints.ts";

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

/** A command that was left with Ctrl-C, or by another signal. */
export class CancelledError extends CliError {
  /** @param exitStatus What the process ends with. */
  constructor(exitStatus: number = STATUS.CANCELLED) {
    super("Cancelled: nothing was changed", exitStatus);
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
  if (isAway(error)) return STATUS.UNREACHABLE;
  if (error instanceof MatrixRequestError) return STATUS.REFUSED;
  if (error instanceof OAuthError && OAUTH_REFUSALS.has(error.code)) return STATUS.REFUSED;
  if (error instanceof StoreError) return STATUS.STORE;
  return error instanceof ValueError ? STATUS.USAGE : STATUS.FAILED;
}

/** Whether an error says that a homeserver is not there, or does not work. */
function isAway(error: unknown): boolean {
  if (error instanceof MatrixRequestError) return error.status >= 500;
  return [NetworkError, RequestTimeoutError, ServiceResponseError, WellKnownError]
    .some((Class) => error instanceof Class);
}

/** What is printed of an error: its message, and no stack unless it is a defect. */
export function messageOf(error: unknown): string {
  if (isStoreInUse(error)) {
    return "Cannot use the bot's store: another process has it, most likely the bot; stop the bot, and start it again afterwards";
  }
  if (error instanceof UnknownTokenError) {
    return `${error.message}; log in again: greenroom login --again`;
  }
  if (error instanceof MatrixError) {
    const message = saidWith(MENDS, error).replace(/ \(a bot: [^)]*\)/g, "");
    const isMended = !isAway(error) || message.includes("; ");
    return isMended ? message : `${message}; check the address of the homeserver, or try again later`;
  }
  const isOfFile = error instanceof Error && ("syscall" in error || /\(os error \d+\)/.test(error.message));
  if (isOfFile) return error.message; // also one of Deno's own, which has no syscall
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/** How commands do what errors of the library ask for. */
const MENDS: Readonly<Record<Mend, string>> = {
  "another login": "log in in another way: greenroom login --help says how",
  "whose session": "set MATRIX_USER",
  "the key of the store": "set MATRIX_STORE_KEY_FILE to the file of its key",
  "the key of the copy": "name the file with the key it was made with: --key-file",
  "no key": "leave out --key-file if that is right",
};

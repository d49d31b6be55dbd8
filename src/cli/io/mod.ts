/**
 * How commands are described, what they read and write, and how they fail.
 *
 * @module
 */

export {
  type CommandSpec,
  findCommand,
  helpOf,
  helpOfAll,
  type Input,
  parseCommand,
  unknownCommand,
} from "./command_line.ts";
export {
  CancelledError,
  CliError,
  isStoreInUse,
  messageOf,
  STATUS,
  statusOf,
  UsageError,
} from "./failure.ts";
export { withProgress } from "./progress.ts";
export { drawnCode, failedWith, isThere, RUNTIME, shown, statOf, Terminal, TypedLines } from "./terminal.ts";

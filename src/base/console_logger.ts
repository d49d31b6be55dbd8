/**
 * The logger on the console, for applications to choose its format.
 *
 * @module
 */

import { checkOptions } from "../errors/known_names.ts";
import { type Clock, systemClock } from "./clock.ts";
import { consoleLog } from "./console_log.ts";
import type { Logger } from "./log.ts";

/** Options of {@linkcode consoleLogger}. */
export interface ConsoleLoggerOptions {
  /** Lines for people (`text`), or an object of JSON each, with errors as objects. Default: `text`. */
  format?: "text" | "json";
  /** Says when. Default: the machine's own. */
  clock?: Clock;
}

/**
 * A logger that writes infos, warnings and errors to the console, a line each; of warnings and errors that
 * come again and again it prints fewer, and says how many there were.
 *
 * @param options The format.
 * @returns The logger, for the option `log`.
 *
 * @example
 * ```ts
 * import { Client, consoleLogger } from "@greenroom/matrix";
 *
 * const log = consoleLogger({ format: "json" });
 * await using client = new Client({ baseUrl: "https://matrix.example.org", log });
 * ```
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  checkOptions(options, { format: true, clock: true }, "make a logger");
  const { format = "text", clock = systemClock } = options;
  return consoleLog(clock, format);
}

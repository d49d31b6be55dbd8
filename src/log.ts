/**
 * The logger Greenroom writes to: four methods that a `@std/log` logger, a LogTape logger and `console` all have.
 *
 * Tokens, keys and message bodies are never logged.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";

/** Four levels; `message` is a sentence, `data` its structured fields. */
export interface Logger {
  /** What a developer of Greenroom or of a bot wants to see when looking for a fault. */
  debug(message: string, data?: Record<string, unknown>): void;
  /** What an operator wants to see. */
  info(message: string, data?: Record<string, unknown>): void;
  /** Something went wrong and was dealt with. */
  warn(message: string, data?: Record<string, unknown>): void;
  /** Something went wrong and was not dealt with. */
  error(message: string, data?: Record<string, unknown>): void;
}

/**
 * The default logger: LogTape's, which stays silent until the application configures it.
 *
 * @param category The part of Greenroom that speaks, below the category `greenroom`.
 */
export function defaultLogger(...category: string[]): Logger {
  return getLogger(["greenroom", ...category]);
}

/**
 * The logger Greenroom writes to: four methods that a `@std/log` logger, a LogTape logger and `console` all have.
 *
 * Tokens, keys and message bodies are never logged.
 *
 * @module
 */

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
 * Where LogTape keeps the logger of the whole process, whichever copy of it the application has: so that they all share one.
 * Greenroom does not load it: an application that has not configured it hears nothing, and one that has has loaded it.
 */
const ROOT = Symbol.for("logtape.rootLogger");

/** What of LogTape's loggers the default logger needs. */
interface LogTapeLogger extends Logger {
  getChild(category: readonly string[]): LogTapeLogger;
}

/**
 * The default logger: LogTape's, which stays silent until the application configures it.
 *
 * @param category The part of Greenroom that speaks, below the category `greenroom`.
 */
export function defaultLogger(...category: string[]): Logger {
  return new DefaultLogger(["greenroom", ...category]);
}

class DefaultLogger implements Logger {
  readonly #category: readonly string[];
  #found: Logger | undefined;

  constructor(category: readonly string[]) {
    this.#category = category;
  }

  debug(message: string, data?: Record<string, unknown>): void {
    this.#logger?.debug(message, data);
  }

  info(message: string, data?: Record<string, unknown>): void {
    this.#logger?.info(message, data);
  }

  warn(message: string, data?: Record<string, unknown>): void {
    this.#logger?.warn(message, data);
  }

  error(message: string, data?: Record<string, unknown>): void {
    this.#logger?.error(message, data);
  }

  get #logger(): Logger | undefined {
    if (this.#found !== undefined) return this.#found;
    const root: LogTapeLogger | undefined = Reflect.get(globalThis, ROOT);
    return this.#found = root?.getChild(this.#category);
  }
}

/**
 * The logger Greenroom writes to: four methods that a `@std/log` logger, a LogTape logger and
 * `console` all have.
 *
 * Tokens, keys and message bodies are never logged.
 *
 * @module
 */

import { checkOptions } from "../errors/known_names.ts";
import { type Clock, systemClock } from "./clock.ts";
import { consoleLog } from "./console_log.ts";

/** Four levels; `message` is a sentence, `data` its structured fields. */
export interface Logger {
  /** For developers of Greenroom or of a bot who look for a fault. */
  debug(message: string, data?: Record<string, unknown>): void;
  /** For operators. */
  info(message: string, data?: Record<string, unknown>): void;
  /** Something went wrong and was dealt with. */
  warn(message: string, data?: Record<string, unknown>): void;
  /** Something went wrong and was not dealt with. */
  error(message: string, data?: Record<string, unknown>): void;
}

/**
 * Where LogTape keeps the root logger, which all copies of LogTape in a process share. Greenroom
 * does not load LogTape: an application that has configured it has loaded it.
 */
const ROOT = Symbol.for("logtape.rootLogger");

/** The part of LogTape's loggers that the default logger uses. */
interface LogTapeLogger extends Logger {
  /**
   * Where its records go. LogTape has at least one once it is configured, and none after
   * `reset()`.
   */
  readonly sinks: readonly unknown[];
  /** By name, the loggers below it; those without a configuration are weak references. */
  readonly children: Readonly<Record<string, LogTapeLogger | WeakRef<LogTapeLogger>>>;
  getChild(category: readonly string[]): LogTapeLogger;
}

/** Discards everything. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * The logger of a part of a client: the application's, or none if it wants none, or by default
 * LogTape's where the application has configured that, and else the console, for warnings and
 * errors.
 *
 * @param log What the application wants.
 * @param clock The clock for the pauses of the console.
 * @param category The part of Greenroom that logs, below the category `greenroom`.
 */
export function loggerOf(log: Logger | false | undefined, clock: Clock, ...category: string[]): Logger {
  return log === false ? SILENT : log ?? new DefaultLogger(["greenroom", ...category], clock);
}

class DefaultLogger implements Logger {
  readonly #category: readonly string[];
  readonly #clock: Clock;
  #found: Logger | undefined;

  constructor(category: readonly string[], clock: Clock) {
    this.#category = category;
    this.#clock = clock;
  }

  debug(message: string, data?: Record<string, unknown>): void {
    this.#logTape?.debug(message, data);
  }

  info(message: string, data?: Record<string, unknown>): void {
    this.#logTape?.info(message, data);
  }

  warn(message: string, data?: Record<string, unknown>): void {
    this.#output.warn(message, data);
  }

  error(message: string, data?: Record<string, unknown>): void {
    this.#output.error(message, data);
  }

  /** LogTape if it is configured, else the console. */
  get #output(): Pick<Logger, "warn" | "error"> {
    return (isConfigured(root()) ? this.#logTape : undefined) ?? consoleLog(this.#clock);
  }

  get #logTape(): Logger | undefined {
    return this.#found ??= root()?.getChild(this.#category);
  }
}

function root(): LogTapeLogger | undefined {
  return Reflect.get(globalThis, ROOT);
}

function isConfigured(logger: LogTapeLogger | undefined): boolean {
  if (logger === undefined) return false;
  return logger.sinks.length > 0 ||
    Object.values(logger.children).some((child) =>
      isConfigured(child instanceof WeakRef ? child.deref() : child)
    );
}

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

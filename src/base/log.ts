/**
 * The logger Greenroom writes to: four methods that a `@std/log` logger, a LogTape logger and
 * `console` all have.
 *
 * Tokens, keys and message bodies are never logged.
 *
 * @module
 */

import type { Clock } from "./clock.ts";
import { consoleLog } from "./console_log.ts";

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
 * Where LogTape keeps the logger of the whole process, whichever copy of it the application has: so
 * that they all share one. Greenroom does not load it: an application that has configured it has
 * loaded it.
 */
const ROOT = Symbol.for("logtape.rootLogger");

/** What of LogTape's loggers the default logger needs. */
interface LogTapeLogger extends Logger {
  /**
   * Where what it is told goes: LogTape gives one at the least to whoever configures it, and takes
   * all away with `reset()`.
   */
  readonly sinks: readonly unknown[];
  /** By name, the loggers below it, weakly held where nothing was configured of them. */
  readonly children: Readonly<Record<string, LogTapeLogger | WeakRef<LogTapeLogger>>>;
  getChild(category: readonly string[]): LogTapeLogger;
}

/** Says nothing. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * The logger of a part of a client: the application's, or none if it wants none, or by default
 * LogTape's where the application has configured that, and else the console, for warnings and
 * errors.
 *
 * @param log What the application wants.
 * @param clock Tells when something was printed last.
 * @param category The part of Greenroom that speaks, below the category `greenroom`.
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
    this.#audible.warn(message, data);
  }

  error(message: string, data?: Record<string, unknown>): void {
    this.#audible.error(message, data);
  }

  /** Of what has to be heard, one of them tells. */
  get #audible(): Pick<Logger, "warn" | "error"> {
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

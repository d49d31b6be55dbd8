/**
 * The logger Greenroom writes to: four methods that a `@std/log` logger, a LogTape logger and `console` all
 * have. Tokens, keys and message bodies are never logged.
 *
 * Applications without a logger of their own get the log on the console: a line each, for people or as JSON;
 * repetitions of warnings and errors are counted.
 *
 * Over 300 lines because the console is the log that most bots have.
 *
 * @module
 */

import { checkOptions } from "../errors/known_names.ts";
import { printable, UNSHOWN } from "../errors/matrix_error.ts";
import { type Clock, elapsed, systemClock } from "./clock.ts";
import { placeOf } from "./own_code.ts";
import { platform } from "./platform/mod.ts";
import { RecentMap } from "./recent_map.ts";

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
  return (globalThis as { readonly [ROOT]?: LogTapeLogger })[ROOT];
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

/**
 * The shortest pause before a similar line is printed again, in milliseconds. It doubles with each
 * line.
 */
const FIRST_PAUSE = 60_000;
/** The longest pause, in milliseconds. A line that was not repeated for that long counts as new. */
const LAST_PAUSE = 86_400_000;
/** How many different messages are remembered. */
const MAX_MESSAGES = 200;
/**
 * How many different reasons of a message are remembered. All others count as one, since a server
 * can make up any number of them.
 */
const MAX_REASONS = 20;
/** What names a place in the program: lines that differ in it are different. */
const PLACES = ["command", "reminder", "every", "type"] as const;
/** The longest line, in characters. */
const MAX_LINE = 1_000;
/** The longest value in a line, in characters. */
const MAX_VALUE = 200;
/** How many causes of an error are printed. */
const MAX_CAUSES = 4;

type Level = "info" | "warning" | "error";

/** How lines look: for people, or one object of JSON each. */
type ConsoleFormat = "text" | "json";

type Fields = Readonly<Record<string, unknown>>;

/** The state of similar lines. */
interface Repeated {
  /** When one was last printed, in milliseconds of the clock. */
  at: number;
  /** When one last came. */
  seen: number;
  /** How long none is printed from then on, in milliseconds. */
  pause: number;
  /** How many came since. */
  suppressed: number;
}

const logs = { text: new WeakMap<Clock, ConsoleLog>(), json: new WeakMap<Clock, ConsoleLog>() };

/** The console log of a clock: clients of a process that fail for one reason print it once. */
function consoleLog(clock: Clock, format: ConsoleFormat = "text"): ConsoleLog {
  const found = logs[format].get(clock) ?? new ConsoleLog(clock, format);
  logs[format].set(clock, found);
  return found;
}

/** Prints, and counts repetitions of warnings and errors. */
class ConsoleLog {
  readonly #clock: Clock;
  readonly #format: ConsoleFormat;
  /** By message, reason and place in the program. */
  readonly #messages = new RecentMap<string, Map<string, Repeated>>(MAX_MESSAGES);

  constructor(clock: Clock, format: ConsoleFormat) {
    this.#clock = clock;
    this.#format = format;
  }

  debug(): void {}

  info(message: string, data?: Fields): void {
    console.log(this.#formatted("info", message, data, 0));
  }

  warn(message: string, data?: Fields): void {
    const line = this.#line("warning", message, data);
    if (line !== undefined) console.warn(line);
  }

  error(message: string, data?: Fields): void {
    const line = this.#line("error", message, data);
    if (line !== undefined) console.error(line);
  }

  /** @returns Undefined if it is not to be printed. */
  #line(level: Level, message: string, data: Fields = {}): string | undefined {
    const reason = data.error === undefined ? "" : `: ${reasonOf(data.error)}`;
    const places = PLACES.map((name) => typeof data[name] === "string" ? data[name] : "").join(" ");
    const more = this.#count(`${level} ${message}`, `${likeness(reason)} ${places}`);
    return more === undefined ? undefined : this.#formatted(level, message, data, more);
  }

  #formatted(level: Level, message: string, data: Fields = {}, more: number): string {
    if (this.#format === "json") {
      const time = new Date(this.#clock.now()).toISOString();
      const repeated = more === 0 ? {} : { repeated: more };
      try {
        return escaped(JSON.stringify({ time, level, message, ...data, ...repeated }, jsonValue));
      } catch { // it is circular, for one
        return escaped(JSON.stringify({ time, level, message, data: platform.inspect(data), ...repeated }));
      }
    }
    const { error, ...fields } = data;
    const reason = error === undefined ? "" : `: ${reasonOf(error)}`;
    const details = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || isIn(reason, value) ? [] : [`${name}: ${quoted(value)}`]
    );
    const beside = details.length === 0 ? "" : ` (${details.join(", ")})`;
    const line = printable(`[greenroom] ${level}: ${message}${reason}${beside}`, MAX_LINE);
    return more === 0 ? line : `${line}, ${more} more times`;
  }

  /**
   * @returns How many similar lines came since one was printed; undefined if this one is not to be
   * printed.
   */
  #count(message: string, alike: string): number | undefined {
    const now = this.#clock.now();
    const reasons = this.#reasonsOf(message);
    const key = reasons.size < MAX_REASONS || reasons.has(alike) ? alike : "";
    const similar = reasons.get(key);
    if (similar === undefined || now - similar.seen >= LAST_PAUSE) {
      reasons.set(key, { at: now, seen: now, pause: FIRST_PAUSE, suppressed: 0 });
      return 0;
    }
    similar.seen = now;
    if (elapsed(now, similar.at) < similar.pause) {
      similar.suppressed++;
      return undefined;
    }
    const { suppressed } = similar;
    reasons.set(key, { at: now, seen: now, pause: Math.min(2 * similar.pause, LAST_PAUSE), suppressed: 0 });
    return suppressed;
  }

  #reasonsOf(message: string): Map<string, Repeated> {
    const found = this.#messages.get(message) ?? new Map<string, Repeated>();
    this.#messages.set(message, found);
    return found;
  }
}

/** JSON in which a terminal shows all that is there: what turns directions, or is not shown, is escaped. */
function escaped(json: string): string {
  return json.replace(
    UNSHOWN, // JSON has escaped what of it stands below a space
    (one) => one.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** A value as JSON has it: an error with its name, message, code and causes. */
function jsonValue(_name: string, value: unknown): unknown {
  if (value instanceof Error) return errorFields(value, MAX_CAUSES);
  if (typeof value === "bigint") return String(value);
  return value instanceof Map || value instanceof Set ? [...value] : value;
}

function errorFields(error: Error, depth: number): unknown {
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  const fields = { name, message, ...(typeof code === "string" ? { code } : {}), stack };
  return depth > 0 && cause instanceof Error ? { ...fields, cause: errorFields(cause, depth - 1) } : fields;
}

/**
 * What a reason has in common with similar ones: numbers and identifiers differ each time.
 */
function likeness(reason: string): string {
  return reason.replace(/[!$@#](?:[\w+/=.-]|%[\dA-F]{2})+(?::[\w.:-]+)?/g, "@").replace(/\d+/g, "0");
}

/**
 * The text of an error with its causes, and where it was thrown if that is in the application.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return quoted(error, MAX_LINE);
  let text = String(error);
  let { cause } = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if (!text.includes(cause.message)) text += `, because of ${cause}`;
    cause = cause.cause;
  }
  const place = placeOf(error);
  return place === undefined ? text : `${text}, at ${place}`;
}

/** Returns whether a text contains an identifier or an address; a command's name is in many a text. */
function isIn(text: string, value: unknown): boolean {
  return typeof value === "string" && /^[!$@#]|^\w+:\/\//.test(value) && text.includes(value);
}

function quoted(value: unknown, maxLength: number = MAX_VALUE): string {
  const text = typeof value === "object" ? platform.inspect(value, { breakLength: Infinity }) : String(value);
  return printable(text, maxLength);
}

/**
 * Warnings and errors on the console, for applications that have said nothing of a logger: a line
 * each, and what is repeated is counted.
 *
 * @module
 */

import { type Clock, elapsed } from "./clock.ts";
import { printable } from "../errors/printable.ts";

/**
 * What is alike is printed again after this long at the earliest, in milliseconds; after twice as
 * long each time that it was,
 */
const FIRST_PAUSE = 60_000;
/** at the most. What has not happened for that long is news. */
const LAST_PAUSE = 86_400_000;
/** How many different sentences are remembered, */
const MAX_SENTENCES = 200;
/**
 * and how many different reasons of each: with more, all others count as one, since they may be
 * made up by somebody else.
 */
const MAX_REASONS = 20;
/** Lines are cut off here, in characters: */
const MAX_LINE = 1_000;
/** and what they quote here. */
const MAX_VALUE = 200;
/** How many causes of an error are told. */
const MAX_CAUSES = 4;

/**
 * Everything of this package lies below here: whoever looks for a mistake of their own does not
 * want to see it.
 */
const OWN = new URL(".", import.meta.url).href;

type Level = "warning" | "error";
type Fields = Readonly<Record<string, unknown>>;

/** What was printed of lines that are alike. */
interface Told {
  /** When it was printed last, in milliseconds of the clock. */
  at: number;
  /** When it happened last. */
  seen: number;
  /** How long it is not printed from then on. */
  pause: number;
  /** How often it has happened since. */
  untold: number;
}

const logs = new WeakMap<Clock, ConsoleLog>();

/**
 * The console of all who go by a clock: clients of a process that fail for one reason say so once.
 */
export function consoleLog(clock: Clock): ConsoleLog {
  const found = logs.get(clock) ?? new ConsoleLog(clock);
  logs.set(clock, found);
  return found;
}

/** Prints. */
class ConsoleLog {
  readonly #clock: Clock;
  /** By sentence and reason, the sentence that was heard longest ago first. */
  readonly #sentences = new Map<string, Map<string, Told>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  warn(message: string, data?: Fields): void {
    const line = this.#line("warning", message, data);
    if (line !== undefined) console.warn(line);
  }

  error(message: string, data?: Fields): void {
    const line = this.#line("error", message, data);
    if (line !== undefined) console.error(line);
  }

  /** @returns Undefined if enough was said of it. */
  #line(level: Level, message: string, { error, ...fields }: Fields = {}): string | undefined {
    const reason = error === undefined ? "" : `: ${reasonOf(error)}`;
    const more = this.#count(`${level} ${message}`, reason);
    if (more === undefined) return undefined;
    const details = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || isIn(reason, value) ? [] : [`${name}: ${quoted(value)}`]
    );
    const beside = details.length === 0 ? "" : ` (${details.join(", ")})`;
    const line = printable(`[greenroom] ${level}: ${message}${reason}${beside}`, MAX_LINE);
    return more === 0 ? line : `${line}, ${more} more times`;
  }

  /**
   * @returns How often something alike has happened since it was printed; undefined if it is not to
   * be printed.
   */
  #count(sentence: string, reason: string): number | undefined {
    const now = this.#clock.now();
    const reasons = this.#reasonsOf(sentence);
    const alike = likeness(reason);
    const key = reasons.size < MAX_REASONS || reasons.has(alike) ? alike : "";
    const told = reasons.get(key);
    if (told === undefined || now - told.seen >= LAST_PAUSE) {
      reasons.set(key, { at: now, seen: now, pause: FIRST_PAUSE, untold: 0 });
      return 0;
    }
    told.seen = now;
    if (elapsed(now, told.at) < told.pause) {
      told.untold++;
      return undefined;
    }
    const { untold } = told;
    reasons.set(key, { at: now, seen: now, pause: Math.min(2 * told.pause, LAST_PAUSE), untold: 0 });
    return untold;
  }

  #reasonsOf(sentence: string): Map<string, Told> {
    const found = this.#sentences.get(sentence) ?? new Map<string, Told>();
    this.#sentences.delete(sentence);
    this.#sentences.set(sentence, found);
    const [oldest] = this.#sentences.keys();
    if (this.#sentences.size > MAX_SENTENCES && oldest !== undefined) this.#sentences.delete(oldest);
    return found;
  }
}

/**
 * What a reason has in common with those that are alike: numbers and identifiers differ each time.
 */
function likeness(reason: string): string {
  return reason.replace(/[!$@#](?:[\w+/=.-]|%[\dA-F]{2})+(?::[\w.:-]+)?/g, "@").replace(/\d+/g, "0");
}

/**
 * Why something has failed: an error with what led to it, and where it was thrown if that is in the
 * application.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return quoted(error);
  let text = String(error);
  let { cause } = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if (!text.includes(cause.message)) text += `, because of ${cause}`;
    cause = cause.cause;
  }
  const place = placeOf(error);
  return place === undefined ? text : `${text}, at ${place}`;
}

/** The first place in the stack that is not in this package. */
function placeOf({ stack = "" }: Error): string | undefined {
  const places = [...stack.matchAll(/^ +at .*?((?:file|https?):\/\/[^\s()]+)/gm)].map(([, place]) => place);
  return places.find((place) => place !== undefined && !place.startsWith(OWN));
}

/** Whether a text says already what the value is. */
function isIn(text: string, value: unknown): boolean {
  return typeof value === "string" && text.includes(value);
}

function quoted(value: unknown): string {
  const text = typeof value === "object" ? Deno.inspect(value, { breakLength: Infinity }) : String(value);
  return printable(text, MAX_VALUE);
}

/**
 * What lies in wait for operations, in any process of a world:
 * for one of a name, or for whatever is seldom done.
 *
 * @module
 */

import type { Operation } from "../../../tests/client/support/crash.ts";
import type { Chance } from "../core/chance.ts";
import type { Weather } from "./network.ts";
import { COMMON, operationOf } from "./operations.ts";
import type { Fault } from "./process.ts";

/** What happens to an operation: a fault of the process, or something on the network. */
export interface Ambush<Kind extends Weather["kind"]> {
  readonly operation: Operation;
  /** The name of the operation. Default: any that is seldom. */
  readonly subject?: string;
  /** What happens: a fault of {@link FAULTS}, or something on the network. */
  readonly what: FaultName | Kind;
}

/** The names of operations. */
export interface OperationNames {
  readonly commits: readonly string[];
  readonly requests: readonly string[];
}

/** How often a world does what it does seldom. */
const SELDOM = 3;

/** What happens to operations by a fault of the process. */
export const FAULTS = ["crash before", "crash after", "error before", "error after"] as const;
type FaultName = typeof FAULTS[number];

/** What happens to requests on the network. */
export const WEATHERS = [
  ...["lost", "lost after", "twice", "late", "late answer", "overtaken", "429", "502", "500"] as const,
];

/** What lies in wait, as it meets with an operation. */
export interface Met<Kind extends Weather["kind"]> {
  readonly fault?: Pick<Fault, "kind" | "takesEffect">;
  readonly weather?: Kind;
}

/** All that lies in wait. */
export class Ambushes<Kind extends Weather["kind"]> {
  readonly #weathers: readonly Kind[];
  readonly #note: (line: string) => void;
  readonly #counts = new Map<string, number>();
  readonly #waiting: Ambush<Kind>[] = [];

  /**
   * @param options.weathers What can happen to requests on the network.
   * @param options.note Takes what lies in wait, in words.
   */
  constructor(
    { weathers, note }: { readonly weathers: readonly Kind[]; readonly note: (line: string) => void },
  ) {
    this.#weathers = weathers;
    this.#note = note;
  }

  /** Has something lie in wait. */
  lie(ambush: Ambush<Kind>): void {
    const { operation, subject, what } = ambush;
    this.#waiting.push(ambush);
    this.#note(
      `"${what}" lies in wait for ${subject === undefined ? `a rare ${operation}` : `"${subject}"`}`,
    );
  }

  /**
   * Has one of all that can happen lie in wait for each of these: an operation of some names, or any that is
   * seldom.
   */
  draw(chance: Chance, each: readonly (OperationNames | undefined)[]): void {
    for (const names of each) {
      const [operation, what] = chance.pick([
        ...FAULTS.map((fault) => ["commit", fault] as const),
        ...[...FAULTS, ...this.#weathers].map((happens) => ["request", happens] as const),
      ]);
      if (names === undefined) this.lie({ operation, what });
      else {
        const subject = chance.pick(operation === "commit" ? names.commits : names.requests);
        this.lie({ operation: operation === "commit" ? operation : operationOf(subject), subject, what });
      }
    }
  }

  /** Has what lies in wait meet with an operation. */
  meet(operation: Operation, subject: string): Met<Kind> {
    const count = (this.#counts.get(subject) ?? 0) + 1;
    this.#counts.set(subject, count);
    if (this.#waiting.length === 0) return {};
    const isSeldom = count <= SELDOM && !COMMON.has(subject);
    const index = this.#waiting.findIndex((each) =>
      each.operation === operation && (each.subject === undefined ? isSeldom : each.subject === subject)
    );
    const [met] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (met === undefined) return {};
    const { what } = met;
    return isFault(what) ? { fault: faultOf(what) } : { weather: what };
  }

  /** Has nothing lie in wait any more. */
  clear(): void {
    this.#waiting.length = 0;
  }
}

function isFault(what: string): what is FaultName {
  return FAULTS.some((fault) => fault === what);
}

function faultOf(what: FaultName): Pick<Fault, "kind" | "takesEffect"> {
  return { kind: what.startsWith("crash") ? "crash" : "error", takesEffect: what.endsWith("after") };
}

/**
 * The faults in place, and which of them hits.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import type { UserID } from "../types/ids.ts";
import type { Fault, FaultMatch, FaultRule, Faults } from "./faults.ts";

type Names<Union> = Union extends unknown ? keyof Union : never;

/** What any kind of fault has. */
const RULE: Readonly<Record<Names<FaultRule>, true>> = {
  ...{ kind: true, match: true, times: true, skip: true, status: true, body: true, headers: true },
  ...{ ms: true, bytes: true, clean: true, location: true },
};
const MATCH: OptionNames<FaultMatch> = { method: true, path: true, user: true };

/** A fault together with what it holds. */
export class ActiveFault implements Fault {
  /** What goes wrong. */
  readonly rule: FaultRule;
  readonly #onRemove: () => void;
  #hits = 0;
  #skipped = 0;
  #held = Promise.withResolvers<void>();
  #hit = Promise.withResolvers<void>();

  /** Puts a fault in place; `onRemove` takes it out of the list. */
  constructor(rule: FaultRule, onRemove: () => void) {
    this.rule = rule;
    this.#onRemove = onRemove;
  }

  /** How many requests it has hit. */
  get hits(): number {
    return this.#hits;
  }

  /** Resolves when it is released. */
  get released(): Promise<void> {
    return this.#held.promise;
  }

  /** Whether it hits a request that it matches; counts if so. */
  strike(): boolean {
    if (this.#skipped < (this.rule.skip ?? 0)) {
      this.#skipped++;
      return false;
    }
    if (this.#hits >= (this.rule.times ?? Infinity)) return false;
    this.#hits++;
    this.#hit.resolve();
    this.#hit = Promise.withResolvers();
    return true;
  }

  /** Takes it away. */
  remove(): void {
    this.#onRemove();
    this.release();
  }

  /** Lets the requests go on that it holds now. */
  release(): void {
    this.#held.resolve();
    this.#held = Promise.withResolvers();
  }

  /** Resolves when it hits next. */
  hit(): Promise<void> {
    return this.#hit.promise;
  }

  /** Takes it away at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.remove();
  }
}

/** The faults that are in place. */
export class FaultList implements Faults {
  readonly #active: ActiveFault[] = [];

  /** Puts a fault in place. */
  add(rule: FaultRule): Fault {
    checkOptions(rule, RULE, "put a fault in place");
    checkOptions(rule.match, MATCH, "put a fault in place", "match.");
    const fault: ActiveFault = new ActiveFault(rule, () => {
      const at = this.#active.indexOf(fault);
      if (at >= 0) this.#active.splice(at, 1);
    });
    this.#active.push(fault);
    return fault;
  }

  /** Takes all faults away. */
  clear(): void {
    for (const fault of [...this.#active]) fault.remove();
  }

  /** The fault that hits a request, if any. Call it once per request. */
  strike(request: { method: string; path: string; user: UserID | undefined }): ActiveFault | undefined {
    return this.#active.find((fault) => fits(fault.rule.match ?? {}, request) && fault.strike());
  }
}

function fits(
  match: FaultMatch,
  request: { method: string; path: string; user: UserID | undefined },
): boolean {
  const { method, path, user } = match;
  if (method !== undefined && method !== request.method) return false;
  if (user !== undefined && user !== request.user) return false;
  if (path === undefined) return true;
  return typeof path === "string" ? request.path.includes(path) : request.path.search(path) >= 0;
}

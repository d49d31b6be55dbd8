/**
 * Faults on demand: what the network, a proxy or a homeserver in trouble would do to a request.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { UserID } from "../types/ids.ts";

/** Which requests a fault hits. What is left out matches everything. */
export interface FaultMatch {
  /** The HTTP method, in capitals. */
  readonly method?: string;
  /**
   * A part of the path, or a regular expression over it. The path is the one on the wire, with its
   * escapes.
   */
  readonly path?: string | RegExp;
  /** The user who sends the request. */
  readonly user?: UserID;
}

/** Answers with a status of your choice; the homeserver does not see the request. */
export interface StatusFault {
  /** Which fault this is. */
  readonly kind: "status";
  /** The HTTP status, for example 502 or 429. */
  readonly status: number;
  /**
   * The body: a string is sent as it is, everything else as JSON. Defaults to
   * `{"errcode":"M_UNKNOWN",…}`.
   */
  readonly body?: unknown;
  /** Headers, for example `{ "retry-after": "2" }`. */
  readonly headers?: Record<string, string>;
}

/** Answers with the error page of a proxy. */
export interface HtmlFault {
  /** Which fault this is. */
  readonly kind: "html";
  /** The HTTP status. Defaults to 502. */
  readonly status?: number;
}

/** Lets the request take effect, but answers with something else and status 200. */
export interface BodyFault {
  /** Which fault this is. */
  readonly kind: "body";
  /** The body: a string is sent as it is, everything else as JSON. */
  readonly body: unknown;
}

/** Answers late, by the homeserver's clock. */
export interface DelayFault {
  /** Which fault this is. */
  readonly kind: "delay";
  /** The delay, in milliseconds. */
  readonly ms: number;
}

/**
 * Cuts the connection: `fetch` rejects with a `TypeError`. With a listening homeserver the
 * connection is cut as well, but the status line may have arrived, and then reading the body
 * rejects.
 */
export interface DropFault {
  /** Which fault this is: before the homeserver saw the request, or after it took effect. */
  readonly kind: "drop" | "drop-after";
}

/** Cuts the body off. */
export interface TruncateFault {
  /** Which fault this is. */
  readonly kind: "truncate";
  /** How many bytes arrive. Defaults to half of them. */
  readonly bytes?: number;
  /**
   * Whether the body seems to end there, instead of breaking off with an error. Defaults to
   * `false`.
   */
  readonly clean?: boolean;
}

/**
 * Lets the request take effect twice, as a proxy that repeats it does. The second answer is the one
 * that arrives.
 */
export interface DuplicateFault {
  /** Which fault this is. */
  readonly kind: "duplicate";
}

/**
 * Holds the request back until {@link Fault.release}: before it takes effect, or its answer
 * afterwards.
 */
export interface HoldFault {
  /** Which fault this is. */
  readonly kind: "hold" | "hold-after";
}

/** Redirects the client to another URL. */
export interface RedirectFault {
  /** Which fault this is. */
  readonly kind: "redirect";
  /** The URL of the redirect. */
  readonly location: string;
  /** The HTTP status. Defaults to 307. */
  readonly status?: number;
}

/** What can go wrong. */
export type FaultEffect =
  | StatusFault
  | HtmlFault
  | BodyFault
  | DelayFault
  | DropFault
  | TruncateFault
  | DuplicateFault
  | HoldFault
  | RedirectFault;

/** A fault to add. */
export type FaultRule = FaultEffect & {
  /** Which requests it hits. Defaults to all. */
  readonly match?: FaultMatch;
  /** How many requests it hits before it is used up. Defaults to all. */
  readonly times?: number;
  /** How many matching requests pass before the first hit. Defaults to 0. */
  readonly skip?: number;
};

/** A fault that was added to a homeserver. */
export interface Fault extends Disposable {
  /** How many requests it has hit. */
  readonly hits: number;
  /** Removes the fault, and lets the requests go on that it holds. */
  remove(): void;
  /** Lets the requests go on that the fault holds now. The fault stays. */
  release(): void;
  /** Resolves when the fault hits the next request. */
  hit(): Promise<void>;
}

/**
 * The faults of a homeserver. Of several that match a request, the one that was added first hits.
 */
export interface Faults {
  /**
   * Adds a fault.
   *
   * @param rule What goes wrong, and for which requests.
   * @returns The fault, to remove it again, or to count the requests that it has hit.
   * @throws {ValueError} If there is no such kind of fault, or an option can't be used.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * homeserver.faults.add({ kind: "status", status: 502, match: { path: "/versions" }, times: 1 });
   * const { status } = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
   * assertEquals(status, 502);
   * ```
   */
  add(rule: FaultRule): Fault;
  /**
   * Removes all faults.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * homeserver.faults.add({ kind: "status", status: 502 });
   * homeserver.faults.clear();
   * const { status } = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
   * assertEquals(status, 200);
   * ```
   */
  clear(): void;
}

type Names<Union> = Union extends unknown ? keyof Union : never;

/** What any kind of fault has. */
const RULE: Readonly<Record<Names<FaultRule>, true>> = {
  ...{ kind: true, match: true, times: true, skip: true, status: true, body: true, headers: true },
  ...{ ms: true, bytes: true, clean: true, location: true },
};
const KINDS = "status html body delay drop drop-after truncate duplicate hold hold-after redirect".split(" ");
const KIND = `kind must be one of ${KINDS.join(", ")}`;
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

  /** Returns whether it hits a request that it matches; counts if so. */
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
    if (!KINDS.includes(rule.kind)) throw new ValueError(`Cannot put a fault in place: ${KIND}`);
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

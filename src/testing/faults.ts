/**
 * Faults on demand: what the network, a proxy or a homeserver in trouble would do to a request.
 *
 * @module
 */

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
  /** Who sends the request. */
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
  /** How late, in milliseconds. */
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

/** Sends the client somewhere else. */
export interface RedirectFault {
  /** Which fault this is. */
  readonly kind: "redirect";
  /** The URL to go to. */
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

/** A fault in place. */
export interface Fault extends Disposable {
  /** How many requests it has hit. */
  readonly hits: number;
  /** Takes it away. Requests it holds are released. */
  remove(): void;
  /** Lets the requests go on that it holds now. */
  release(): void;
  /** Resolves when it hits next. */
  hit(): Promise<void>;
}

/**
 * The faults of a homeserver. Of several that match a request, the one that was added first hits.
 */
export interface Faults {
  /** Puts a fault in place. */
  add(rule: FaultRule): Fault;
  /** Takes all faults away. */
  clear(): void;
}

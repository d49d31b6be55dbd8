/**
 * All tries of a request: when it is sent, and when again; and when to begin again with work of several
 * requests.
 *
 * A request that must not be repeated as it is has one try. The work that it is part of may find out
 * what has become of it, and go on from there: that begins again as often as any other request has
 * tries. What the transport has tried again itself is not tried even more.
 *
 * @module
 */

import { backoff, type Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { Turns } from "../../base/runs.ts";
import { MatrixRequestError, NetworkError } from "../../errors/request_error.ts";
import { UnrecognizedError } from "../../errors/errcodes.ts";
import type { UserID } from "../../types/ids.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import type { Call } from "./http_options.ts";
import { Gate, type Passenger } from "./rate_gate.ts";
import type { RequestOptions, RetryPolicy } from "./request_options.ts";

/** A request that is to be made. */
export interface Attempted<Path extends string> {
  readonly endpoint: Endpoint<Path, unknown>;
  readonly call: Call<Path>;
  /** What the caller says of it. */
  readonly options: RequestOptions;
  /** How it is sent. */
  readonly request: Pick<Exchange, "operation" | "path" | "signal">;
  /** When it is sent again. */
  readonly policy: RetryPolicy;
  /** As whom it is made, if that is not the token's own user. */
  readonly user: UserID | undefined;
}

/** Makes the requests of a client: in the order of their rooms, no more than the server wants, and again. */
export class Tries {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** By kind of request; those of a server that refuses. */
  readonly #gates = new Map<string, Gate>();
  /** How many requests there were. */
  #places = 0;
  readonly #rooms = new Turns<string>();

  /**
   * @param clock Measures the waits.
   * @param log Gets why a request is made again.
   */
  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Makes a request.
   *
   * @param attempted The request.
   * @param once Makes one try; it gets how many were before.
   * @throws Why the last try has failed.
   */
  async run<Path extends string, Result>(
    attempted: Attempted<Path>,
    once: (resends: number) => Promise<Result>,
  ): Promise<Result> {
    const { endpoint: { inOrder }, call, options: { signal }, user } = attempted;
    if (!inOrder) return await this.#all(attempted, once);
    const { roomId } = call.path as { readonly roomId?: string };
    return await this.#rooms.take(() => this.#all(attempted, once), {
      of: `${roomId} ${user ?? ""}`,
      signal,
    });
  }

  async #all<Path extends string, Result>(
    { endpoint: { idempotent, limit }, call: { raw }, options, request, policy, user }: Attempted<Path>,
    once: (resends: number) => Promise<Result>,
  ): Promise<Result> {
    const { operation, path, signal } = request;
    const { repeatable = true } = raw ?? {};
    const isSafe = repeatable && idempotent;
    // What must not be done twice is tried again only as often as the call itself says.
    const isWanted = options.retry !== false && options.retry?.maxRetries !== undefined;
    const maxRetries = isSafe || isWanted ? policy.maxRetries : 0;
    const waits = policy.maxRetries > 0;
    const passenger: Passenger = { kind: `${limit} ${user ?? ""}`, policy, signal, place: this.#places++ };
    for (let [resends, failures] = [0, 0];; resends++) {
      if (waits) await this.#gates.get(passenger.kind)?.enter(passenger);
      try {
        const result = await once(resends);
        this.#left(passenger, { isAnswered: true });
        return result;
      } catch (error) {
        const told = { operation, path, attempt: resends + 1, error: String(error) };
        if (waits && repeatable && isLimit(error) && policy.retryable(error)) {
          const closed = this.#gateOf(passenger.kind).refused(passenger, error.retryAfter);
          if (closed === undefined) throw error;
          this.#log.warn("The server limits requests: waiting", { ...told, delay: Math.round(closed) });
          continue;
        }
        this.#left(passenger, { isAnswered: error instanceof MatrixRequestError && !isLimit(error) });
        const delay = repeatable ? retryDelay(error, failures++, { ...policy, maxRetries }) : undefined;
        if (delay === undefined) throw isSafe ? error : singleTry(error);
        this.#log.warn("Request failed, trying again", { ...told, delay: Math.round(delay) });
        await this.#clock.delay(delay, { signal });
      }
    }
  }

  /** The gate of a kind of requests, of which one was refused since there were too many. */
  #gateOf(kind: string): Gate {
    const known = this.#gates.get(kind);
    if (known !== undefined) return known;
    for (const [name, { isIdle }] of this.#gates) if (isIdle) this.#gates.delete(name);
    const gate = new Gate(this.#clock);
    this.#gates.set(kind, gate);
    return gate;
  }

  /** A request has ended, and was not refused since there were too many. */
  #left({ kind, place }: Passenger, outcome: { readonly isAnswered: boolean }): void {
    const gate = this.#gates.get(kind);
    if (gate === undefined) return;
    gate.left(place, outcome);
    if (gate.isOpen) this.#gates.delete(kind);
  }
}

/**
 * Returns whether a server has refused since it has failed, or has too much to do: it may not the next
 * time.
 */
export function isPassing({ status }: MatrixRequestError): boolean {
  return status === 429 || status >= 500;
}

/** Returns whether a server has refused since it wants fewer requests. */
function isLimit(error: unknown): error is MatrixRequestError {
  return error instanceof MatrixRequestError && error.status === 429;
}

/** Returns the wait before the next try, in milliseconds; undefined if there is to be none. */
function retryDelay(error: unknown, retries: number, policy: RetryPolicy): number | undefined {
  if (retries >= policy.maxRetries) return undefined;
  const own = backoff(retries, policy);
  if (error instanceof NetworkError) return own;
  if (!(error instanceof MatrixRequestError) || !policy.retryable(error)) return undefined;
  const asked = error.retryAfter;
  if (asked === undefined) return own;
  return asked <= policy.maxRetryAfter ? asked : undefined;
}

/** Returns whether a homeserver refused, and no proxy did, nor another API. */
export function isMatrixRefusal(error: unknown): boolean {
  return error instanceof MatrixRequestError && typeof error.body.errcode === "string" &&
    !(error instanceof UnrecognizedError);
}

/** Why requests failed that had one try. */
const singleTries = new WeakSet<object>();

/** Notes that a request had one try because it must not be repeated. */
function singleTry(error: unknown): unknown {
  if (error instanceof Error) singleTries.add(error);
  return error;
}

/**
 * Returns the wait before the work begins again, in milliseconds; undefined if it is not to.
 *
 * @param error Why it ended.
 * @param restarts How often it has begun again.
 */
export function restartDelay(error: unknown, restarts: number, policy: RetryPolicy): number | undefined {
  return error instanceof Error && singleTries.has(error) ? retryDelay(error, restarts, policy) : undefined;
}

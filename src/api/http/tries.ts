/**
 * All tries of a request: when it is sent, and when again.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import type { UserID } from "../../types/ids.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import type { Call } from "./http_options.ts";
import { type Passenger, RateGates } from "./rate_gates.ts";
import type { RequestOptions } from "./request_options.ts";
import { isLimit, retryDelay, type RetryPolicy, singleTry } from "./retry.ts";

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
  readonly #gates: RateGates;
  readonly #order = new RoomOrder();

  /**
   * @param clock Measures the waits.
   * @param log Gets why a request is made again.
   */
  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
    this.#gates = new RateGates(clock);
  }

  /**
   * Makes a request.
   *
   * @param attempted The request.
   * @param once Makes one try; it gets how many were before.
   * @throws Why the last try has failed.
   */
  run<Path extends string, Result>(
    attempted: Attempted<Path>,
    once: (resends: number) => Promise<Result>,
  ): Promise<Result> {
    const { endpoint: { inOrder }, call, options: { signal }, user } = attempted;
    if (!inOrder) return this.#all(attempted, once);
    const { roomId } = call.path as { readonly roomId?: string };
    return this.#order.take(`${roomId} ${user ?? ""}`, signal, () => this.#all(attempted, once));
  }

  async #all<Path extends string, Result>(
    { endpoint: { idempotent, limit }, call: { raw }, options, request, policy, user }: Attempted<Path>,
    once: (resends: number) => Promise<Result>,
  ): Promise<Result> {
    const { operation, path, signal } = request;
    const { repeatable = true } = raw ?? {};
    const isSafe = repeatable && idempotent;
    // What must not be done twice is tried again only as often as the call itself says.
    const maxRetries = isSafe || ownRetries(options) !== undefined ? policy.maxRetries : 0;
    const waits = policy.maxRetries > 0;
    const gates = this.#gates;
    const passenger: Passenger = { kind: `${limit} ${user ?? ""}`, policy, signal, place: gates.nextPlace() };
    for (let [resends, failures] = [0, 0];; resends++) {
      if (waits) await gates.enter(passenger);
      try {
        const result = await once(resends);
        gates.left(passenger, { isAnswered: true });
        return result;
      } catch (error) {
        const told = { operation, path, attempt: resends + 1, error: String(error) };
        if (waits && repeatable && isLimit(error) && policy.retryable(error)) {
          const closed = gates.refused(passenger, error.retryAfter);
          if (closed === undefined) throw error;
          this.#log.warn("The server wants fewer requests, waiting", { ...told, delay: Math.round(closed) });
          continue;
        }
        gates.left(passenger, { isAnswered: error instanceof MatrixRequestError && !isLimit(error) });
        const delay = repeatable ? retryDelay(error, failures++, { ...policy, maxRetries }) : undefined;
        if (delay === undefined) throw isSafe ? error : singleTry(error);
        this.#log.warn("Request failed, trying again", { ...told, delay: Math.round(delay) });
        await this.#clock.delay(delay, { signal });
      }
    }
  }
}

/** How often a call itself wants to be tried again; undefined: it does not say. */
function ownRetries({ retry }: RequestOptions): number | undefined {
  return retry === false ? undefined : retry?.maxRetries;
}

/** Has what is done in a room done one after the other, in the order in which it was asked for. */
export class RoomOrder {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Does something when all that came before in the room has ended, well or not.
   *
   * @param room The room.
   * @param signal Ends the wait.
   * @param work Does it.
   * @throws What the work throws, or the signal's reason.
   */
  async take<Result>(
    room: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.#last.get(room);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const mine = before === undefined ? done : before.then(() => done);
    this.#last.set(room, mine);
    try {
      if (before !== undefined) await until(before, signal);
      return await work();
    } finally {
      resolve();
      void mine.then(() => {
        if (this.#last.get(room) === mine) this.#last.delete(room);
      });
    }
  }
}

/** Waits, but no longer than the signal lets it. */
async function until(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await done;
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort);
  await Promise.race([done, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

/**
 * The time limit of one try of a request, and how the try ended if it failed.
 *
 * @module
 */

import { alarm, type Clock } from "../../base/clock.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { missingPermission } from "../../errors/missing_permission_error.ts";
import { NetworkError, RequestTimeoutError } from "../../errors/network_error.ts";
import { printable } from "../../errors/printable.ts";
import type { Sent } from "../../base/sent.ts";

const ENDED = new DOMException("The request has ended", "AbortError");

/** Aborts its signal when nothing has happened for a while, or when the caller's signal aborts. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #outer: AbortSignal | undefined;
  #progress = 0;
  #stopWatch: (() => void) | undefined;
  #timedOut = false;
  /** Whether all of the answer has come. */
  #settled = false;
  /** Whether a function waits for the end. */
  #awaited = false;
  #failure: { readonly error: unknown } | undefined;

  /** The request, which errors must not repeat. */
  readonly sent: Sent;

  /** Whether another owner has to call {@link Deadline.end}. */
  held = false;

  /** Whether it is not the network that is waited for: time does not count then. */
  idle = false;

  /**
   * @param clock Measures the time.
   * @param ms How long nothing may happen, in milliseconds; 0 means for ever.
   * @param outer The caller's signal.
   * @param sent The request, as errors describe it.
   */
  constructor(clock: Clock, ms: number, outer: AbortSignal | undefined, sent: Sent) {
    outer?.throwIfAborted();
    this.sent = sent;
    this.#clock = clock;
    this.#ms = ms;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#abort);
    if (ms > 0) this.#watch();
  }

  /** What `fetch` listens to. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something happened: the time starts again. */
  touch(): void {
    this.#progress++;
  }

  /** All of the answer has come: there is nothing left to break off. */
  settle(): void {
    this.#settled = true;
  }

  /** Calls back when the request ends, in whatever way. */
  whenEnded(call: () => void): void {
    this.#awaited = true;
    this.signal.addEventListener("abort", call, { once: true });
  }

  /** Makes the caller responsible for {@link Deadline.end}. */
  hold(): void {
    this.held = true;
  }

  /**
   * Ends the request because of something on this side, which is what the request then fails with.
   */
  fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.#failure = { error };
    this.#close(error);
  }

  /** Ends the watch, and with it whatever of the answer has not been read. */
  end(): void {
    this.#outer?.removeEventListener("abort", this.#abort);
    if (this.#settled && !this.#awaited) this.#stopWatch?.();
    else this.#close(ENDED);
  }

  /**
   * What a request under this watch fails with.
   *
   * @param error What was thrown.
   * @param request Names the request.
   */
  explain(error: unknown, request: string): unknown {
    if (this.#outer?.aborted) return this.#outer.reason;
    if (this.#failure !== undefined) return this.#failure.error;
    if (error instanceof MatrixError) return error;
    const { host } = this.sent;
    const cause = this.sent.shownError(error);
    if (this.#timedOut) {
      const state = `${host} made no progress for ${this.#ms} ms`;
      return new RequestTimeoutError(`Cannot ${request}: ${state}`, { cause });
    }
    return connectionFailure(cause, request, host);
  }

  readonly #abort = (): void => this.#close(this.#outer?.reason);

  #close(reason: unknown): void {
    this.#stopWatch?.();
    this.#controller.abort(reason);
  }

  /** Looks once per time limit whether there was progress. */
  #watch(): void {
    const seen = this.#progress;
    this.#stopWatch = alarm(this.#clock, this.#ms, () => {
      if (this.idle || seen !== this.#progress) return this.#watch();
      this.#timedOut = true;
      this.#close(new DOMException("The request timed out", "TimeoutError"));
    });
  }
}

/** What Deno's `fetch` says in front of the reason: the address, which may hold private data. */
const NATIVE = /^error sending request .*\): (?:client error \(\w+\): )?/s;

/** What Deno's `fetch` says of a connection, and what to say in its place: with what can be done about it. */
const CLEARER: readonly (readonly [native: string, clearer: string])[] = [
  ["InvalidContentType", "what answers there does not speak TLS; is its address http://…?"],
  [
    "invalid peer certificate: UnknownIssuer",
    "invalid peer certificate: UnknownIssuer; to trust it, give the issuer's certificate by DENO_CERT=<file>, " +
    "or --cert <file>",
  ],
];

/**
 * Says that a connection has failed, and why: the name is unknown, no server listens, the
 * certificate is not valid.
 *
 * @param error What `fetch` threw, or reading the answer.
 * @param request Names the request.
 * @param host Whom it went to.
 */
function connectionFailure(error: unknown, request: string, host: string): MatrixError {
  const missing = missingPermission(error, request);
  if (missing !== undefined) return missing;
  const text = reasonOf(error);
  return new NetworkError(
    `Cannot ${request}: the connection to ${host} failed${text && `: ${printable(text, 200)}`}`,
    { cause: error },
  );
}

/** The reason in Deno's words; in those of another `fetch` without addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { message } = error.cause instanceof Error ? error.cause : error;
  const [, clearer] = CLEARER.find(([native]) => message.includes(native)) ?? [];
  return clearer ?? message.replace(NATIVE, "").replace(/\bhttps?:\/\/\S+/g, "it");
}

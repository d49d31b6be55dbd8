/**
 * Waiting for a homeserver that wants fewer requests.
 *
 * A homeserver counts the requests of a user by kinds, and refuses those above a limit with the status 429
 * and how long to wait. Requests that wait side by side would be refused again but for one. So a refusal
 * closes the gate of its kind, all of that kind wait there in the order in which they came, and when it opens
 * they go through one after the other: a refusal closes it again, and its request keeps its place.
 *
 * @module
 */

import { alarm, backoff, type Clock, elapsed } from "../../base/clock.ts";
import { PATIENCE, type RetryPolicy } from "./request_options.ts";

/** After how long without an answer to a request the next one goes through, in milliseconds. */
const SLOW = 5_000;

/** A request on its way. */
export interface Passenger {
  /** With which others the server counts it. */
  readonly kind: string;
  /** How long it waits. */
  readonly policy: RetryPolicy;
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined;
  /** Its place: who comes later has a higher one. */
  readonly place: number;
  /** When it began to wait, in milliseconds since the epoch. */
  since?: number;
}

/** A request that waits. */
interface Waiting {
  readonly place: number;
  readonly go: () => void;
}

/** The gate of a kind of requests: it is made when a server refuses. */
export class Gate {
  readonly #clock: Clock;
  /** In the order of their places. */
  readonly #waiting: Waiting[] = [];
  /** The request that was let through and has no answer yet. */
  #through: number | undefined;
  /** When it opens, in milliseconds since the epoch. */
  #opensAt = 0;
  /** When the server refused first since it has let one through; undefined: it has let one through. */
  #refusedSince: number | undefined;
  /** When it refused last. */
  #refusedAt = 0;
  /** How often one that was let through was refused since. */
  #refusals = 0;
  #endAlarm = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether nobody waits, and nobody has to. */
  get isOpen(): boolean {
    return this.#refusedSince === undefined && this.#wait <= 0 && this.#isEmpty;
  }

  /** Whether nobody would miss it. */
  get isIdle(): boolean {
    return this.#isEmpty && this.#clock.now() - this.#refusedAt > 3_600_000;
  }

  /** How long it stays closed, in milliseconds. If the clock was set back since it closed, it opens. */
  get #wait(): number {
    const now = this.#clock.now();
    return now < this.#refusedAt ? 0 : this.#opensAt - now;
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#through === undefined;
  }

  enter(passenger: Passenger): Promise<void> | undefined {
    const { place, policy, policy: { [PATIENCE]: patience }, signal } = passenger;
    // What the server wants is more than it waits: so it asks itself, and is refused.
    if (this.#wait > policy.maxRetryAfter) return undefined;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const now = this.#clock.now();
    const waited = now - (passenger.since ??= now);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        signal?.removeEventListener("abort", cancelled);
        endPatience?.();
      };
      const leave = (reason: unknown): void => {
        end();
        this.#waiting.splice(this.#waiting.indexOf(mine), 1);
        if (this.#isEmpty) this.#endAlarm();
        reject(reason);
      };
      const cancelled = (): void => leave(signal?.reason);
      const go = (): void => {
        end();
        resolve();
      };
      const mine: Waiting = { place, go };
      const endPatience = patience &&
        alarm(this.#clock, Math.max(patience.ms - waited, 0), () => leave(patience.over));
      signal?.addEventListener("abort", cancelled, { once: true });
      const behind = this.#waiting.findIndex((other) => other.place > place);
      this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, mine);
      this.#next();
    });
  }

  refused({ place, policy }: Passenger, asked: number | undefined): number | undefined {
    const now = this.#clock.now();
    const wasThrough = this.#end(place);
    const before = this.#wait;
    if (elapsed(now, this.#refusedAt) > policy.maxLimitWait) {
      [this.#refusedSince, this.#refusals] = [undefined, 0];
    }
    this.#refusedAt = now;
    const since = this.#refusedSince ??= now;
    const own = this.#refusals === 0 && asked !== undefined ? 0 : backoff(this.#refusals, policy);
    if (wasThrough) this.#refusals++;
    const wait = asked !== undefined && asked >= policy.base ? asked : Math.max(asked ?? 0, own);
    const isOver = wait > policy.maxRetryAfter || now + wait - since > policy.maxLimitWait;
    if (!isOver) this.#opensAt = now + Math.max(before, wait);
    this.#next();
    return isOver ? undefined : this.#opensAt - now;
  }

  left(place: number, { isAnswered }: { readonly isAnswered: boolean }): void {
    if (isAnswered) [this.#refusedSince, this.#refusals] = [undefined, 0];
    if (this.#end(place)) this.#next();
  }

  /** Ends the way of a request. @returns Whether the next one waits for that. */
  #end(place: number): boolean {
    if (this.#through !== place) return false;
    this.#through = undefined;
    this.#endAlarm();
    return true;
  }

  /** Lets the first one through, if it may be now, or when it may be. */
  #next(): void {
    const [first] = this.#waiting;
    if (this.#through !== undefined || first === undefined) return;
    this.#endAlarm();
    const wait = this.#wait;
    if (wait > 0) {
      this.#endAlarm = alarm(this.#clock, wait, () => this.#next());
      return;
    }
    this.#waiting.shift();
    this.#through = first.place;
    this.#endAlarm = alarm(this.#clock, SLOW, () => {
      this.#through = undefined;
      this.#next();
    });
    first.go();
  }
}

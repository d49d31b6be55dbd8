/**
 * Time, injected: whoever waits or looks at the clock takes a {@link Clock}, so that tests move time by hand.
 *
 * @module
 */

import { delay } from "@std/async/delay";

/** What Greenroom asks of time. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch. */
  now(): number;
  /**
   * Waits.
   *
   * @param ms How long, in milliseconds.
   * @param options.signal Ends the wait: the promise then rejects with the signal's reason.
   * @param options.persistent Whether the process has to live on for this wait. Default: true.
   */
  delay(ms: number, options?: { signal?: AbortSignal; persistent?: boolean }): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, options) => delay(ms, options),
};

/** The longest time that a timer can wait, in milliseconds: it takes a longer one for none. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

const SILENCED = new DOMException("The alarm is not needed any more", "AbortError");

interface Alarm {
  /** When it rings, in the time of `performance.now()`. */
  readonly due: number;
  readonly ring: () => void;
}

/**
 * The alarms of the machine's clock, which share a timer. Most are ended before they ring, since most requests are in time: to
 * begin and end a timer for each took as long as reading the answer.
 *
 * A timer that is not needed any more is left to itself, and serves the alarms that come before it rings. This wants a timer that
 * holds up neither the end of the process nor a sanitizer of tests: `AbortSignal.timeout()`, which keeps a process alive only as
 * long as somebody listens.
 */
class Alarms {
  readonly #waiting = new Set<Alarm>();
  #timer: AbortSignal | undefined;
  /** When the timer rings, in the time of `performance.now()`. */
  #rings = 0;

  add(ms: number, ring: () => void): Alarm {
    const now = performance.now();
    const alarm = { due: now + ms, ring };
    if (this.#timer === undefined || this.#timer.aborted || alarm.due < this.#rings) this.#begin(now, ms);
    else if (this.#waiting.size === 0) this.#timer.addEventListener("abort", this.#ring);
    this.#waiting.add(alarm);
    return alarm;
  }

  delete(alarm: Alarm): void {
    if (!this.#waiting.delete(alarm) || this.#waiting.size > 0) return;
    this.#timer?.removeEventListener("abort", this.#ring);
  }

  /** Begins a timer in the place of the one that there is. */
  #begin(now: number, ms: number): void {
    this.#timer?.removeEventListener("abort", this.#ring);
    this.#timer = AbortSignal.timeout(ms);
    this.#timer.addEventListener("abort", this.#ring);
    this.#rings = now + ms;
  }

  readonly #ring = (): void => {
    const now = performance.now();
    const due: Alarm[] = [];
    let next = Infinity;
    for (const alarm of this.#waiting) {
      if (alarm.due <= now) due.push(alarm);
      else next = Math.min(next, alarm.due);
    }
    if (next !== Infinity) this.#begin(now, Math.ceil(next - now));
    for (const alarm of due.sort((one, other) => one.due - other.due)) {
      if (this.#waiting.delete(alarm)) alarm.ring(); // unless another has ended it
    }
  };
}

const alarms = new Alarms();

/**
 * Calls back after a while.
 *
 * @param clock Measures the time.
 * @param ms How long, in milliseconds.
 * @param ring What to call.
 * @returns Ends the wait; without effect when it is over.
 */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  if (clock === systemClock && ms <= LONGEST_TIMEOUT) {
    const alarm = alarms.add(ms, ring);
    return () => alarms.delete(alarm);
  }
  const silenced = new AbortController();
  clock.delay(ms, { signal: silenced.signal }).then(ring, () => {});
  return () => silenced.abort(SILENCED);
}

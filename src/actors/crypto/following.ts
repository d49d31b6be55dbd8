/**
 * Whether syncs show who is in rooms, and with which devices.
 *
 * @module
 */

import { type Clock, elapsed } from "../../base/clock.ts";

/** How old the last response of a client that syncs may be, in ms: one comes every 30 seconds. */
const FOLLOWING = 120_000;
/** How long the members and devices that a single sync or request has shown are used, in ms. */
const FRESH = 10_000;

/**
 * As of when members and devices must have been asked for, in ms since the epoch, while that is going on: a
 * clock that was set back meanwhile does not come to a moment that lies ahead.
 *
 * @param since As of when when it began; undefined: syncs show them.
 * @param clock The wall clock.
 */
export function sinceNow(since: number | undefined, clock: Clock): number | undefined {
  return since === undefined ? undefined : Math.min(since, freshSince(clock));
}

/** As of when members and devices must have been asked for to be used now. */
function freshSince(clock: Clock): number {
  return clock.now() - FRESH + 1;
}

/** Says how far syncs can be relied on. */
export class Following {
  readonly #clock: Clock;
  #lastSync = -Infinity;
  /** Aborts when no sync follows any more; undefined: none does. */
  #signal: AbortSignal | undefined;

  /** @param clock The wall clock. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that syncs follow until a signal aborts; the first brings what has changed since then. */
  begin(signal: AbortSignal): void {
    this.#signal = signal;
    this.#lastSync = -Infinity;
  }

  /** Notes that a sync has come. */
  synced(): void {
    this.#lastSync = this.#clock.now();
  }

  /** Whether syncs show what happens in rooms. */
  get isOn(): boolean {
    const longest = this.#signal?.aborted === false ? FOLLOWING : FRESH;
    return elapsed(this.#clock.now(), this.#lastSync) < longest;
  }

  /** How old members and devices may be, as ms since the epoch; undefined: syncs show them. */
  get since(): number | undefined {
    return this.isOn ? undefined : this.fresh;
  }

  /** The same for what syncs may not show: whoever shares no room with this user changes unseen. */
  get fresh(): number {
    return freshSince(this.#clock);
  }
}

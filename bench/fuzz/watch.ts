/**
 * Waits for a client, whose clock stands still: where nothing happens, it lets time go by.
 *
 * @module
 */

import type { Bot } from "./bot.ts";
import type { FuzzClock } from "./fuzz_clock.ts";
import type { FuzzServer } from "./server.ts";

/** How often it is looked whether anything happens, in milliseconds of the machine. */
const LOOK_MS = 5;
/** How often nothing may happen: by then days have gone by for the client. */
const PATIENCE = 1_000;
const FIRST_STEP = 1_000;
const LONGEST_STEP = 600_000;

/** What only a hostile value adds to. */
const PROTOTYPES: readonly object[] = [Object, Array, String, Number, Function, Promise, Map, Error].map((
  { prototype },
) => prototype);

/** Looks after one client. */
export class Watch {
  readonly #clock: FuzzClock;
  readonly #server: FuzzServer;
  #bot: Bot | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** How often nothing had happened when it was looked since something did. */
  #idle = 0;
  readonly #names = countNames();

  /** @param clock The client's. */
  constructor(clock: FuzzClock, server: FuzzServer) {
    this.#clock = clock;
    this.#server = server;
  }

  /** Looks after a client. */
  begin(bot: Bot): void {
    this.#bot = bot;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    addEventListener("unhandledrejection", this.#rejected);
  }

  /** Stops watching. */
  end(): void {
    clearInterval(this.#timer);
    removeEventListener("unhandledrejection", this.#rejected);
  }

  /** Resolves when something is so, or a fault found. */
  async until(isSo: () => boolean): Promise<void> {
    const bot = this.#bot;
    this.#idle = 0;
    while (bot !== undefined && !isSo() && bot.faults.length === 0) await bot.next();
    if (countNames() !== this.#names) bot?.fault("prototypes", "something was added to one");
  }

  #look(): void {
    this.#bot?.wake();
    // In turn: who waits for the server must not be out of time before it answers.
    if (this.#idle++ % 2 === 1) this.#server.nudge();
    else if (this.#idle > 1) this.#clock.advance(Math.min(FIRST_STEP * 2 ** this.#idle, LONGEST_STEP));
    if (this.#idle === PATIENCE) this.#bot?.fault("the client", "it does not receive the next message");
  }

  readonly #rejected = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    this.#bot?.fault("an unhandled promise", event.reason);
  };
}

function countNames(): number {
  return PROTOTYPES.reduce((sum, prototype) => sum + Reflect.ownKeys(prototype).length, 0);
}

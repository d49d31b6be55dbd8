/**
 * Actors that start and end together.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import { isInside, type Lifecycle, runOutside } from "./actor.ts";
import { ActorError } from "./actor_error.ts";

/** How actors are supervised. */
export interface SuperviseOptions {
  /** Where a stop for failure and a stuck actor are reported; the default logger if absent. */
  log?: Logger;
  /** What measures the deadline; the machine's own clock if absent. */
  clock?: Clock;
  /**
   * How long each actor may take to stop, in milliseconds, before it is abandoned; for ever if
   * absent.
   */
  deadline?: number;
}

/** Supervises a set of actors. */
export interface Supervisor {
  /**
   * Resolves when all the actors have ended; rejects with the `ActorError` of the first that
   * failed, once the others have been stopped. A rejection that is not handled does not end the
   * process.
   */
  readonly done: Promise<void>;
  /** Whether the actors are being stopped, or have ended. */
  readonly isStopping: boolean;
  /** Why {@link Supervisor.done} rejects, or will; undefined if no actor has failed. */
  readonly failure: Error | undefined;
  /**
   * Stops the actors one after the other, in the order of the data, so that each can still ask
   * those behind it while it drains. May be called again.
   *
   * An actor that takes longer than the deadline is reported and abandoned: its asks are rejected,
   * and the next one is stopped. Called by a handler of one of the actors, or by what that handler
   * started, it resolves immediately, since the stop waits for that handler. The handler must not
   * wait for {@link Supervisor.done} either.
   *
   * @returns Resolves when all are stopped. Never rejects: {@link Supervisor.done} says how they
   *   ended.
   */
  stop(): Promise<void>;
  /**
   * Stops the actors, since one of them can't begin its work; unless they are being stopped, {@link
   * Supervisor.done} rejects with an `ActorError` that names it.
   *
   * @param actor Its name.
   * @param cause What keeps it from that.
   * @returns Resolves when all are stopped.
   */
  fail(actor: string, cause: unknown): Promise<void>;
}

/**
 * Supervises actors: when one fails, the others are stopped.
 *
 * @param actors The actors, in the order in which data flows: those that ask before those that they
 * ask. The very objects that `spawn()` made, by which {@link Supervisor.stop} detects whether it is
 * called from inside.
 * @param options Log, clock and deadline.
 * @returns Their supervisor.
 */
export function supervise(actors: readonly Lifecycle[], options: SuperviseOptions = {}): Supervisor {
  return new ActorSupervisor(actors, options);
}

class ActorSupervisor implements Supervisor {
  readonly done: Promise<void>;
  readonly #actors: readonly Lifecycle[];
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #deadline: number | undefined;
  #stopping: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(actors: readonly Lifecycle[], options: SuperviseOptions) {
    this.#actors = actors;
    this.#clock = options.clock ?? systemClock;
    this.#log = loggerOf(options.log, this.#clock, "actors");
    this.#deadline = options.deadline;
    this.done = this.#watch();
    this.done.catch(() => {}); // who supervises says it
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  stop(): Promise<void> {
    this.#stopping ??= runOutside(() => this.#stopAll());
    return isInside(this.#actors) ? Promise.resolve() : this.#stopping;
  }

  fail(actor: string, cause: unknown): Promise<void> {
    if (!this.isStopping) this.#failure ??= new ActorError(actor, { cause });
    return this.stop();
  }

  async #watch(): Promise<void> {
    await Promise.all(this.#actors.map((actor) => actor.done.catch((error) => this.#fail(actor, error))));
    await this.#stopping;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(actor: Lifecycle, error: Error): void {
    this.#failure ??= error;
    if (!isOfOneCause(error, this.#failure)) { // `done` does not say it
      this.#log.error("Another actor failed, too", { actor: actor.name, error });
    }
    if (this.#stopping === undefined) {
      this.#log.debug("Stopping all actors, because one failed", { actor: actor.name });
      this.stop();
    }
  }

  async #stopAll(): Promise<void> {
    for (const actor of this.#actors) await this.#stopOne(actor);
  }

  async #stopOne(actor: Lifecycle): Promise<void> {
    const stopped = actor.stop();
    if (this.#deadline === undefined) return await stopped;
    const inTime = new AbortController();
    const late = this.#clock.delay(this.#deadline, { signal: inTime.signal }).then(() => true, () => false);
    if (await Promise.race([stopped.then(() => false), late])) {
      this.#log.debug("An actor did not stop in time and was abandoned", {
        actor: actor.name,
        deadline: this.#deadline,
      });
      actor.abandon();
    }
    inTime.abort();
  }
}

/** Whether an error, or what led to it, led to the other as well. */
function isOfOneCause(one: unknown, other: unknown): boolean {
  const causes = new Set(causesOf(one));
  return causesOf(other).some((cause) => causes.has(cause));
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each instanceof Error && !causes.includes(each); each = each.cause) {
    causes.push(each);
  }
  return causes;
}

/**
 * Actors that start and end together, and their errors.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { isInside, type Lifecycle, runOutside } from "./actor.ts";

/** Options of an actor's error. */
export interface ActorErrorInit {
  /** The message it is about; absent if it is about none. */
  kind?: string;
  /** What led to the error. */
  cause?: unknown;
}

/**
 * An actor has failed and stopped: its `done` rejects with this error, and so does the ask it
 * failed at.
 *
 * Its message is that of the `cause`, if that is an error for callers, who know no actors.
 *
 * Nothing restarts an actor, because what it holds in memory may be ahead of what is stored; build
 * a new client from the store. The `cause` is what went wrong.
 *
 * Mend: Read the `cause`, and make a new client with the same store.
 */
export class ActorError extends MatrixError {
  /** Always `ACTOR_FAILED`. */
  override readonly code = "ACTOR_FAILED";
  /** The name of the actor. */
  readonly actor: string;
  /** The message it failed at; absent if it failed outside of any, as while stopping. */
  readonly kind?: string;

  /**
   * Names the actor and what it did.
   *
   * @param actor The name of the actor.
   * @param init The message it failed at, and the cause.
   */
  constructor(actor: string, init: ActorErrorInit) {
    const { kind, cause } = init;
    super(cause instanceof MatrixError ? cause.message : failed(actor, init), { cause });
    this.actor = actor;
    this.kind = kind;
  }
}

function failed(actor: string, { kind, cause }: ActorErrorInit): string {
  const work = kind === undefined ? `run actor "${actor}"` : `handle "${kind}" in actor "${actor}"`;
  const state = cause instanceof Error ? cause.message : "it failed";
  return `Cannot ${work}: ${state}; the actor has ended, start a new one`;
}

/**
 * An actor was asked after its end, or ended before it answered. If it failed, the `cause` is its
 * {@link ActorError}.
 *
 * Mend: Make a new client with the same store; read `cause` if it has failed.
 */
export class ActorStoppedError extends MatrixError {
  /** Always `ACTOR_STOPPED`. */
  override readonly code = "ACTOR_STOPPED";
  /** The name of the actor. */
  readonly actor: string;
  /**
   * The kind of message; absent where the error is the reason of the signal that asks an actor's
   * work to stop.
   */
  readonly kind?: string;

  /**
   * Names the actor and what was asked of it.
   *
   * @param actor The name of the actor.
   * @param init What was asked, and why the actor stopped if it failed.
   */
  constructor(actor: string, init: ActorErrorInit = {}) {
    const { kind, cause } = init;
    const work = kind === undefined ? `go on in actor "${actor}"` : `ask "${kind}" of actor "${actor}"`;
    super(`Cannot ${work}: it has stopped; start a new one`, cause === undefined ? undefined : { cause });
    this.actor = actor;
    this.kind = kind;
  }
}

/**
 * What a handler throws to end its actor: a wrapper around the cause, made by {@link fatal}. Askers
 * get an `ActorError`.
 */
export class FatalError extends Error {
  /**
   * Wraps the cause.
   *
   * @param cause What went wrong.
   */
  constructor(cause: unknown) {
    super("Cannot go on", { cause });
  }
}

/**
 * Marks an error as one its actor can't survive: a dead token, a failed commit, a broken invariant.
 *
 * A handler that throws it has its ask rejected, ends its actor, and lets the actor's `done`
 * reject.
 *
 * @param cause What went wrong.
 * @returns What to throw, or to reject a task with.
 */
export function fatal(cause: unknown): FatalError {
  return new FatalError(cause);
}

/**
 * Says why, in place of where: what is wrong with the account or the server concerns the caller
 * more than our actors.
 */
export async function unwrapped<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw reasonOf(error);
  }
}

/** Returns the error of an actor that has failed, if callers may get it. */
export function reasonOf(error: unknown): unknown {
  return error instanceof ActorError && error.cause instanceof MatrixError ? error.cause : error;
}

/** Supervises actors: when one fails, the others are stopped. */
export class Supervisor {
  /**
   * Resolves when all the actors have ended; rejects with the `ActorError` of the first that
   * failed, once the others have been stopped. A rejection that is not handled does not end the
   * process.
   */
  readonly done: Promise<void>;
  readonly #actors: readonly Lifecycle[];
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #deadline: number | undefined;
  #stopping: Promise<void> | undefined;
  #failure: Error | undefined;

  /**
   * @param actors The actors, in the order in which data flows: those that ask before those that they
   *   ask. The very objects that `spawn()` made, by which {@link Supervisor.stop} detects whether it is
   *   called from inside.
   * @param options How long each may take to stop, in milliseconds, before it is abandoned: by default for
   *   ever; what measures that; and where a stop for failure and a stuck actor are reported.
   */
  constructor(
    actors: readonly Lifecycle[],
    { deadline, clock = systemClock, log }: {
      readonly deadline?: number;
      readonly clock?: Clock;
      readonly log?: Logger;
    } = {},
  ) {
    this.#actors = actors;
    this.#clock = clock;
    this.#log = loggerOf(log, clock, "actors");
    this.#deadline = deadline;
    this.done = this.#watch();
    this.done.catch(() => {}); // who supervises says it
  }

  /** Whether the actors are being stopped, or have ended. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Why {@link Supervisor.done} rejects, or will; undefined if no actor has failed. */
  get failure(): Error | undefined {
    return this.#failure;
  }

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
  stop(): Promise<void> {
    this.#stopping ??= runOutside(() => this.#stopAll());
    return isInside(this.#actors) ? Promise.resolve() : this.#stopping;
  }

  /**
   * Stops the actors, since one of them can't begin its work; unless they are being stopped, {@link
   * Supervisor.done} rejects with an `ActorError` that names it.
   *
   * @param actor Its name.
   * @param cause What keeps it from that.
   * @returns Resolves when all are stopped.
   */
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

/** Returns whether an error, or what led to it, led to the other as well. */
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

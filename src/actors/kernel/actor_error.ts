/**
 * The errors of the actor kernel.
 *
 * @module
 */

import { MatrixError } from "../../errors/matrix_error.ts";

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

/** Why an actor failed, if that is an error for callers. */
export function reasonOf(error: unknown): unknown {
  return error instanceof ActorError && error.cause instanceof MatrixError ? error.cause : error;
}

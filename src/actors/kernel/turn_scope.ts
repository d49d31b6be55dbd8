/**
 * Whether the running code was started by a turn of an actor.
 *
 * A stop waits for the actor's turn: code of that turn that waited for the stop would wait for
 * itself. An actor's loop is entered once, so that this costs a message nothing.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

const scope = new AsyncLocalStorage<object | undefined>();

/**
 * Runs the life of an actor; whatever it calls or starts is inside.
 *
 * @param actor The actor.
 * @param life What to run.
 * @returns What that returned.
 */
export function runInside<T>(actor: object, life: () => T): T {
  return scope.run(actor, life);
}

/**
 * Runs work that waits for turns, also for its caller's own.
 *
 * @param work What to run.
 * @returns What that returned.
 */
export function runOutside<T>(work: () => T): T {
  return scope.run(undefined, work);
}

/** Whether the caller is inside one of these actors. */
export function isInside(actors: readonly object[]): boolean {
  const actor = scope.getStore();
  return actor !== undefined && actors.includes(actor);
}

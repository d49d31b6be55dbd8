/**
 * Who calls: whether the code that runs now was started by a turn of an actor.
 *
 * To stop an actor is to wait for its turn; code of that very turn that waited for the stop would wait for itself. An
 * actor's loop is entered once, so knowing costs a message nothing.
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
 * Runs what must wait for turns, its caller's own included.
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

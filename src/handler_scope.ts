/**
 * Which delivery of which event the running code belongs to, so that what a handler sends can be told from what it sent
 * when it ran before.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** One run of one handler for one event. */
export interface HandlerScope {
  /** The same in every run of this handler for this event, also after a restart. */
  readonly name: string;
  /** How many sends the run has made so far. */
  sends: number;
}

const storage = new AsyncLocalStorage<HandlerScope | undefined>();

/** Calls a handler; whatever it calls or starts is inside. */
export function callHandler<Event, Context>(
  scope: HandlerScope | undefined,
  handler: (event: Event, context: Context) => unknown,
  event: Event,
  context: Context,
): unknown {
  if (scope === undefined && storage.getStore() === undefined) return handler(event, context);
  return storage.run(scope, handler, event, context);
}

/** The run that the caller is inside of. */
export function currentHandler(): HandlerScope | undefined {
  return storage.getStore();
}

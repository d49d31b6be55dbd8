/**
 * What a handler is called with beside the event.
 *
 * @module
 */

import type { HandlerScope } from "../../base/handler_scope.ts";

/** What a handler is called with beside the event. */
export interface HandlerContext<State = undefined> {
  /**
   * Names this delivery of this event to this handler: the same when a crash lets it come again, so that what the handler does
   * elsewhere can be done once (an idempotency key). What it sends by the client has transaction IDs made of it. Undefined of what never comes again: without a
   * `store`, nothing does.
   */
  readonly deliveryId: string | undefined;
  /**
   * What handlers remember from one event to the next; it may be changed, or replaced. Undefined if the handler was added without
   * the option `session`.
   *
   * @throws {ValueError} If the event has no such session, since it belongs to no room, for one.
   */
  session: State;
  /** Removes the session: the next event that has it begins anew. Does nothing if the handler was added without one. */
  endSession(): void;
}

/** The context of any handler. */
export type AnyContext = HandlerContext | HandlerContext<object> | HandlerContext<never>;

/** The context of a handler that has no session. */
export class PlainContext implements HandlerContext {
  readonly #delivery: Pick<HandlerScope, "name"> | undefined;

  /** @param delivery Knows its name, if it may come again. */
  constructor(delivery: Pick<HandlerScope, "name"> | undefined) {
    this.#delivery = delivery;
  }

  get deliveryId(): string | undefined {
    return this.#delivery?.name;
  }

  get session(): undefined {
    return undefined;
  }

  set session(_: undefined) {}

  endSession(): void {}
}

/**
 * Options of a client that application services alone give: named by symbols, so that no editor offers
 * them.
 *
 * @module
 */

/** Where sync responses come from, in place of the homeserver. */
export const FEED: unique symbol = Symbol("feed");
/** What is known of the state of rooms, in place of what the client has seen itself. */
export const STATE_STORE: unique symbol = Symbol("stateStore");

/**
 * What the library alone calls of an `HTTPAPI`: named by symbols, so that no editor offers it.
 *
 * @module
 */

/** Makes a request of an endpoint. */
export const CALL: unique symbol = Symbol("call");
/** Makes a request whose answer is read by the caller. */
export const DOWNLOAD: unique symbol = Symbol("download");
/** Whether a homeserver has answered. */
export const IS_ANSWERED: unique symbol = Symbol("isAnswered");
/** Whether the access token is dead for good. */
export const IS_TOKEN_DEAD: unique symbol = Symbol("isTokenDead");
/** What has to be done before a request leaves. */
export const PREPARE: unique symbol = Symbol("prepare");
/** How long to wait before an act of several requests begins anew. */
export const RESTART_DELAY: unique symbol = Symbol("restartDelay");
/** How far the server's clock is off. */
export const SKEW: unique symbol = Symbol("skew");

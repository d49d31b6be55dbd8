/**
 * The way of a request: from a `fetch` to a handler, and back.
 *
 * @module
 */

export { ConnectionDropped, injectFault, localFetch } from "./local_fetch.ts";
export {
  AuthedRequest,
  MatrixRequest,
  notMember,
  notReadable,
  oncePerTransaction,
  parseUserId,
  type RawRequest,
  requireJoined,
  requireKeys,
  requireSeen,
  resolveRoom,
  roomToRead,
  roomToWrite,
  viewerOf,
} from "./request.ts";
export { type Method, openRoute, type Route, route, Router, serve } from "./router.ts";

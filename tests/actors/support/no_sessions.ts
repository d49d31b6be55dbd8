/** For handlers that have no sessions. */

import type { HandlerSessions } from "../../../src/actors/handler_sessions.ts";

/** Runs nothing. */
export const NO_SESSIONS: Pick<HandlerSessions, "run"> = {
  run: () => Promise.reject(new TypeError("there are no sessions here")),
};

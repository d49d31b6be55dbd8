/**
 * Requests that read or send state, as the Store hears of them.
 *
 * @module
 */

import type { OpenableStore } from "./opener.ts";
import type { StateRead } from "./store_protocol.ts";

/** Makes a request whose answer is stored; for the client alone. */
export const DURING: unique symbol = Symbol("during");

/**
 * Makes a request, which the Store counts as under way meanwhile. The request does not wait for the Store: one
 * that is not open yet commits no sync before it hears of the request.
 *
 * @param actors Have the Store.
 * @param read Names the request, and the room.
 * @param request Makes it, and stores its answer.
 */
export async function whileReading<Answer>(
  actors: OpenableStore,
  read: StateRead,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const ends = new AbortController();
  const begin = async () => {
    await actors.ready(ends.signal);
    const { store } = actors;
    await store.beginRead(read);
    return store;
  };
  const begun = begin().catch(() => undefined); // a store that fails says so elsewhere
  try {
    return await request();
  } finally {
    ends.abort();
    begun.then((store) => store?.endRead(read)).catch(() => {}); // with the Store, its reads have ended
  }
}

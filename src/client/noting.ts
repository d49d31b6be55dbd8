/**
 * Notes what the server took or told.
 *
 * @module
 */

import type { Logger } from "../base/log.ts";
import type { RoomID } from "../types/ids.ts";

/**
 * Makes what waits until something of a room is noted. Whether it can be makes no difference to the
 * caller: the server has done what it was asked for, and a store that fails says so by the client's
 * `done`.
 */
export function noting(log: Logger): (roomId: RoomID, note: () => Promise<void>) => Promise<void> {
  return async (roomId, note) => {
    try {
      await note();
    } catch (error) {
      log.warn("Could not note the state of a room", { roomId, error: String(error) });
    }
  };
}

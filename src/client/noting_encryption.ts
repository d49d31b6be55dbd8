/**
 * Stores that a room which this client has made is encrypted, before the call resolves: no sync
 * need show it.
 *
 * @module
 */

import type { RoomExtrasAPI } from "../api/rooms/room_extras.ts";
import type { RoomsAPI } from "../api/rooms/rooms.ts";
import type { Logger } from "../base/log.ts";
import type { RoomID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { noting } from "./noting.ts";
import type { StateStore } from "../actors/store/state_store.ts";

type Noted = Pick<RoomsAPI, "createRoom"> & Pick<RoomExtrasAPI, "upgradeRoom">;

/** What {@link notingEncryption} works with. */
export interface NotingEncryptionOptions {
  /** Stores which rooms are encrypted. */
  readonly stateStore: Pick<StateStore, "getEncryptionInfo" | "updateContent">;
  /** Where failures are logged. */
  readonly log: Logger;
}

/**
 * The operations that make rooms, and store which are encrypted. The successor of an encrypted room
 * is.
 */
export function notingEncryption(api: Noted, { stateStore, log }: NotingEncryptionOptions): Noted {
  const noted = noting(log);
  const note = async (roomId: RoomID, encryption: JsonObject | undefined): Promise<void> => {
    if (encryption !== undefined) await stateStore.updateContent(roomId, "m.room.encryption", "", encryption);
  };
  return {
    async createRoom(options = {}) {
      const encryption = encryptionIn(options.initialState ?? options.customRequestFields?.initial_state);
      const roomId = await api.createRoom(options);
      await noted(roomId, () => note(roomId, encryption));
      return roomId;
    },
    async upgradeRoom(roomId, newVersion, options) {
      const successor = await api.upgradeRoom(roomId, newVersion, options);
      await noted(successor, async () => await note(successor, await stateStore.getEncryptionInfo(roomId)));
      return successor;
    },
  };
}

/**
 * The content of the `m.room.encryption` that a room begins with, as it is sent; undefined if there
 * is none.
 */
function encryptionIn(state: unknown): JsonObject | undefined {
  const events: unknown = Array.isArray(state) ? JSON.parse(JSON.stringify(state)) : [];
  const found = (events as unknown[]).find((event) =>
    isJsonObject(event) && event.type === "m.room.encryption" && (event.state_key ?? "") === ""
  );
  const content = isJsonObject(found) ? found.content : undefined;
  return isJsonObject(content) ? content : undefined;
}

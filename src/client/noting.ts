/**
 * Notes what the server accepted, before the call resolves: what is sent next must not wait for the
 * sync that shows it.
 *
 * @module
 */

import type { CryptoHolder } from "../actors/crypto/mod.ts";
import type { CryptoMachine } from "../encryption/encryption.ts";
import type { StateStore } from "../actors/store/mod.ts";
import type { MembershipAPI, RoomExtrasAPI, RoomsAPI } from "../api/rooms/rooms.ts";
import type { Logger } from "../base/log.ts";
import { Membership } from "../types/enums.ts";
import type { RoomID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";

/**
 * Makes what waits until something of a room is noted. Whether it can be makes no difference to the
 * caller: the server has done its part, and a store that fails rejects the client's
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

type MakingRooms = Pick<RoomsAPI, "createRoom"> & Pick<RoomExtrasAPI, "upgradeRoom">;

/**
 * The operations that make rooms, and store which are encrypted. The successor of an encrypted room
 * is.
 */
export function notingEncryption(
  api: MakingRooms,
  stateStore: Pick<StateStore, "getEncryptionInfo" | "updateContent">,
  log: Logger,
): MakingRooms {
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

type ChangingMembers = Pick<MembershipAPI, "inviteUser" | "kickUser" | "banUser">;

/** The operations that change others' membership, with a note to encryption after each. */
export function notingMembers(
  api: ChangingMembers,
  encryption: CryptoHolder<CryptoMachine>,
): ChangingMembers {
  const thenNoting =
    (change: ChangingMembers["inviteUser"], membership: Membership): ChangingMembers["inviteUser"] =>
    async (roomId, userId, options) => {
      await change(roomId, userId, options);
      await encryption.crypto?.memberChanged(roomId, userId, membership);
    };
  const inviteUser = thenNoting(api.inviteUser, Membership.INVITE);
  return {
    async inviteUser(roomId, userId, options) {
      await encryption.crypto?.inviting(roomId, userId); // the keys are there when the invitation is
      await inviteUser(roomId, userId, options);
    },
    kickUser: thenNoting(api.kickUser, Membership.LEAVE),
    banUser: thenNoting(api.banUser, Membership.BAN),
  };
}

/**
 * Operations that keep the state store up to date with what they send and read, before the call resolves:
 * what is sent next must not wait for the sync that shows it.
 *
 * @module
 */

import type { CoreAPI } from "../api/api.ts";
import type { ProfileAPI } from "../api/account/account.ts";
import { type OutgoingEvent, outgoingEvent, type RequestOptions } from "../api/http/mod.ts";
import type { StoredState } from "../store/device/mod.ts";
import { type ClientStateEvent, SyncStream } from "../types/events/event.ts";
import { EncryptionAlgorithm, Membership } from "../types/enums.ts";
import type { Logger } from "../base/log.ts";
import { typeName } from "../types/events/event_type.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";
import type { Profile } from "../types/api/public_rooms.ts";
import type { EncryptionSends } from "./encrypting_api.ts";
import type { Hold } from "./sessions_api.ts";
import { type StateStore, type StateUpdates, UPDATES } from "../actors/store/mod.ts";
import { isJsonObject, isShallow, type JsonObject } from "../types/json.ts";
import { isEvent, isState } from "../types/checks/event_check.ts";
import type { CryptoHolder } from "../actors/crypto/crypto.ts";
import type { CryptoMachine } from "../encryption/encryption.ts";
import {
  initialStateOf,
  isRoomEncryption,
  type MembershipAPI,
  type RoomExtrasAPI,
  type RoomsAPI,
} from "../api/rooms/rooms.ts";

/** How long a profile is waited for, in milliseconds: it is a courtesy, and a ban is none. */
const PATIENCE = 5_000;

/** What is needed beside the core. */
export interface StoreUpdatingOptions {
  /** Where room state is kept. */
  readonly stateStore: StateStore;
  /** The rooms that are about to be encrypted. */
  readonly encryptionSends: EncryptionSends;
  /** Reads a user's global profile. */
  readonly getProfile: ProfileAPI["getProfile"];
  /** Takes the device for what is noted. Default: it is held. */
  readonly hold?: Hold;
  /** Logs what could not be noted. */
  readonly log: Logger;
}

/**
 * Adds a store to the core: state that was sent to the server or read from it is stored after the
 * request. That a room is encrypted is stored even if it is unknown whether the server accepted it.
 *
 * Copies are stored: the caller may change what it sent or received.
 *
 * @param core The plain operations.
 * @param options The store, and what else is needed.
 */
export function storeUpdatingAPI(core: CoreAPI, options: StoreUpdatingOptions): CoreAPI {
  const { stateStore, encryptionSends, getProfile, hold, log } = options;
  const noted = noting(log, hold);
  /**
   * The create event counts with its sender, which is not in the content: it comes with sync.
   */
  const noteContent = async (
    updates: StateUpdates,
    roomId: RoomID,
    type: string,
    stateKey: string,
    content: object,
    eventId?: EventID,
  ): Promise<void> => {
    if (type === "m.room.create" || !isShallow(content)) return;
    await noted(
      roomId,
      () => updates.updateContent(roomId, type, stateKey, JSON.parse(JSON.stringify(content)), { eventId }),
    );
  };
  const globalProfile = async (
    userId: UserID,
    options?: RequestOptions,
  ): Promise<Profile | undefined> => {
    try {
      return await getProfile(userId, { ...options, retry: false, requestTimeout: PATIENCE });
    } catch (error) {
      if (options?.signal?.aborted) throw error;
      log.debug("Could not look up a profile: the member event is sent without it", { userId, error });
      return undefined;
    }
  };
  return {
    ...core,

    async getMembers(roomId, options = {}) {
      return await stateStore[UPDATES].during(roomId, async (updates) => {
        const members = await core.getMembers(roomId, options);
        const { at, membership, notMembership } = options;
        if (at !== undefined || (membership !== undefined && notMembership !== undefined)) return members;
        const events = stored(members).filter(isMember);
        await noted(
          roomId,
          () =>
            notMembership === undefined
              ? updates.setMembers(roomId, events, { only: membership })
              : updates.updateState(roomId, events),
        );
        return members;
      });
    },

    async getJoinedMembers(roomId, options) {
      return await stateStore[UPDATES].during(roomId, async (updates) => {
        const members = await core.getJoinedMembers(roomId, options);
        const joined = Object.entries(members).map(([userId, { display_name, avatar_url }]) =>
          [userId as UserID, { membership: Membership.JOIN, displayname: display_name, avatar_url }] as const
        );
        await noted(roomId, () => updates.setJoinedMembers(roomId, new Map(joined)));
        return members;
      });
    },

    async getState(roomId, options) {
      return await stateStore[UPDATES].during(roomId, async (updates) => {
        const state = await core.getState(roomId, options);
        await noted(roomId, async () => {
          const events = stored(state);
          await updates.setMembers(roomId, events.filter(isMember));
          await updates.updateState(roomId, events.filter((event) => !isMember(event)));
        });
        return state;
      });
    },

    async getStateEvent(roomId, eventType, options) {
      return await stateStore[UPDATES].during(roomId, async (updates) => {
        const answer = await core.getStateEvent(roomId, eventType, options);
        const isWhole = options?.format === "event";
        const events = isWhole ? stored([answer as unknown as ClientStateEvent]) : [];
        if (isWhole) await noted(roomId, () => updates.updateState(roomId, events));
        else await noteContent(updates, roomId, typeName(eventType), options?.stateKey ?? "", answer);
        return answer;
      });
    },

    async sendStateEvent(roomId, eventType, content, options = {}) {
      const { stateKey = "", signal } = options;
      return await stateStore[UPDATES].during(roomId, async (updates) => {
        let event: OutgoingEvent | undefined;
        const send = async (): Promise<EventID> => {
          event = await outgoingEvent(eventType, "state", content);
          return await core.sendStateEvent(roomId, event.eventType, event.content, options);
        };
        const note = async (eventId?: EventID): Promise<void> => {
          if (event === undefined) return;
          await noteContent(updates, roomId, event.eventType, stateKey, event.content, eventId);
        };
        if (typeName(eventType) === "m.room.encryption" && stateKey === "") {
          return await encryptionSends.run(roomId, { send, note, signal });
        }
        const eventId = await send();
        await note(eventId);
        return eventId;
      });
    },

    async fillMemberEvent(roomId, userId, content, options) {
      const filled = await core.fillMemberEvent(roomId, userId, content, options);
      if (filled !== undefined) return filled;
      if (content.displayname !== undefined || content.avatar_url !== undefined) return undefined;
      const profile = await stateStore.getMember(roomId, userId) ?? await globalProfile(userId, options);
      if (profile === undefined) return undefined;
      const { displayname, avatar_url } = profile;
      return { ...content, ...(displayname && { displayname }), ...(avatar_url && { avatar_url }) };
    },
  };
}

/** Events that were read: as good as those that came with sync. */
function stored(events: readonly ClientStateEvent[]): StoredState[] {
  const whole = events.filter((event) => isEvent(event) && isState(event));
  return structuredClone(whole).map((event) => ({ ...event, source: SyncStream.INTERNAL }));
}

function isMember({ type }: StoredState): boolean {
  return type === "m.room.member";
}

/**
 * Makes what waits until something of a room is noted. Whether it can be makes no difference to the
 * caller: the server has done its part, and a store that fails rejects the client's
 * `done`.
 */
function noting(
  log: Logger,
  hold: Hold = (work) => work(),
): (roomId: RoomID, note: () => Promise<void>) => Promise<void> {
  return async (roomId, note) => {
    try {
      await hold(note);
    } catch (error) {
      log.warn("Could not note the state of a room", { roomId, error: String(error) });
    }
  };
}

type MakingRooms = Pick<RoomsAPI, "createRoom"> & Pick<RoomExtrasAPI, "upgradeRoom">;

/**
 * The operations that make rooms, and store which are encrypted. The successor of an encrypted room
 * is, whichever record says that the room was.
 */
export function notingEncryption(
  api: MakingRooms,
  stateStore: Pick<StateStore, "getEncryptionInfo" | typeof UPDATES>,
  client: CryptoHolder<CryptoMachine> & { readonly log: Logger },
  hold: Hold,
): MakingRooms {
  const noted = noting(client.log, hold);
  const encryptionOf = async (roomId: RoomID): Promise<JsonObject | undefined> => {
    const known = await stateStore.getEncryptionInfo(roomId);
    if (known !== undefined || !await client.crypto?.isRoomEncrypted(roomId)) return known;
    return { algorithm: EncryptionAlgorithm.MEGOLM_V1 };
  };
  const note = async (roomId: RoomID, encryption: JsonObject | undefined): Promise<void> => {
    if (encryption === undefined) return;
    await stateStore[UPDATES].updateContent(roomId, "m.room.encryption", "", encryption);
  };
  return {
    async createRoom(options = {}) {
      const encryption = encryptionIn(initialStateOf(options));
      const roomId = await api.createRoom(options);
      await noted(roomId, () => note(roomId, encryption));
      return roomId;
    },
    async upgradeRoom(roomId, newVersion, options) {
      const successor = await api.upgradeRoom(roomId, newVersion, options);
      await noted(successor, async () => await note(successor, await encryptionOf(roomId)));
      return successor;
    },
  };
}

/**
 * The content of the `m.room.encryption` that a room begins with, as it is sent; undefined if there
 * is none.
 */
function encryptionIn(state: readonly unknown[]): JsonObject | undefined {
  const events: unknown[] = JSON.parse(JSON.stringify(state));
  const content = events.find(isRoomEncryption)?.content;
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

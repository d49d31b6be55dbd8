/**
 * Operations that keep the state store up to date with what they send and read.
 *
 * @module
 */

import type { CoreAPI } from "../api/api.ts";
import type { ProfileAPI } from "../api/account/account.ts";
import { type OutgoingEvent, outgoingEvent, type RequestOptions } from "../api/http/mod.ts";
import type { StoredState } from "../store/device/mod.ts";
import type { ClientStateEvent } from "../types/events/client_event.ts";
import { Membership } from "../types/enums.ts";
import type { Logger } from "../base/log.ts";
import { typeName } from "../types/events/event_type.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";
import type { Profile } from "../types/api/profile.ts";
import { SyncStream } from "../types/events/sync_stream.ts";
import type { EncryptionSends } from "./encryption_sends.ts";
import { noting } from "./noting.ts";
import { DURING, type StateStore } from "../actors/store/mod.ts";
import { isShallow } from "../types/json.ts";
import { isEvent, isState } from "../types/checks/event_check.ts";

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
  const { stateStore, encryptionSends, getProfile, log } = options;
  const noted = noting(log);
  /**
   * The create event counts with its sender, which is not in the content: it comes with sync.
   */
  const noteContent = async (
    stateStore: StateStore,
    roomId: RoomID,
    type: string,
    stateKey: string,
    content: object,
    eventId?: EventID,
  ): Promise<void> => {
    if (type === "m.room.create" || !isShallow(content)) return;
    await noted(
      roomId,
      () =>
        stateStore.updateContent(roomId, type, stateKey, JSON.parse(JSON.stringify(content)), { eventId }),
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
      log.debug("A profile could not be looked up, the member event goes without", { userId, error });
      return undefined;
    }
  };
  return {
    ...core,

    async getMembers(roomId, options = {}) {
      return await stateStore[DURING](roomId, async (stateStore) => {
        const members = await core.getMembers(roomId, options);
        const { at, membership, notMembership } = options;
        if (at !== undefined || (membership !== undefined && notMembership !== undefined)) return members;
        const events = stored(members).filter(isMember);
        await noted(
          roomId,
          () =>
            notMembership === undefined
              ? stateStore.setMembers(roomId, events, { only: membership })
              : stateStore.updateState(roomId, events),
        );
        return members;
      });
    },

    async getJoinedMembers(roomId, options) {
      return await stateStore[DURING](roomId, async (stateStore) => {
        const members = await core.getJoinedMembers(roomId, options);
        const joined = Object.entries(members).map(([userId, { display_name, avatar_url }]) =>
          [userId as UserID, { membership: Membership.JOIN, displayname: display_name, avatar_url }] as const
        );
        await noted(roomId, () => stateStore.setJoinedMembers(roomId, new Map(joined)));
        return members;
      });
    },

    async getState(roomId, options) {
      return await stateStore[DURING](roomId, async (stateStore) => {
        const state = await core.getState(roomId, options);
        await noted(roomId, async () => {
          const events = stored(state);
          await stateStore.setMembers(roomId, events.filter(isMember));
          await stateStore.updateState(roomId, events.filter((event) => !isMember(event)));
        });
        return state;
      });
    },

    async getStateEvent(roomId, eventType, options) {
      return await stateStore[DURING](roomId, async (stateStore) => {
        const answer = await core.getStateEvent(roomId, eventType, options);
        const isWhole = options?.format === "event";
        const events = isWhole ? stored([answer as unknown as ClientStateEvent]) : [];
        if (isWhole) await noted(roomId, () => stateStore.updateState(roomId, events));
        else await noteContent(stateStore, roomId, typeName(eventType), options?.stateKey ?? "", answer);
        return answer;
      });
    },

    async sendStateEvent(roomId, eventType, content, options = {}) {
      const { stateKey = "", signal } = options;
      return await stateStore[DURING](roomId, async (stateStore) => {
        let event: OutgoingEvent | undefined;
        const send = async (): Promise<EventID> => {
          event = await outgoingEvent(eventType, "state", content);
          return await core.sendStateEvent(roomId, event.eventType, event.content, options);
        };
        const note = async (eventId?: EventID): Promise<void> => {
          if (event === undefined) return;
          await noteContent(stateStore, roomId, event.eventType, stateKey, event.content, eventId);
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

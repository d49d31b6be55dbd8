/**
 * The operations that others are built on, and that a store and encryption change.
 *
 * @module
 */

import type { RoomID, UserID } from "../types/ids.ts";
import type { RoomMemberContent } from "../types/content/member_content.ts";
import { type MessagesAPI, messagesAPI } from "./messages/messages.ts";
import type { RequestOptions } from "./http/request_options.ts";
import { type RoomStateAPI, roomStateAPI } from "./rooms/state_events.ts";
import type { Session } from "./session.ts";

/** Completes member events. */
export interface FillMemberEventAPI {
  /**
   * Completes the content of a member event that is about to be sent: the endpoints made for
   * joining and inviting put display name and avatar in, a member event sent by hand has none
   * unless they are put in here.
   *
   * This asks the client's `fillMemberEventCallback`, and nothing else. With a store, the profile
   * of the present member event is used if that returns nothing, and the user's global profile if
   * there is no such event.
   *
   * @param roomId The room the event goes to.
   * @param userId The user it is about.
   * @param content The content so far.
   * @param options Request options, for what has to be looked up.
   * @returns The content to send; nothing if it is to be sent as it is.
   */
  fillMemberEvent(
    roomId: RoomID,
    userId: UserID,
    content: RoomMemberContent,
    options?: RequestOptions,
  ): Promise<RoomMemberContent | undefined>;
}

/**
 * What a store and encryption may put something of their own in front of; all other operations call
 * these.
 */
export interface CoreAPI extends RoomStateAPI, Pick<MessagesAPI, "sendMessageEvent">, FillMemberEventAPI {}

/** The rooms that are encrypted. */
export interface EncryptedRoomsAPI {
  /**
   * Whether messages to a room are encrypted.
   *
   * @param roomId The room.
   * @param options Request options, for what has to be looked up.
   * @returns Whether they are. It rejects if that can't be found out, and if they have to be
   *   encrypted and can't be.
   */
  isEncrypted(roomId: RoomID, options: RequestOptions): Promise<boolean>;
}

/** Makes the plain core: requests, without store and encryption. */
export function coreAPI(session: Session): CoreAPI {
  return {
    ...roomStateAPI(session),
    sendMessageEvent: messagesAPI(session).sendMessageEvent,
    fillMemberEvent: async (roomId, userId, content) =>
      await session.fillMemberEventCallback?.(roomId, userId, content),
  };
}

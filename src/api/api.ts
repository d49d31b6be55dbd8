/**
 * All operations on a homeserver, in one object.
 *
 * @module
 */

import type { AttachmentCipher } from "../types/content/file_info.ts";
import {
  type AccountAPI,
  accountAPI,
  type AccountDataAPI,
  accountDataAPI,
  type DehydratedDeviceAPI,
  dehydratedDeviceAPI,
  type DeviceKeysAPI,
  deviceKeysAPI,
  type DevicesAPI,
  devicesAPI,
  type FiltersAPI,
  filtersAPI,
  type InvitePermissionsAPI,
  invitePermissionsAPI,
  type NotificationsAPI,
  notificationsAPI,
  type OpenIDAPI,
  openIdAPI,
  type PresenceAPI,
  presenceAPI,
  type ProfileAPI,
  profileAPI,
  type PushersAPI,
  pushersAPI,
  type PushRulesAPI,
  pushRulesAPI,
  type RoomKeysAPI,
  roomKeysAPI,
  type SessionAPI,
  sessionAPI,
  type ThirdPartyAddressesAPI,
  thirdPartyIdsAPI,
  type UiaAPI,
  uiaAPI,
} from "./account/account.ts";
import {
  type AccountModerationAPI,
  accountModerationAPI,
  type CapabilitiesAPI,
  capabilitiesAPI,
  type ServerContactsAPI,
  serverContactsAPI,
  type SyncAPI,
  syncAPI,
  type ThirdPartyAPI,
  thirdPartyAPI,
  type VoipAPI,
  voipAPI,
} from "./server/server.ts";
import {
  type DirectoryAPI,
  directoryAPI,
  type JoiningAPI,
  joiningAPI,
  type MembershipAPI,
  membershipAPI,
  type MutualRoomsAPI,
  mutualRoomsAPI,
  type RoomExtrasAPI,
  roomExtrasAPI,
  type RoomsAPI,
  roomsAPI,
  type RoomStateAPI,
  roomStateAPI,
  type SpacesAPI,
  spacesAPI,
} from "./rooms/rooms.ts";
import { type MediaAPI, mediaAPI, noCipher, uploader } from "./media/media.ts";
import {
  type DelayedEventsAPI,
  delayedEventsAPI,
  type MessagesAPI,
  messagesAPI,
  type PagingAPI,
  pagingAPI,
  type ReceiptsAPI,
  receiptsAPI,
  type RelationsAPI,
  relationsAPI,
  type ReportingAPI,
  reportingAPI,
  type SearchAPI,
  searchAPI,
  type SendHelpersAPI,
  sendHelpersAPI,
  type ThreadSubscriptionsAPI,
  threadSubscriptionsAPI,
  type ToDeviceAPI,
  toDeviceAPI,
} from "./messages/mod.ts";
import type { FillMemberEventAPI, RequestOptions, Session } from "./http/mod.ts";
import type { RoomID } from "../types/ids.ts";

/**
 * What a store and encryption may put something of their own in front of; all other operations call
 * these.
 */
export interface CoreAPI extends RoomStateAPI, Pick<MessagesAPI, "sendMessageEvent">, FillMemberEventAPI {}

export interface EncryptedRoomsAPI {
  /**
   * Returns whether messages to a room are encrypted.
   *
   * @param roomId The room.
   * @param options Request options, for what has to be looked up.
   * @param type The type of event. Default: one that is encrypted where anything is.
   * @returns Whether they are. It rejects if that can't be found out, and if they have to be
   *   encrypted and can't be.
   */
  isEncrypted(roomId: RoomID, options: RequestOptions, type?: string): Promise<boolean>;
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

/**
 * Endpoints of cross-signing, key backups and dehydrated devices, as the server has them. `client.crypto` calls
 * them, and knows what it may believe: by hand they can lose keys.
 */
export interface RawAPI
  extends
    RoomKeysAPI,
    DehydratedDeviceAPI,
    Pick<DeviceKeysAPI, "getKeyChanges" | "uploadCrossSigningKeys" | "uploadSignatures"> {}

/** The names of what applications find as `client.raw`. */
export const RAW_NAMES: Readonly<Record<keyof RawAPI, true>> = {
  ...{ getKeyBackupVersion: true, createKeyBackupVersion: true, updateKeyBackupVersion: true },
  ...{ deleteKeyBackupVersion: true, uploadRoomKeys: true, getRoomKey: true, downloadRoomKeys: true },
  ...{ deleteRoomKey: true, getDehydratedDevice: true, uploadDehydratedDevice: true },
  ...{ deleteDehydratedDevice: true, getDehydratedDeviceEvents: true },
  ...{ getKeyChanges: true, uploadCrossSigningKeys: true, uploadSignatures: true },
};

/** The operations of the client-server API, one method each. */
export interface ClientAPI
  extends
    CoreAPI,
    AccountDataAPI,
    DirectoryAPI,
    JoiningAPI,
    MembershipAPI,
    MessagesAPI,
    PresenceAPI,
    ProfileAPI,
    PushRulesAPI,
    ReceiptsAPI,
    RoomsAPI,
    AccountAPI,
    Pick<DeviceKeysAPI, "uploadKeys" | "queryKeys" | "claimKeys">,
    DevicesAPI,
    FiltersAPI,
    SyncAPI,
    SessionAPI,
    ToDeviceAPI,
    MediaAPI,
    RelationsAPI,
    SpacesAPI,
    RoomExtrasAPI,
    ReportingAPI,
    SearchAPI,
    CapabilitiesAPI,
    PushersAPI,
    ThirdPartyAPI,
    OpenIDAPI,
    VoipAPI,
    PagingAPI,
    UiaAPI,
    DelayedEventsAPI,
    MutualRoomsAPI,
    ThreadSubscriptionsAPI,
    InvitePermissionsAPI,
    NotificationsAPI,
    ThirdPartyAddressesAPI,
    AccountModerationAPI,
    ServerContactsAPI,
    SendHelpersAPI {}

/** All operations, as the package's own parts call them. */
export interface AllAPI extends ClientAPI, RawAPI {}

/**
 * Makes all operations.
 *
 * @param session Who acts, and where.
 * @param decorate Puts something in front of the core, as a store and encryption do; the operations
 * that are built on the core use what it returns. If it can tell which rooms are encrypted, files
 * are encrypted for them. Default: nothing.
 * @param cipher Encrypts and decrypts files. Default: nothing does.
 */
export function clientAPI(
  session: Session,
  decorate: (core: CoreAPI) => CoreAPI & Partial<EncryptedRoomsAPI> = (core) => core,
  cipher: AttachmentCipher = noCipher,
): AllAPI {
  const { isEncrypted, ...core } = decorate(coreAPI(session));
  const messages = messagesAPI(session);
  const directory = directoryAPI(session);
  const relations = relationsAPI(session);
  const spaces = spacesAPI(session);
  return {
    ...messages,
    ...core,
    ...accountDataAPI(session),
    ...directory,
    ...joiningAPI(session),
    ...membershipAPI(session, core),
    ...presenceAPI(session),
    ...profileAPI(session),
    ...pushRulesAPI(session),
    ...receiptsAPI(session),
    ...roomsAPI(session),
    ...roomKeysAPI(session),
    ...accountAPI(session),
    ...deviceKeysAPI(session),
    ...dehydratedDeviceAPI(session),
    ...devicesAPI(session),
    ...filtersAPI(session),
    ...syncAPI(session),
    ...sessionAPI(session),
    ...toDeviceAPI(session),
    ...mediaAPI(session, cipher),
    ...relations,
    ...spaces,
    ...roomExtrasAPI(session),
    ...reportingAPI(session),
    ...searchAPI(session),
    ...capabilitiesAPI(session),
    ...pushersAPI(session),
    ...thirdPartyAPI(session),
    ...openIdAPI(session),
    ...voipAPI(session),
    ...uiaAPI(session),
    ...delayedEventsAPI(session, isEncrypted),
    ...mutualRoomsAPI(session),
    ...threadSubscriptionsAPI(session),
    ...invitePermissionsAPI(session),
    ...notificationsAPI(session),
    ...thirdPartyIdsAPI(session),
    ...accountModerationAPI(session),
    ...serverContactsAPI(session),
    ...pagingAPI({ ...messages, ...directory, ...relations, ...spaces }),
    ...sendHelpersAPI(core.sendMessageEvent, {
      upload: uploader(session),
      cipher,
      isEncrypted,
      nextTransactionId: session.http.nextTransactionId,
      asUserId: session.http.asUserId,
    }),
  };
}

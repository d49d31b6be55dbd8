/**
 * All operations on a homeserver, in one object.
 *
 * Over 300 lines because each group of operations is named, so that it need not be made to be known.
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
import { type Group, LazyGroups } from "./lazy_groups.ts";
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
 * Endpoints of cross-signing, key backups and dehydrated devices, as the server has them.
 * `client.crypto` calls them, and knows what it may believe: by hand they can lose keys.
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
 * @param client What else the client has. Default: nothing.
 */
export function clientAPI(
  session: Session,
  decorate: (core: CoreAPI) => DecoratedCore = (core) => core,
  cipher: AttachmentCipher = noCipher,
  { groups = plainOperations(), around = () => ({}) }: Partial<ClientKind> = {},
): AllAPI {
  let made: DecoratedCore | undefined;
  const core = () => made ??= decorate(coreAPI(session));
  return groups.of({ session, cipher, around, core });
}

type DecoratedCore = CoreAPI & Partial<EncryptedRoomsAPI>;

/** Operations that make rooms, and change who is in them. */
interface ChangingRoomsAPI extends RoomsAPI, RoomExtrasAPI, MembershipAPI {}

/** What a client has beside its core. */
interface ClientKind {
  /** The groups, if what decorates the core adds operations. */
  readonly groups: LazyGroups<AllAPI, ApiParts>;
  /** Does something more around operations that change rooms. */
  readonly around: (plain: ChangingRoomsAPI) => Partial<ChangingRoomsAPI>;
}

/** What the operations are made with. */
interface ApiParts extends Pick<ClientKind, "around"> {
  readonly session: Session;
  readonly cipher: AttachmentCipher;
  readonly core: () => DecoratedCore;
}

let plain: LazyGroups<AllAPI, ApiParts> | undefined;

/** The operations of clients whose core has no more than others. */
export function plainOperations(): LazyGroups<AllAPI, ApiParts> {
  return plain ??= operations();
}

/**
 * The operations in groups.
 *
 * @param added The names of those that a core has besides, with spaces in between. Default: none.
 */
export function operations(added?: string): LazyGroups<AllAPI, ApiParts> {
  return new LazyGroups(added === undefined ? GROUPS : [...GROUPS, { names: added, make: coreOf }]);
}

const coreOf = ({ core }: ApiParts) => core();

/** Tests call each operation by its name. */
const GROUPS: readonly Group<AllAPI, ApiParts>[] = [
  { names: "sendMessageEvent redact getEvent getMessages", make: ({ session }) => messagesAPI(session) },
  {
    names:
      "getMembers getJoinedMembers getState getStateEvent sendStateEvent sendMessageEvent fillMemberEvent",
    make: coreOf,
  },
  {
    names:
      "getAccountData setAccountData deleteAccountData listAccountData getRoomTags getRoomTag setRoomTag " +
      "removeRoomTag",
    make: ({ session }) => accountDataAPI(session),
  },
  {
    names: "addRoomAlias removeRoomAlias getRoomAlias getRoomAliases getRoomDirectory " +
      "getRoomDirectoryVisibility setRoomDirectoryVisibility searchUsers",
    make: ({ session }) => directoryAPI(session),
  },
  { names: "joinRoom knockRoom", make: ({ session }) => joiningAPI(session) },
  { names: "getPresence setPresence", make: ({ session }) => presenceAPI(session) },
  {
    names:
      "getProfile getDisplayname setDisplayname getAvatarUrl setAvatarUrl getProfileField setProfileField " +
      "deleteProfileField",
    make: ({ session }) => profileAPI(session),
  },
  {
    names: "getPushRules getPushRule setPushRule removePushRule isPushRuleEnabled setPushRuleEnabled " +
      "getPushRuleActions setPushRuleActions",
    make: ({ session }) => pushRulesAPI(session),
  },
  { names: "sendReceipt setFullyReadMarker setTyping", make: ({ session }) => receiptsAPI(session) },
  {
    names:
      "createRoom getJoinedRooms upgradeRoom getEventContext timestampToEvent getRoomSummary joinRoomById " +
      "leaveRoom forgetRoom inviteUser kickUser banUser unbanUser sendMemberEvent",
    make: ({ session, core, around }) => {
      const plain = { ...roomsAPI(session), ...roomExtrasAPI(session), ...membershipAPI(session, core()) };
      return { ...plain, ...around(plain) };
    },
  },
  {
    names: "getKeyBackupVersion createKeyBackupVersion updateKeyBackupVersion deleteKeyBackupVersion " +
      "uploadRoomKeys getRoomKey downloadRoomKeys deleteRoomKey",
    make: ({ session }) => roomKeysAPI(session),
  },
  {
    names: "register isUsernameAvailable isRegistrationTokenValid changePassword deactivateAccount " +
      "getThirdPartyIds",
    make: ({ session }) => accountAPI(session),
  },
  {
    names: "uploadKeys queryKeys claimKeys getKeyChanges uploadCrossSigningKeys uploadSignatures",
    make: ({ session }) => deviceKeysAPI(session),
  },
  {
    names: "getDehydratedDevice uploadDehydratedDevice deleteDehydratedDevice getDehydratedDeviceEvents",
    make: ({ session }) => dehydratedDeviceAPI(session),
  },
  {
    names: "getDevices getDevice updateDevice deleteDevice deleteDevices",
    make: ({ session }) => devicesAPI(session),
  },
  { names: "createFilter getFilter", make: ({ session }) => filtersAPI(session) },
  { names: "sync", make: ({ session }) => syncAPI(session) },
  {
    names: "versions supports whoami getLoginFlows login logout logoutAll getLoginToken",
    make: ({ session }) => sessionAPI(session),
  },
  { names: "sendToDevice sendToOneDevice", make: ({ session }) => toDeviceAPI(session) },
  {
    names: "uploadMedia createMedia uploadMediaTo downloadMedia downloadMediaStream downloadThumbnail " +
      "getMediaRepoConfig getUrlPreview",
    make: ({ session, cipher }) => mediaAPI(session, cipher),
  },
  { names: "getRelations getThreads", make: ({ session }) => relationsAPI(session) },
  { names: "getSpaceHierarchy", make: ({ session }) => spacesAPI(session) },
  { names: "reportEvent reportRoom reportUser", make: ({ session }) => reportingAPI(session) },
  { names: "searchMessages", make: ({ session }) => searchAPI(session) },
  { names: "getCapabilities", make: ({ session }) => capabilitiesAPI(session) },
  { names: "getPushers setPusher removePusher", make: ({ session }) => pushersAPI(session) },
  {
    names:
      "getThirdPartyProtocols getThirdPartyProtocol getThirdPartyLocations getThirdPartyLocationsOfAlias " +
      "getThirdPartyUsers getThirdPartyUsersOfId",
    make: ({ session }) => thirdPartyAPI(session),
  },
  { names: "getOpenIdToken", make: ({ session }) => openIdAPI(session) },
  { names: "getTurnServer", make: ({ session }) => voipAPI(session) },
  { names: "withUia", make: ({ session }) => uiaAPI(session) },
  {
    names: "createDelayedEvent listDelayedEvents cancelDelayedEvent restartDelayedEvent sendDelayedEvent",
    make: ({ session, core }) => delayedEventsAPI(session, core().isEncrypted),
  },
  { names: "getMutualRooms", make: ({ session }) => mutualRoomsAPI(session) },
  {
    names: "getThreadSubscription setThreadSubscription removeThreadSubscription",
    make: ({ session }) => threadSubscriptionsAPI(session),
  },
  {
    names: "getInvitePermissions setInvitePermissions",
    make: ({ session }) => invitePermissionsAPI(session),
  },
  { names: "getNotifications", make: ({ session }) => notificationsAPI(session) },
  {
    names: "requestEmailToken requestPhoneToken addThirdPartyId bindThirdPartyId unbindThirdPartyId " +
      "removeThirdPartyId",
    make: ({ session }) => thirdPartyIdsAPI(session),
  },
  {
    names: "isUserLocked setUserLocked isUserSuspended setUserSuspended",
    make: ({ session }) => accountModerationAPI(session),
  },
  { names: "getSupport getPolicyServer", make: ({ session }) => serverContactsAPI(session) },
  {
    names: "iterateMessages iterateRelations iterateThreads iterateSpaceRooms iterateRoomDirectory",
    make: (_, api) => pagingAPI(api),
  },
  {
    names: "sendMessage sendText edit sendNotice sendEmote sendSticker react sendFile sendImage",
    make: ({ session, core, cipher }) => {
      const { nextTransactionId, asUserId } = session.http;
      const { isEncrypted, sendMessageEvent } = core();
      const placing = { upload: uploader(session), cipher, isEncrypted, nextTransactionId, asUserId };
      return sendHelpersAPI(sendMessageEvent, placing);
    },
  },
];

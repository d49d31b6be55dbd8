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
import { type Groups, lazily } from "./lazy_groups.ts";
import type { FillMemberEventAPI, RequestOptions, Session } from "./http/mod.ts";
import type { RoomID } from "../types/ids.ts";

export { namesOf } from "./lazy_groups.ts";

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
 * @param client What else the client has. Default: nothing.
 */
export function clientAPI(
  session: Session,
  decorate: (core: CoreAPI) => DecoratedCore = (core) => core,
  cipher: AttachmentCipher = noCipher,
  { kind = {}, around = () => ({}) }: Partial<ClientKind> = {},
): AllAPI {
  let made: DecoratedCore | undefined;
  const core = () => made ??= decorate(coreAPI(session));
  return lazily<AllAPI, ApiParts>(GROUPS, { session, cipher, around, core }, kind);
}

type DecoratedCore = CoreAPI & Partial<EncryptedRoomsAPI>;

/** Operations that make rooms, and change who is in them. */
interface ChangingRoomsAPI extends RoomsAPI, RoomExtrasAPI, MembershipAPI {}

/** What a client has beside its core. */
interface ClientKind {
  /** The same object for all clients that are made so: their operations have the same names. */
  readonly kind: object;
  /** Does something more around operations that change rooms. */
  readonly around: (plain: ChangingRoomsAPI) => Partial<ChangingRoomsAPI>;
}

/** What the operations are made with. */
interface ApiParts extends Pick<ClientKind, "around"> {
  readonly session: Session;
  readonly cipher: AttachmentCipher;
  readonly core: () => DecoratedCore;
}

/** Of a name that several have, the last one counts. */
const GROUPS: Groups<AllAPI, ApiParts> = [
  ({ session }) => messagesAPI(session),
  ({ core }) => {
    const { isEncrypted: _, ...operations } = core();
    return operations;
  },
  ({ session }) => accountDataAPI(session),
  ({ session }) => directoryAPI(session),
  ({ session }) => joiningAPI(session),
  ({ session }) => presenceAPI(session),
  ({ session }) => profileAPI(session),
  ({ session }) => pushRulesAPI(session),
  ({ session }) => receiptsAPI(session),
  ({ session, core, around }) => {
    const plain = { ...roomsAPI(session), ...roomExtrasAPI(session), ...membershipAPI(session, core()) };
    return { ...plain, ...around(plain) };
  },
  ({ session }) => roomKeysAPI(session),
  ({ session }) => accountAPI(session),
  ({ session }) => deviceKeysAPI(session),
  ({ session }) => dehydratedDeviceAPI(session),
  ({ session }) => devicesAPI(session),
  ({ session }) => filtersAPI(session),
  ({ session }) => syncAPI(session),
  ({ session }) => sessionAPI(session),
  ({ session }) => toDeviceAPI(session),
  ({ session, cipher }) => mediaAPI(session, cipher),
  ({ session }) => relationsAPI(session),
  ({ session }) => spacesAPI(session),
  ({ session }) => reportingAPI(session),
  ({ session }) => searchAPI(session),
  ({ session }) => capabilitiesAPI(session),
  ({ session }) => pushersAPI(session),
  ({ session }) => thirdPartyAPI(session),
  ({ session }) => openIdAPI(session),
  ({ session }) => voipAPI(session),
  ({ session }) => uiaAPI(session),
  ({ session, core }) => delayedEventsAPI(session, core().isEncrypted),
  ({ session }) => mutualRoomsAPI(session),
  ({ session }) => threadSubscriptionsAPI(session),
  ({ session }) => invitePermissionsAPI(session),
  ({ session }) => notificationsAPI(session),
  ({ session }) => thirdPartyIdsAPI(session),
  ({ session }) => accountModerationAPI(session),
  ({ session }) => serverContactsAPI(session),
  (_, api) => pagingAPI(api),
  ({ session, core, cipher }) => {
    const { nextTransactionId, asUserId } = session.http;
    const { isEncrypted, sendMessageEvent } = core();
    const placing = { upload: uploader(session), cipher, isEncrypted, nextTransactionId, asUserId };
    return sendHelpersAPI(sendMessageEvent, placing);
  },
];

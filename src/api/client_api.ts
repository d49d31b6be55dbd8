/**
 * All operations on a homeserver, in one object.
 *
 * @module
 */

import type { AttachmentCipher } from "../types/api/attachment_cipher.ts";
import { type AccountAPI, accountAPI } from "./account/account.ts";
import { type AccountDataAPI, accountDataAPI } from "./account/account_data.ts";
import { type CapabilitiesAPI, capabilitiesAPI } from "./server/capabilities.ts";
import { type CoreAPI, coreAPI, type EncryptedRoomsAPI } from "./core_api.ts";
import { type DehydratedDeviceAPI, dehydratedDeviceAPI } from "./account/dehydrated_device.ts";
import { type DeviceKeysAPI, deviceKeysAPI } from "./account/device_keys.ts";
import { type DevicesAPI, devicesAPI } from "./account/devices.ts";
import { type DirectoryAPI, directoryAPI } from "./rooms/directory.ts";
import { type FiltersAPI, filtersAPI } from "./account/filters.ts";
import { type JoiningAPI, joiningAPI } from "./rooms/joining.ts";
import { type MediaAPI, mediaAPI } from "./media/media.ts";
import { noCipher } from "./media/media_cipher.ts";
import { uploader } from "./media/media_upload.ts";
import { type MembershipAPI, membershipAPI } from "./rooms/membership.ts";
import { type MessagesAPI, messagesAPI } from "./messages/messages.ts";
import { type OpenIDAPI, openIDAPI } from "./account/openid.ts";
import { type PagingAPI, pagingAPI } from "./rooms/paging.ts";
import { type PresenceAPI, presenceAPI } from "./account/presence.ts";
import { type ProfileAPI, profileAPI } from "./account/profile.ts";
import { type PushRulesAPI, pushRulesAPI } from "./account/push_rules.ts";
import { type PushersAPI, pushersAPI } from "./account/pushers.ts";
import { type ReceiptsAPI, receiptsAPI } from "./messages/receipts.ts";
import { type RelationsAPI, relationsAPI } from "./messages/relations.ts";
import { type ReportingAPI, reportingAPI } from "./messages/reporting.ts";
import { type RoomExtrasAPI, roomExtrasAPI } from "./rooms/room_extras.ts";
import { type RoomKeysAPI, roomKeysAPI } from "./account/room_keys.ts";
import { type RoomsAPI, roomsAPI } from "./rooms/rooms.ts";
import { type SearchAPI, searchAPI } from "./messages/search.ts";
import { type SendHelpersAPI, sendHelpersAPI } from "./messages/send_helpers.ts";
import type { Session } from "./session.ts";
import { type SessionAPI, sessionAPI } from "./account/session_api.ts";
import { type SpacesAPI, spacesAPI } from "./rooms/spaces.ts";
import { type SyncAPI, syncAPI } from "./server/sync.ts";
import { type ThirdPartyAPI, thirdPartyAPI } from "./server/third_party.ts";
import { type ToDeviceAPI, toDeviceAPI } from "./messages/to_device.ts";
import { type UIAAPI, uiaAPI } from "./account/uia.ts";
import { type VoIPAPI, voipAPI } from "./server/voip.ts";

/** Every operation of the client-server API, one method each. */
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
    RoomKeysAPI,
    AccountAPI,
    DeviceKeysAPI,
    DehydratedDeviceAPI,
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
    VoIPAPI,
    PagingAPI,
    UIAAPI,
    SendHelpersAPI {}

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
): ClientAPI {
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
    ...openIDAPI(session),
    ...voipAPI(session),
    ...uiaAPI(session),
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

/**
 * All operations on a homeserver, in one object.
 *
 * @module
 */

import { type AccountDataAPI, accountDataAPI } from "./account_data.ts";
import { type CoreAPI, coreAPI } from "./core_api.ts";
import { type DirectoryAPI, directoryAPI } from "./directory.ts";
import { type JoiningAPI, joiningAPI } from "./joining.ts";
import { type MembershipAPI, membershipAPI } from "./membership.ts";
import { type MessagesAPI, messagesAPI } from "./messages.ts";
import { type PresenceAPI, presenceAPI } from "./presence.ts";
import { type ProfileAPI, profileAPI } from "./profile.ts";
import { type PushRulesAPI, pushRulesAPI } from "./push_rules.ts";
import { type ReceiptsAPI, receiptsAPI } from "./receipts.ts";
import { type RoomsAPI, roomsAPI } from "./rooms.ts";
import { type SendHelpersAPI, sendHelpersAPI } from "./send_helpers.ts";
import { type AccountAPI, accountAPI } from "./account.ts";
import { type DeviceKeysAPI, deviceKeysAPI } from "./device_keys.ts";
import { type DevicesAPI, devicesAPI } from "./devices.ts";
import { type FiltersAPI, filtersAPI } from "./filters.ts";
import { type SyncAPI, syncAPI } from "./sync.ts";
import { type SessionAPI, sessionAPI } from "./session_api.ts";
import { type ToDeviceAPI, toDeviceAPI } from "./to_device.ts";
import type { Session } from "./session.ts";

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
    AccountAPI,
    DeviceKeysAPI,
    DevicesAPI,
    FiltersAPI,
    SyncAPI,
    SessionAPI,
    ToDeviceAPI,
    SendHelpersAPI {}

/**
 * Makes all operations.
 *
 * @param session Who acts, and where.
 * @param decorate Puts something in front of the core, as a store and encryption do; the operations that are built on the core
 * use what it returns. Default: nothing.
 */
export function clientAPI(
  session: Session,
  decorate: (core: CoreAPI) => CoreAPI = (core) => core,
): ClientAPI {
  const core = decorate(coreAPI(session));
  return {
    ...messagesAPI(session),
    ...core,
    ...accountDataAPI(session),
    ...directoryAPI(session),
    ...joiningAPI(session),
    ...membershipAPI(session, core),
    ...presenceAPI(session),
    ...profileAPI(session),
    ...pushRulesAPI(session),
    ...receiptsAPI(session),
    ...roomsAPI(session),
    ...accountAPI(session),
    ...deviceKeysAPI(session),
    ...devicesAPI(session),
    ...filtersAPI(session),
    ...syncAPI(session),
    ...sessionAPI(session),
    ...toDeviceAPI(session),
    ...sendHelpersAPI(core.sendMessageEvent),
  };
}

/**
 * The routing table.
 *
 * @module
 */

import type { Route } from "../http/route.ts";
import { accountDataRoutes } from "./account/account_data.ts";
import { accountRoutes } from "./account/account.ts";
import { appserviceRoutes } from "./appservice.ts";
import { createRoomRoutes } from "./rooms/create_room.ts";
import { crossSigningRoutes } from "./account/cross_signing.ts";
import { dehydratedDeviceRoutes } from "./account/dehydrated_device.ts";
import { deviceRoutes } from "./account/devices.ts";
import { directoryRoutes } from "./rooms/directory.ts";
import { historyRoutes } from "./rooms/history.ts";
import { keyRoutes } from "./account/keys.ts";
import { loginRoutes } from "./account/login.ts";
import { mediaRoutes } from "./media.ts";
import { membershipRoutes } from "./rooms/membership.ts";
import { profileRoutes } from "./account/profile.ts";
import { pushRuleRoutes } from "./account/push_rules.ts";
import { receiptRoutes } from "./rooms/receipts.ts";
import { relationRoutes } from "./rooms/relations.ts";
import { roomKeyRoutes } from "./account/room_keys.ts";
import { searchRoutes } from "./rooms/search.ts";
import { sendRoutes } from "./rooms/send.ts";
import { serverInfoRoutes } from "./server_info.ts";
import { spaceRoutes } from "./rooms/spaces.ts";
import { stateRoutes } from "./rooms/state.ts";
import { syncRoutes } from "./sync.ts";
import { toDeviceRoutes } from "./account/to_device.ts";

/** All endpoints of the in-process homeserver. */
export const ALL_ROUTES: readonly Route[] = [
  ...accountDataRoutes,
  ...accountRoutes,
  ...appserviceRoutes,
  ...createRoomRoutes,
  ...crossSigningRoutes,
  ...dehydratedDeviceRoutes,
  ...deviceRoutes,
  ...directoryRoutes,
  ...historyRoutes,
  ...keyRoutes,
  ...loginRoutes,
  ...mediaRoutes,
  ...membershipRoutes,
  ...profileRoutes,
  ...pushRuleRoutes,
  ...receiptRoutes,
  ...relationRoutes,
  ...roomKeyRoutes,
  ...searchRoutes,
  ...sendRoutes,
  ...serverInfoRoutes,
  ...spaceRoutes,
  ...stateRoutes,
  ...syncRoutes,
  ...toDeviceRoutes,
];

/**
 * The routing table.
 *
 * @module
 */

import type { Route } from "../http/route.ts";
import { accountDataRoutes } from "./account_data.ts";
import { accountRoutes } from "./account.ts";
import { createRoomRoutes } from "./create_room.ts";
import { crossSigningRoutes } from "./cross_signing.ts";
import { deviceRoutes } from "./devices.ts";
import { directoryRoutes } from "./directory.ts";
import { historyRoutes } from "./history.ts";
import { keyRoutes } from "./keys.ts";
import { loginRoutes } from "./login.ts";
import { mediaRoutes } from "./media.ts";
import { membershipRoutes } from "./membership.ts";
import { profileRoutes } from "./profile.ts";
import { pushRuleRoutes } from "./push_rules.ts";
import { receiptRoutes } from "./receipts.ts";
import { relationRoutes } from "./relations.ts";
import { roomKeyRoutes } from "./room_keys.ts";
import { searchRoutes } from "./search.ts";
import { sendRoutes } from "./send.ts";
import { serverInfoRoutes } from "./server_info.ts";
import { spaceRoutes } from "./spaces.ts";
import { stateRoutes } from "./state.ts";
import { syncRoutes } from "./sync.ts";
import { toDeviceRoutes } from "./to_device.ts";

/** Every endpoint that the in-process homeserver knows. */
export const ALL_ROUTES: readonly Route[] = [
  ...accountDataRoutes,
  ...accountRoutes,
  ...createRoomRoutes,
  ...crossSigningRoutes,
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

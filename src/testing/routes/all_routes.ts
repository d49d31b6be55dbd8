/**
 * The routing table.
 *
 * @module
 */

import type { Route } from "../http/route.ts";
import { accountRoutes } from "./account.ts";
import { createRoomRoutes } from "./create_room.ts";
import { loginRoutes } from "./login.ts";
import { membershipRoutes } from "./membership.ts";
import { sendRoutes } from "./send.ts";
import { serverInfoRoutes } from "./server_info.ts";
import { syncRoutes } from "./sync.ts";

/** Every endpoint that the in-process homeserver knows. */
export const ALL_ROUTES: readonly Route[] = [
  ...accountRoutes,
  ...createRoomRoutes,
  ...loginRoutes,
  ...membershipRoutes,
  ...sendRoutes,
  ...serverInfoRoutes,
  ...syncRoutes,
];

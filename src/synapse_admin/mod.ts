/**
 * `@greenroom/matrix/synapse-admin`: what moderation bots do to a Synapse whose administrators they are:
 * users, rooms, media, tokens for registration, and notices of the server.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
 *
 * const client = new Client({ baseUrl: "https://matrix.example.org", accessToken: "syt_of_an_administrator" });
 * const admin = new SynapseAdmin(client);
 *
 * export async function lockOut(spammer: `@${string}:${string}`): Promise<void> {
 *   await admin.updateUser(spammer, { locked: true });
 * }
 * ```
 *
 * @see {@link https://element-hq.github.io/synapse/latest/usage/administration/admin_api/ | Synapse Admin API}
 * @module
 */

import { callSite, endOwnCode } from "../base/own_code.ts"; // first: bundles begin with it

export type {
  AdminConnection,
  AdminRoom,
  AdminRoomPage,
  AdminUser,
  AdminUserPage,
  RegistrationToken,
  RoomDeletion,
  UserRedaction,
} from "./endpoints.ts";
export type {
  AdministratingClient,
  AdminUserChange,
  CreateRegistrationTokenOptions,
  DeactivateUserOptions,
  DeleteRoomOptions,
  ListAdminRoomsOptions,
  ListAdminUsersOptions,
  ListRegistrationTokensOptions,
  RedactUserEventsOptions,
  ResetPasswordOptions,
  SendServerNoticeOptions,
} from "./options.ts";
export { SynapseAdmin } from "./synapse_admin.ts";

endOwnCode(() => callSite());

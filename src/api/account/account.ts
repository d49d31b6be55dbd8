/**
 * The account: registration, password, addresses, and its end.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#account-registration-and-management | Account management}
 * @module
 */

import { CALL, endpoint, field, fields, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import { InvalidUsernameError, UserInUseError } from "../../errors/account_errcodes.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { ExclusiveError } from "../../errors/errcodes.ts";
import type { Open, ThirdPartyMedium } from "../../types/enums.ts";
import type { DeviceID } from "../../types/ids.ts";
import { authenticated, type AuthenticationOptions, endLogin, type NewSession, storeLogin } from "./uia.ts";

export { type FiltersAPI, filtersAPI } from "./filters.ts";
export { type LoginOptions, type LogoutOptions, type SessionAPI, sessionAPI } from "./session_api.ts";
export {
  type PresenceAPI,
  presenceAPI,
  type ProfileAPI,
  profileAPI,
  type SetPresenceOptions,
  type SetProfileOptions,
} from "./profile.ts";
export {
  type GetNotificationsOptions,
  type Notification,
  type NotificationsAPI,
  notificationsAPI,
  type NotificationsResponse,
  type Pusher,
  type PusherData,
  type PusherRemoval,
  type PushersAPI,
  pushersAPI,
  type PusherSetup,
} from "./notifications.ts";
export {
  type Authentication,
  type AuthenticationOptions,
  checkAuthentication,
  type NewSession,
  type StageHandler,
  type StageRequest,
  type UiaAPI,
  uiaAPI,
} from "./uia.ts";
export {
  type AccountDataAPI,
  accountDataAPI,
  type AccountDataOptions,
  type SetRoomTagOptions,
} from "./account_data.ts";
export {
  type ClaimKeysOptions,
  type DeviceKeysAPI,
  deviceKeysAPI,
  type DevicesToQuery,
  type KeysToClaim,
  type QueryKeysOptions,
  type SignedObjects,
  type UploadCrossSigningKeysOptions,
  type UploadKeysOptions,
} from "./device_keys.ts";
export {
  type DehydratedDeviceAPI,
  dehydratedDeviceAPI,
  type Device,
  type DevicesAPI,
  devicesAPI,
  type GetDehydratedDeviceEventsOptions,
} from "./devices.ts";
export {
  type DownloadRoomKeysOptions,
  type GetKeyBackupVersionOptions,
  type RoomKeysAPI,
  roomKeysAPI,
} from "./room_keys.ts";
export {
  type BindThirdPartyIDOptions,
  type OpenIDAPI,
  openIdAPI,
  type OpenIDToken,
  type RequestEmailTokenOptions,
  type RequestPhoneTokenOptions,
  type ThirdPartyAddress,
  type ThirdPartyAddressesAPI,
  thirdPartyIdsAPI,
  type ThirdPartyValidation,
  type UnbindResult,
  type UnbindThirdPartyIDOptions,
} from "./third_party_ids.ts";
export { type PushRulesAPI, pushRulesAPI, type SetPushRuleOptions } from "./push_rules.ts";
export {
  type InvitePermissions,
  type InvitePermissionsAPI,
  invitePermissionsAPI,
} from "./invite_permissions.ts";

const ACCOUNT = "/_matrix/client/v3/account";
const register = endpoint(
  "register",
  "POST",
  "/_matrix/client/v3/register",
  fields<NewSession>({
    user_id: "string",
    device_id: "string?",
    access_token: "string?",
    refresh_token: "string?",
    expires_in_ms: "number?",
  }),
  { auth: false },
);
const available = endpoint(
  "isUsernameAvailable",
  "GET",
  "/_matrix/client/v3/register/available",
  field<boolean>("available", "boolean"),
  { auth: false },
);
const tokenValidity = endpoint(
  "isRegistrationTokenValid",
  "GET",
  "/_matrix/client/v1/register/m.login.registration_token/validity",
  field<boolean>("valid", "boolean"),
  { auth: false },
);
const changePassword = endpoint("changePassword", "POST", `${ACCOUNT}/password`, nothing);
const deactivate = endpoint(
  "deactivateAccount",
  "POST",
  `${ACCOUNT}/deactivate`,
  field<"success" | "no-support" | undefined>("id_server_unbind_result", "string?"),
);
const thirdPartyIds = endpoint(
  "getThirdPartyIds",
  "GET",
  `${ACCOUNT}/3pid`,
  field<ThirdPartyID[] | undefined>("threepids", "array?"),
);

/** An address outside Matrix that belongs to the account. */
export interface ThirdPartyID {
  /** What the address is of. */
  medium: Open<ThirdPartyMedium>;
  /** The email address, or the phone number in digits with its country code. */
  address: string;
  /** When it was validated, in milliseconds since the epoch. */
  validated_at: number;
  /** When it was added to the account, in milliseconds since the epoch. */
  added_at: number;
}

/** Options of {@link AccountAPI.register}. */
export interface RegisterOptions extends AuthenticationOptions {
  /** What the account is: a user's or a guest's. Default: `user`. */
  kind?: "user" | "guest";
  /** The local part of the user ID. Default: the server makes one up. */
  username?: string;
  /** The password. Default: none. */
  password?: string;
  /** The device. Default: the server makes one up. */
  deviceId?: DeviceID;
  /** The name of the device. Default: none. */
  deviceName?: string;
  /** Whether to ask for an access token that expires and is renewed on the way. Default: false. */
  withRefreshToken?: boolean;
  /** Whether to make the account alone, and no device and no token. Default: false. */
  inhibitLogin?: boolean;
  /** Whether the client acts as the new session from then on, if there is one. Default: true. */
  storeAccessToken?: boolean;
}

/** Options of {@link AccountAPI.changePassword}. */
export interface ChangePasswordOptions extends AuthenticationOptions {
  /** Whether all other devices are logged out. Default: true. */
  logoutDevices?: boolean;
}

/** Options of {@link AccountAPI.deactivateAccount}. */
export interface DeactivateAccountOptions extends AuthenticationOptions {
  /**
   * The identity server to remove the account's addresses from. Default: the one that each was
   * bound through.
   */
  idServer?: string;
  /** Whether users who join later are not to see what the user sent. Default: false. */
  erase?: boolean;
  /** Whether the client forgets its token and device. Default: true. */
  clearAccessToken?: boolean;
}

/** Operations on the account. */
export interface AccountAPI {
  /**
   * Makes an account, and logs in by default. Most servers want an authentication, `m.login.dummy`
   * at the least; `authentication: {}` covers that.
   *
   * @param options What the account is to be, how to authenticate, and request options.
   * @returns The user, and the session unless there is none: keep its tokens secret.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @throws {UserInUseError} If the name is taken.
   * @throws {InvalidUsernameError} If the name breaks the grammar.
   * @throws {ForbiddenError} If the server takes no registrations.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3register | POST /register}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
   * await client.register({ username: "alice", password: "wonderland", authentication: {} });
   * console.assert(client.mxid === "@alice:localhost");
   * ```
   */
  register(options?: RegisterOptions): Promise<NewSession>;

  /**
   * Asks whether a name can be registered.
   *
   * @param username The local part of a user ID.
   * @param options Request options.
   * @returns Whether it can; false if it is taken, reserved or malformed.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3registeravailable | GET /register/available}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isFree(client: Client): Promise<boolean> {
   *   return await client.isUsernameAvailable("stage.manager");
   * }
   * ```
   */
  isUsernameAvailable(username: string, options?: RequestOptions): Promise<boolean>;

  /**
   * Returns whether a user could register with a token now (`m.login.registration_token`).
   *
   * @param token The token.
   * @param options Request options.
   * @throws {ForbiddenError} If nobody can register.
   * @throws {ValueError} If the token is empty.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1registermloginregistration_tokenvalidity | GET /register/m.login.registration_token/validity}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function canInvite(client: Client, tokens: string[]): Promise<boolean> {
   *   for (const token of tokens) if (await client.isRegistrationTokenValid(token)) return true;
   *   return false;
   * }
   * ```
   */
  isRegistrationTokenValid(token: string, options?: RequestOptions): Promise<boolean>;

  /**
   * Changes the password of the account.
   *
   * @param newPassword The new password.
   * @param options Whether to log other devices out, how to authenticate, and request options.
   * @throws {WeakPasswordError} If the server finds the password too weak.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3accountpassword | POST /account/password}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function renew(client: Client, old: string, password: string): Promise<void> {
   *   await client.changePassword(password, { authentication: { password: old } });
   * }
   * ```
   */
  changePassword(newPassword: string, options?: ChangePasswordOptions): Promise<void>;

  /**
   * Deactivates the account. Its user ID can never be used again. If the client syncs, that ends
   * as by {@linkcode SessionAPI.logout}.
   *
   * @param options What to erase, how to authenticate, and request options.
   * @returns Whether the account's addresses were removed from the identity server: `success` or
   * `no-support`, also if the server does not say.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3accountdeactivate | POST /account/deactivate}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leaveMatrix(client: Client, password: string): Promise<void> {
   *   await client.deactivateAccount({ authentication: { password }, erase: true });
   * }
   * ```
   */
  deactivateAccount(options?: DeactivateAccountOptions): Promise<"success" | "no-support">;

  /**
   * Lists the addresses outside Matrix that belong to the account.
   *
   * @param options Request options.
   * @returns The addresses.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3account3pid | GET /account/3pid}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function emails(client: Client): Promise<string[]> {
   *   const ids = await client.getThirdPartyIds();
   *   return ids.filter(({ medium }) => medium === "email").map(({ address }) => address);
   * }
   * ```
   */
  getThirdPartyIds(options?: RequestOptions): Promise<ThirdPartyID[]>;
}

/** Makes the operations on the account. */
export function accountAPI(session: Session): AccountAPI {
  const { http } = session;
  return {
    async register({ kind, storeAccessToken = true, ...given } = {}) {
      const {
        username,
        password,
        deviceId,
        deviceName,
        withRefreshToken: refreshToken,
        inhibitLogin,
        ...options
      } = given;
      const body = {
        username,
        password,
        device_id: deviceId,
        initial_device_display_name: deviceName,
        refresh_token: refreshToken || undefined,
        inhibit_login: inhibitLogin || undefined,
      };
      const created = await authenticated(session, register, { path: {}, query: { kind }, body }, options);
      if (storeAccessToken && created.access_token !== undefined) storeLogin(session, created);
      return created;
    },
    async isUsernameAvailable(username, options) {
      try {
        return await http[CALL](available, { path: {}, query: { username } }, options);
      } catch (error) {
        const taken = [UserInUseError, InvalidUsernameError, ExclusiveError];
        if (taken.some((Class) => error instanceof Class)) return false;
        throw error;
      }
    },
    async isRegistrationTokenValid(token, options) {
      if (!token) {
        throw new ValueError(
          "Cannot say whether a registration token is valid: it is empty; give the token as text",
        );
      }
      return await http[CALL](tokenValidity, { path: {}, query: { token } }, options);
    },
    changePassword(newPassword, { logoutDevices = true, ...options } = {}) {
      const body = { new_password: newPassword, logout_devices: logoutDevices };
      return authenticated(session, changePassword, { path: {}, body }, options);
    },
    async deactivateAccount({ idServer, erase, clearAccessToken = true, ...options } = {}) {
      const body = { id_server: idServer, erase: erase || undefined };
      const result = await authenticated(session, deactivate, { path: {}, body }, options);
      endLogin(session, { forgets: clearAccessToken });
      return result ?? "no-support";
    },
    getThirdPartyIds: async (options) => await http[CALL](thirdPartyIds, { path: {} }, options) ?? [],
  };
}

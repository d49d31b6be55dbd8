/**
 * Where users manage their account and devices, in a browser. A file of its own because nothing of it is needed
 * for a session to go on.
 *
 * @see
 * {@link https://spec.matrix.org/v1.18/client-server-api/#oauth-20-account-management | Account management}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4191 | MSC4191}
 * @module
 */

import type { DeviceID } from "../types/ids.ts";
import type { AuthMetadata } from "./metadata.ts";

/** What the account management can be opened for; the names are the specification's. */
export type AccountManagementAction =
  | "org.matrix.profile"
  | "org.matrix.devices_list"
  | "org.matrix.device_view"
  | "org.matrix.device_delete"
  | "org.matrix.account_deactivate"
  | "org.matrix.cross_signing_reset";

/** Options of {@linkcode OAuthSession.getAccountManagementUrl}. */
export interface AccountManagementOptions {
  /** What to open it for. Default: its first page. */
  action?: AccountManagementAction;
  /** The device to show or to delete. Default: none. */
  deviceId?: DeviceID;
}

/** What actions were called before the specification had them. */
const UNSTABLE_ACTIONS: Readonly<Record<string, string>> = {
  "org.matrix.devices_list": "org.matrix.sessions_list",
  "org.matrix.device_view": "org.matrix.session_view",
  "org.matrix.device_delete": "org.matrix.session_end",
};

/** The address of the account management; undefined: there is none, or not for that. */
export function accountManagementUrl(
  metadata: AuthMetadata,
  options: AccountManagementOptions,
): string | undefined {
  const { action, deviceId } = options;
  if (metadata.account_management_uri === undefined) return undefined;
  const url = new URL(metadata.account_management_uri);
  if (action !== undefined) {
    const { account_management_actions_supported: all = [action] } = metadata;
    const name = [action, UNSTABLE_ACTIONS[action]].find((each) => each !== undefined && all.includes(each));
    if (name === undefined) return undefined;
    url.searchParams.set("action", name);
  }
  if (deviceId !== undefined) url.searchParams.set("device_id", deviceId);
  return url.href;
}

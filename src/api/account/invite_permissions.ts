/**
 * Which invitations the homeserver lets through to the user.
 * A file of its own because two types of account data say it, by what the server supports.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#invite-permission | Invite permission}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4155 | MSC4155}
 * @module
 */

import { calledAs, type RequestOptions, type Session } from "../http/mod.ts";
import { undefinedIfNotFound } from "../../errors/errcodes.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { checkNames } from "../../errors/known_names.ts";
import { list, Misfit, type Notes, object, optional, text, UNNOTED } from "../../types/checks/shape.ts";
import type { InvitePermissionConfigContent } from "../../types/content/account_data_content.ts";
import { isJsonObject } from "../../types/json.ts";
import { accountDataAPI } from "./account_data.ts";

const BLOCKS = ["v1.18", "org.matrix.msc4380.stable"] as const;
const FILTERS = "org.matrix.msc4155";
const CONFIG = "m.invite_permission_config";
const FILTER = "org.matrix.msc4155.invite_permission_config";

/**
 * Which invitations get through: what the specification has, and the lists of MSC4155, of globs.
 *
 * @experimental The lists have the unstable form of MSC4155: a minor version may change them.
 */
export interface InvitePermissions extends InvitePermissionConfigContent {
  /** Users whose invitations get through. */
  allowed_users?: string[];
  /** Users whose invitations are not shown, and who are not told. */
  ignored_users?: string[];
  /** Users whose invitations are refused. */
  blocked_users?: string[];
  /** Servers whose users' invitations get through. */
  allowed_servers?: string[];
  /** Servers whose users' invitations are not shown, and who are not told. */
  ignored_servers?: string[];
  /** Servers whose users' invitations are refused. */
  blocked_servers?: string[];
}

const globs = optional(list(text));
const members = {
  ...{ allowed_users: globs, ignored_users: globs, blocked_users: globs },
  ...{ allowed_servers: globs, ignored_servers: globs, blocked_servers: globs },
};
const lists = object<Omit<InvitePermissions, "default_action">>(members);
const whole = object<InvitePermissions>({ ...members, default_action: optional(text) });
const NAMES = ["default_action", ...Object.keys(members)];

/** Operations on the invitations that get through to the user. */
export interface InvitePermissionsAPI {
  /**
   * Says which invitations the homeserver lets through.
   *
   * @param options Request options.
   * @returns What was set; empty: all get through.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#invite-permission | Invite permission}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function canBeInvited(client: Client): Promise<boolean> {
   *   return (await client.getInvitePermissions()).default_action !== "block";
   * }
   * ```
   */
  getInvitePermissions(options?: RequestOptions): Promise<InvitePermissions>;

  /**
   * Says which invitations the homeserver is to let through from now on. Others who invite the user get an
   * `InviteBlockedError`. Invitations that wait come by syncs as the homeserver has it: by the specification
   * they don't, and Synapse shows them.
   *
   * `default_action` blocks all. The lists of MSC4155 (globs of user IDs, and of server names) tell them
   * apart: the first that fits counts, users before servers, and of each `allowed`, `ignored`,
   * `blocked`. On Synapse, they do not count for a user who has set `default_action` once, though it was
   * taken away since: then all get through.
   *
   * @param permissions What is let through, in place of what was before; `{}`: everything.
   * @param options Request options.
   * @throws {UnsupportedFeatureError} If the homeserver can't block, or has no lists.
   * @throws {ValueError} If there is no such member, or it is of another kind.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#invite-permission | Invite permission}
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4155 | MSC4155}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function doNotDisturb(client: Client): Promise<void> {
   *   await client.setInvitePermissions({ default_action: "block" });
   * }
   * ```
   */
  setInvitePermissions(permissions: InvitePermissions, options?: RequestOptions): Promise<void>;
}

/** Makes the operations on invitations that get through. */
export function invitePermissionsAPI(session: Session): InvitePermissionsAPI {
  const { getAccountData, setAccountData } = accountDataAPI(session);
  const found = async <T extends typeof CONFIG | typeof FILTER>(type: T, options?: RequestOptions) =>
    await getAccountData(type, options).catch(undefinedIfNotFound) ?? {};
  return {
    async getInvitePermissions(options) {
      const asked = calledAs(options, "getInvitePermissions");
      const { default_action }: InvitePermissionConfigContent = await found(CONFIG, asked);
      const filter = await session.supports(FILTERS, FILTERS, asked)
        ? lists(await found(FILTER, asked), UNNOTED)
        : {};
      return {
        ...(filter instanceof Misfit ? {} : filter),
        ...(default_action !== undefined && { default_action }),
      };
    },
    async setInvitePermissions(permissions, options) {
      check(permissions);
      const { default_action, ...filter } = permissions;
      const asked = calledAs(options, "setInvitePermissions");
      const filters = Object.values(filter).some((each) => each !== undefined);
      if (filters) await session.needs([FILTERS], "set lists of invitations", asked);
      if (default_action !== undefined) {
        await session.needs(BLOCKS, "block invitations", asked);
        await setAccountData(CONFIG, { default_action }, asked);
      }
      if (filters || await session.supports(FILTERS, FILTERS, asked)) {
        await setAccountData(FILTER, filter, asked);
      }
      if (default_action !== undefined) return;
      // Synapse takes an empty configuration for one that goes before the lists:
      // none is written where there is none.
      const before: InvitePermissionConfigContent = await found(CONFIG, asked);
      if (before.default_action !== undefined) await setAccountData(CONFIG, {}, asked);
    },
  };
}

function check(permissions: InvitePermissions): void {
  const action = "set which invitations get through";
  if (!isJsonObject(permissions)) {
    throw new ValueError(`Cannot ${action}: it must be an object; {} lets all through`);
  }
  checkNames(Object.keys(permissions), NAMES, { action, what: "member" });
  const notes: Notes = { taken: [], depth: 0 };
  whole(permissions, notes);
  const [first] = notes.taken;
  if (first !== undefined) throw new ValueError(`Cannot ${action}: ${first.path.join(".")} ${first.problem}`);
}

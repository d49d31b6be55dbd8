/**
 * Push rules: which events notify the user, and how.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules | Push rules}
 * @module
 */

import { CALL, endpoint, field, fields, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { type PushRuleKind, PushRuleScope } from "../../types/enums.ts";
import type {
  PushAction,
  PushCondition,
  PushRule,
  PushRuleset,
} from "../../types/content/account_data_content.ts";

const RULES_PATH = "/_matrix/client/v3/pushrules/global/";
const RULE_PATH = "/_matrix/client/v3/pushrules/{scope}/{kind}/{ruleId}";

const getAll = endpoint("getPushRules", "GET", RULES_PATH, fields<PushRuleset>({}));
const get = endpoint(
  "getPushRule",
  "GET",
  RULE_PATH,
  fields<PushRule>({ rule_id: "string", default: "boolean", enabled: "boolean", actions: "array" }),
);
const set = endpoint("setPushRule", "PUT", RULE_PATH, nothing);
const remove = endpoint("removePushRule", "DELETE", RULE_PATH, nothing);
const getEnabled = endpoint(
  "isPushRuleEnabled",
  "GET",
  `${RULE_PATH}/enabled`,
  field<boolean>("enabled", "boolean"),
);
const setEnabled = endpoint("setPushRuleEnabled", "PUT", `${RULE_PATH}/enabled`, nothing);
const getActions = endpoint(
  "getPushRuleActions",
  "GET",
  `${RULE_PATH}/actions`,
  field<PushAction[]>("actions", "array"),
);
const setActions = endpoint("setPushRuleActions", "PUT", `${RULE_PATH}/actions`, nothing);

/** Options of {@link PushRulesAPI.setPushRule}. */
export interface SetPushRuleOptions extends RequestOptions {
  /** Of `content` rules: a glob that a word of the message must match. Default: none. */
  pattern?: string;
  /** The rule, of the same kind, to place this one in front of. Default: a new rule comes first. */
  before?: string;
  /** The rule, of the same kind, to place this one behind. Default: a new rule comes first. */
  after?: string;
  /**
   * Of `override` and `underride` rules: what must hold, all of it. Default: nothing, the rule
   * always matches.
   */
  conditions?: readonly PushCondition[];
}

/**
 * Operations on push rules.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, `NotFoundError` if there is no
 * such rule, and `ValueError` before anything is sent if the scope is not `global`, the only one
 * there is, or the rule ID is empty.
 */
export interface PushRulesAPI {
  /**
   * Lists all push rules of the user.
   *
   * @param options Request options.
   * @returns The rules by kind, each in order of priority.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobal | GET /pushrules/global/}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function disabledRules(client: Client): Promise<string[]> {
   *   const { override = [] } = await client.getPushRules();
   *   return override.filter(({ enabled }) => !enabled).map(({ rule_id }) => rule_id);
   * }
   * ```
   */
  getPushRules(options?: RequestOptions): Promise<PushRuleset>;

  /**
   * Gets a push rule.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @returns The rule.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobalkindruleid | GET /pushrules/global/{kind}/{ruleId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function pattern(client: Client): Promise<string | undefined> {
   *   const rule = await client.getPushRule("global", "content", "my-cue");
   *   return rule.pattern;
   * }
   * ```
   */
  getPushRule(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<PushRule>;

  /**
   * Makes a push rule, or changes one. The server's own rules can't be made or moved; see
   * `setPushRuleActions()`.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule: a room ID of kind `room`, a user ID of kind `sender`, else anything
   *   without a dot in front.
   * @param actions What to do when the rule matches; nothing if empty.
   * @param options When it matches, its place among the others, and request options.
   * @throws {MatrixRequestError} If the rule named by `before` or `after` does not exist.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3pushrulesglobalkindruleid | PUT /pushrules/global/{kind}/{ruleId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setPushRule("global", "content", "my-cue", ["notify"], { pattern: "cue" });
   * const { pattern } = await client.getPushRule("global", "content", "my-cue");
   * console.assert(pattern === "cue");
   * ```
   */
  setPushRule(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    actions: readonly PushAction[],
    options?: SetPushRuleOptions,
  ): Promise<void>;

  /**
   * Removes a push rule that the user made.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3pushrulesglobalkindruleid | DELETE /pushrules/global/{kind}/{ruleId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function forgetCue(client: Client): Promise<void> {
   *   await client.removePushRule("global", "content", "my-cue");
   * }
   * ```
   */
  removePushRule(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Returns whether a push rule is enabled.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @returns True if it is.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobalkindruleidenabled | GET /pushrules/global/{kind}/{ruleId}/enabled}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isMuted(client: Client): Promise<boolean> {
   *   return await client.isPushRuleEnabled("global", "override", ".m.rule.master");
   * }
   * ```
   */
  isPushRuleEnabled(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<boolean>;

  /**
   * Puts a push rule, the server's own too, in or out of force.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param enabled Whether it is to be in force.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3pushrulesglobalkindruleidenabled | PUT /pushrules/global/{kind}/{ruleId}/enabled}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function mute(client: Client): Promise<void> {
   *   await client.setPushRuleEnabled("global", "override", ".m.rule.master", true);
   * }
   * ```
   */
  setPushRuleEnabled(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    enabled: boolean,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Gets the actions of a push rule.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @returns Its actions.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobalkindruleidactions | GET /pushrules/global/{kind}/{ruleId}/actions}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function notifies(client: Client, roomId: RoomID): Promise<boolean> {
   *   return (await client.getPushRuleActions("global", "room", roomId)).includes("notify");
   * }
   * ```
   */
  getPushRuleActions(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<PushAction[]>;

  /**
   * Sets what a push rule, the server's own too, does when it matches.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param actions What to do; nothing if empty.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3pushrulesglobalkindruleidactions | PUT /pushrules/global/{kind}/{ruleId}/actions}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ringForInvitations(client: Client): Promise<void> {
   *   const actions = ["notify", { set_tweak: "sound", value: "ring" }] as const;
   *   await client.setPushRuleActions("global", "override", ".m.rule.invite_for_me", actions);
   * }
   * ```
   */
  setPushRuleActions(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    actions: readonly PushAction[],
    options?: RequestOptions,
  ): Promise<void>;
}

/** Makes the operations on push rules. */
export function pushRulesAPI({ http }: Session): PushRulesAPI {
  return {
    getPushRules: (options) => http[CALL](getAll, { path: {} }, options),
    getPushRule: async (scope, kind, ruleId, options) =>
      await http[CALL](get, { path: rulePath(scope, kind, ruleId) }, options),
    async setPushRule(scope, kind, ruleId, actions, { pattern, before, after, conditions, ...options } = {}) {
      // Synapse takes a rule of these kinds only if it says that it has no conditions.
      const none = kind === "override" || kind === "underride" ? [] : undefined;
      const body = {
        actions,
        pattern: pattern || undefined,
        conditions: conditions?.length ? conditions : none,
      };
      await http[CALL](set, { path: rulePath(scope, kind, ruleId), query: { before, after }, body }, options);
    },
    removePushRule: async (scope, kind, ruleId, options) =>
      await http[CALL](remove, { path: rulePath(scope, kind, ruleId) }, options),
    isPushRuleEnabled: async (scope, kind, ruleId, options) =>
      await http[CALL](getEnabled, { path: rulePath(scope, kind, ruleId) }, options),
    setPushRuleEnabled: async (scope, kind, ruleId, enabled, options) =>
      await http[CALL](setEnabled, { path: rulePath(scope, kind, ruleId), body: { enabled } }, options),
    getPushRuleActions: async (scope, kind, ruleId, options) =>
      await http[CALL](getActions, { path: rulePath(scope, kind, ruleId) }, options),
    setPushRuleActions: async (scope, kind, ruleId, actions, options) =>
      await http[CALL](setActions, { path: rulePath(scope, kind, ruleId), body: { actions } }, options),
  };
}

function rulePath(
  scope: PushRuleScope,
  kind: PushRuleKind,
  ruleId: string,
): { scope: string; kind: string; ruleId: string } {
  if (scope !== PushRuleScope.GLOBAL) {
    throw new ValueError(
      `Cannot use a push rule of the scope ${scope}: the only one is ${PushRuleScope.GLOBAL}`,
    );
  }
  return { scope, kind, ruleId };
}

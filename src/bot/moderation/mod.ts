/**
 * Moderation: policy lists, server ACLs, redactions, upgrades of rooms.
 *
 * @module
 */

export { followUpgrade, type FollowUpgradeOptions, type TombstoneEvent } from "./follow_upgrade.ts";
export {
  POLICY_RULE_TYPES,
  type PolicyEvent,
  type PolicyKind,
  PolicyLists,
  type PolicyListsOptions,
  type PolicyRule,
  type PolicyRuleType,
} from "./policy_lists.ts";
export { type RedactedMessages, redactMessages, type RedactMessagesOptions } from "./redact_messages.ts";
export {
  type BuiltServerAcl,
  type ServerAcl,
  serverAcl,
  type ServerAclOptions,
  updateServerAcl,
  type UpdateServerAclOptions,
} from "./server_acl.ts";

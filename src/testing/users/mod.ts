/**
 * Users: their devices, tokens, push rules and backups.
 *
 * @module
 */

export { KeyBackup, KeyBackups } from "./key_backup.ts";
export { concerns, evaluatePush, Unread } from "./push_evaluator.ts";
export { PUSH_RULE_KINDS, type PushRule, type PushRuleKind } from "./push_rules.ts";
export { Pushers } from "./pushers.ts";
export {
  ACCESS_TOKEN_LIFETIME,
  checkAuth,
  namedUser,
  type Session,
  Sessions,
  UiaSessions,
} from "./sessions.ts";
export {
  Device,
  DeviceChanges,
  type KeptDehydratedDevice,
  MAX_DEVICE_NAME,
  type SlidingPosition,
  User,
} from "./user.ts";

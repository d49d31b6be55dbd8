/**
 * Users: their devices, tokens, push rules and backups.
 *
 * @module
 */

export { KeyBackup, KeyBackups } from "./key_backup.ts";
export { concerns, evaluatePush, Pushers, Unread } from "./pushers.ts";
export { PUSH_RULE_KINDS, type PushRule, type PushRuleKind } from "./push_rules.ts";
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

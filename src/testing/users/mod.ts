/**
 * Users: their devices, tokens, push rules and backups.
 *
 * @module
 */

export {
  Device,
  DeviceChanges,
  type KeptDehydratedDevice,
  KeyBackup,
  KeyBackups,
  MAX_DEVICE_NAME,
  type RequiredState,
  type ShownRoom,
  type SlidingPosition,
  type StatePattern,
  User,
} from "./user.ts";
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

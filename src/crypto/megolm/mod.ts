/**
 * The group sessions of others: their keys, and the events that they decrypt.
 *
 * @module
 */

export type {
  AnswerOutput,
  DecryptedEvent,
  Decryption,
  JudgedEvent,
  RecoveredEvent,
  ToDeviceMessage,
  UndecryptableEventRef,
} from "./decrypted.ts";
export { type DueSession, DueSessions } from "./unused_sessions.ts";
export { InboundSessions } from "./inbound_sessions.ts";
export { ReplayLog } from "./replay_log.ts";
export {
  type AddedKey,
  type ExportedSession,
  type ImportedRoomKey,
  OTHER_SHARED,
  readSessionJson,
  sessionJson,
  type SessionQuery,
} from "./room_key.ts";
export { accepts, isPastOnly, senderTrustOf } from "./session_owner.ts";
export { UndecryptableEvents } from "./undecryptable_events.ts";
export { readSharedReason, type SharedReason } from "./withheld_log.ts";

/**
 * The own group sessions: who gets their keys, and what is encrypted with them.
 *
 * @module
 */

export type { NewRecipient } from "./approvals.ts";
export { EncryptedRooms } from "./encrypted_rooms.ts";
export { messagesOf, outboundKey } from "./outbound_record.ts";
export { OutboundSessions } from "./outbound_sessions.ts";
export { RoomFreshness } from "./room_freshness.ts";
export { isHistoryShared } from "./room_settings.ts";
export { shareDecision, type WithheldDevice } from "./share_policy.ts";
export type {
  Encrypted,
  EncryptInput,
  PrepareInput,
  RoomDescription,
  RoomReadiness,
  RoomStateInput,
  ShareReport,
  StaleInput,
} from "./sharing_protocol.ts";

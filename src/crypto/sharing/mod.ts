/**
 * The own group sessions: who gets their keys, and what is encrypted with them.
 *
 * @module
 */

export type { NewRecipient } from "./sharing_protocol.ts";
export { EncryptedRooms } from "./encrypted_rooms.ts";
export { isHistoryShared, messagesOf, outboundKey } from "./outbound_record.ts";
export { OutboundSessions } from "./outbound_sessions.ts";
export { shareDecision } from "./share_plan.ts";
export { type WithheldDevice } from "./sharing_protocol.ts";
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

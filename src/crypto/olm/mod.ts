/**
 * Encryption between devices.
 *
 * @module
 */

export { OlmChannels } from "./olm_channels.ts";
export { type KeyClaim, OlmClaims } from "./olm_claims.ts";
export { isAboutMessage } from "./olm_inbox.ts";
export {
  BUNDLE_TYPES,
  type OlmDecryption,
  readOlmMessage,
  readOlmPayload,
  senderRefusal,
} from "./olm_message.ts";
export { type OlmPeer, rollbackKey } from "./olm_peer.ts";

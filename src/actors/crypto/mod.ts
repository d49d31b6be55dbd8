/**
 * The actor around the engine of encryption, and its requests.
 *
 * @module
 */

export {
  type CryptoHandlers,
  type CryptoHolder,
  type CryptoStartOptions,
  pruneCrypto,
  spawnCrypto,
  type SyncCrypto,
} from "./crypto_actor.ts";
export { type EncryptedClient, EngineRunner } from "./engine_runner.ts";
export { requestSender } from "./request_sender.ts";
export { type OnNewRecipient, roomDescriber, sinceNow } from "./room_preparer.ts";

/**
 * The actor around the engine of encryption, and its requests.
 *
 * @module
 */

export { type CryptoHandlers, pruneCrypto, spawnCrypto } from "./crypto_actor.ts";
export { EngineRunner } from "./engine_runner.ts";
export { sinceNow } from "./following.ts";
export { requestSender } from "./request_sender.ts";
export { type OnNewRecipient, roomDescriber } from "./room_preparer.ts";
export type { CryptoHolder, CryptoStartOptions, SyncCrypto } from "./sync_crypto.ts";

/**
 * vodozemac for Deno: Olm, Megolm, SAS, and the keys and channels around them, in WebAssembly.
 *
 * No Matrix, no input or output: bytes and Base64 in, bytes and Base64 out. Everything begins with
 * {@link Vodozemac.load}; everything that holds secrets is disposable; everything that fails throws
 * a {@link VodozemacError} with a `code`.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { megolm } = await Vodozemac.load();
 * using outbound = megolm.createOutbound();
 * using inbound = megolm.createInbound(outbound.sessionKey());
 * const { plaintext } = inbound.decrypt(outbound.encrypt("Hello"));
 * console.log(new TextDecoder().decode(plaintext)); // Hello
 * ```
 *
 * @module
 */

export { Account } from "./src/account.ts";
export type {
  DehydratedAccount,
  GeneratedOneTimeKeys,
  InboundOlmSession,
  PublishableKey,
} from "./src/account.ts";
export type { Binary } from "./src/binary.ts";
export type { CheckCode } from "./src/check_code.ts";
export { Ecies, EciesChannel } from "./src/ecies.ts";
export type { InboundEciesChannel, OutboundEciesChannel } from "./src/ecies.ts";
export { VodozemacError } from "./src/error.ts";
export type { VodozemacErrorCode, VodozemacErrorDetails } from "./src/error.ts";
export { Handle } from "./src/handle.ts";
export { HpkeChannel, HpkeRecipient, HpkeRecipientChannel, HpkeSenderChannel } from "./src/hpke.ts";
export type {
  AcceptedHpkeChannel,
  AnsweredHpkeChannel,
  CompletedHpkeChannel,
  HpkeOptions,
  OpenedHpkeChannel,
} from "./src/hpke.ts";
export { InboundGroupSession } from "./src/inbound_group_session.ts";
export type { MegolmPlaintext, SessionOrdering } from "./src/inbound_group_session.ts";
export { Curve25519SecretKey, Ed25519SecretKey, Keys } from "./src/keys.ts";
export { Megolm } from "./src/megolm.ts";
export { Olm } from "./src/olm.ts";
export { OlmSession } from "./src/olm_session.ts";
export type { EncryptedOlmMessage, OlmMessage, OlmSessionKeys } from "./src/olm_session.ts";
export type { Outcome } from "./src/outcome.ts";
export { OutboundGroupSession } from "./src/outbound_group_session.ts";
export { Pk, PkDecryption } from "./src/pk.ts";
export type { EncryptedPkMessage, PkMessage } from "./src/pk.ts";
export { EstablishedSas, Sas } from "./src/sas.ts";
export type { ShortAuthenticationString } from "./src/sas.ts";
export { Vodozemac } from "./src/vodozemac.ts";
export type { ChannelOptions } from "./src/vodozemac.ts";

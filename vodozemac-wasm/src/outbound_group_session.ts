/** Megolm sessions that send. */

import { type Binary, toBytes } from "./binary.ts";
import { checkContent } from "./checks.ts";
import type { Engine } from "./engine.ts";
import { call, engineOf, Handle } from "./handle.ts";
import { EXPORTED_KEY_LENGTH } from "./inbound_group_session.ts";
import { Reader } from "./reader.ts";

/**
 * A Megolm session that sends: one sender, any number of recipients, to whom the session key goes
 * by other means.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { megolm } = await Vodozemac.load();
 * using outbound = megolm.createOutbound();
 * using inbound = megolm.createInbound(outbound.sessionKey());
 *
 * const ciphertext = outbound.encrypt("Hello, everyone");
 * const { plaintext, messageIndex } = inbound.decrypt(ciphertext);
 * console.log(new TextDecoder().decode(plaintext), messageIndex);
 * ```
 */
export class OutboundGroupSession extends Handle {
  /** The ID: the public Ed25519 key of the session, in unpadded Base64. */
  readonly sessionId: string;

  /** @internal */
  constructor(engine: Engine, handle: number, sessionId: string) {
    super(engine, handle);
    this.sessionId = sessionId;
  }

  /** The index of the next message: 0 to 2^32 - 1. */
  get messageIndex(): number {
    call(this, "outbound_message_index");
    return new Reader(engineOf(this).bytes()).number();
  }

  /**
   * The key that lets others decrypt the messages from the next one on, signed by the session.
   *
   * @returns The secret key, in unpadded Base64.
   */
  sessionKey(): string {
    call(this, "outbound_session_key");
    return engineOf(this).base64();
  }

  /**
   * Signs an exported key of this session: what {@link sessionKey} gave when the session was at
   * that index. So a recipient who has lost the key gets it once more, and can decrypt from where
   * it could before.
   *
   * @param exportedKey What {@link InboundGroupSession.exportAt} gave of a copy of this session.
   * Only the session's ID in it is checked: take it from a copy of your own.
   * @returns The secret key, in unpadded Base64.
   * @throws {VodozemacError} `bad_key` (of another session), `unsupported_version`, `malformed`,
   * `bad_type`, `bad_base64`, `bad_length`, `disposed`.
   */
  signKey(exportedKey: Binary): string {
    const bytes = toBytes(exportedKey, "sign Megolm session key", EXPORTED_KEY_LENGTH);
    try {
      call(this, "outbound_sign_key", [bytes]);
      return engineOf(this).base64();
    } finally {
      // Decoded here, so it must be wiped here.
      if (typeof exportedKey === "string") bytes.fill(0);
    }
  }

  /**
   * Encrypts a message. Store {@link state} before the message leaves, or a restart would use an
   * index twice.
   *
   * @param plaintext Text, encrypted as UTF-8, or bytes.
   * @returns The message, in unpadded Base64.
   * @throws {VodozemacError} `exhausted` (no index is left), `bad_type`, `malformed` (a lone
   * surrogate), `too_long`, `disposed`.
   */
  encrypt(plaintext: string | Uint8Array): string {
    call(this, "outbound_encrypt", [checkContent(plaintext, "encrypt Megolm message")]);
    return engineOf(this).base64();
  }

  /**
   * The session as bytes. They are secret and not encrypted: seal them before they are stored.
   *
   * @returns The state, about 250 bytes.
   */
  state(): Uint8Array {
    call(this, "outbound_state");
    return engineOf(this).bytes();
  }

  /**
   * A second session in the same state, to try something on. Never send from both.
   *
   * @returns The copy, which the caller disposes of.
   */
  clone(): OutboundGroupSession {
    return new OutboundGroupSession(engineOf(this), call(this, "outbound_clone"), engineOf(this).text());
  }
}

/** Olm sessions. */

import { type Binary, toBytes } from "./binary.ts";
import { checkContent, checkList, checkObject } from "./checks.ts";
import type { Engine, Input } from "./engine.ts";
import { codeOfStatus, VodozemacError } from "./error.ts";
import { call, engineOf, Handle } from "./handle.ts";
import type { Outcome } from "./outcome.ts";
import { Reader } from "./reader.ts";

/** A message of an Olm session, as it is on the wire. */
export interface OlmMessage {
  /** 0 for a pre-key message, which can start a session; 1 for any other. */
  readonly type: number;
  /** The message: unpadded Base64 where this library wrote it, any binary where it reads. */
  readonly body: Binary;
}

/** A message that this library has encrypted. */
export interface EncryptedOlmMessage extends OlmMessage {
  /** 0 until the session has received a message, then 1. */
  readonly type: 0 | 1;
  /** The message, in unpadded Base64. */
  readonly body: string;
}

/** The keys that a session stems from, all in unpadded Base64. */
export interface OlmSessionKeys {
  /** The ID that follows from them. */
  readonly sessionId: string;
  /** The Curve25519 key of the account that started the session. */
  readonly identityKey: string;
  /** The key that was made for this session. */
  readonly baseKey: string;
  /** The one-time or fallback key of the other account. */
  readonly oneTimeKey: string;
}

const ACTION = "decrypt Olm message";

/** Reads the keys that an operation answers. */
export function readSessionKeys(engine: Engine): OlmSessionKeys {
  const answer = new Reader(engine.bytes());
  return {
    sessionId: answer.text(43),
    identityKey: answer.base64(32),
    baseKey: answer.base64(32),
    oneTimeKey: answer.base64(32),
  };
}

function messageType(message: OlmMessage): number {
  if (typeof checkObject(message, ACTION).type !== "number") throw new VodozemacError("bad_type", ACTION);
  if (message.type !== 0 && message.type !== 1) throw new VodozemacError("malformed", ACTION);
  return message.type;
}

/**
 * An Olm session: an encrypted channel between two devices.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { olm } = await Vodozemac.load();
 * using alice = olm.createAccount();
 * using bob = olm.createAccount();
 * const [key = ""] = bob.generateOneTimeKeys(1).created;
 * using session = alice.createOutboundSession(bob.curve25519Key, key);
 *
 * const message = session.encrypt("Hello"); // { type: 0, body: "…" }
 * const state = session.state(); // seal and store it before the message leaves
 * using again = olm.restoreSession(state);
 * console.log(message.type, again.sessionId === session.sessionId);
 * ```
 */
export class OlmSession extends Handle {
  /** The ID, the same at both ends: unpadded Base64. */
  readonly sessionId: string;

  /** @internal */
  constructor(engine: Engine, handle: number, sessionId: string) {
    super(engine, handle);
    this.sessionId = sessionId;
  }

  /** Whether a message has been received; from then on messages go out as type 1. */
  get hasReceivedMessage(): boolean {
    return call(this, "session_has_received_message") === 1;
  }

  /** The keys that the session stems from. */
  get keys(): OlmSessionKeys {
    call(this, "session_keys");
    return readSessionKeys(engineOf(this));
  }

  /**
   * Encrypts a message. Store {@link state} before the message leaves, or a restart would use a key
   * twice.
   *
   * @param plaintext Text, encrypted as UTF-8, or bytes.
   * @returns The message.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `malformed` (a lone surrogate),
   * `too_long`, `disposed`.
   */
  encrypt(plaintext: string | Uint8Array): EncryptedOlmMessage {
    const type = call(this, "session_encrypt", [checkContent(plaintext, "encrypt Olm message")]) === 0
      ? 0
      : 1;
    return { type, body: engineOf(this).base64() };
  }

  /**
   * Decrypts a message. If that fails, the session is as it was.
   *
   * @param message The message.
   * @returns The plaintext. It may be anything: decode it with `{ fatal: true }`.
   * @throws {VodozemacError} `bad_mac` (most often: of another session), `missing_message_key`,
   * `too_long_gap`, `bad_padding`, `non_contributory_key`, `malformed`, `unsupported_version`,
   * `bad_key`, `bad_type`, `bad_base64`, `too_long`, `disposed`.
   */
  decrypt(message: OlmMessage): Uint8Array {
    const type = messageType(message);
    call(this, "session_decrypt", [toBytes(message.body, ACTION)], type);
    return engineOf(this).bytes();
  }

  /**
   * Decrypts several messages in one call, in this order. Each succeeds or fails by itself, as with
   * {@link decrypt}.
   *
   * @param messages The messages.
   * @returns What became of each, in the same order.
   * @throws {VodozemacError} `bad_type`, `too_long` (all together), `disposed`.
   */
  decryptAll(messages: readonly OlmMessage[]): Outcome<Uint8Array>[] {
    const input: Input[] = [];
    const refused: (VodozemacError | undefined)[] = checkList(messages, ACTION).map((message) => {
      try {
        const type = messageType(message);
        const body = toBytes(message.body, ACTION);
        input.push(type, body.length, body);
        return undefined;
      } catch (error) {
        if (error instanceof VodozemacError) return error;
        throw error;
      }
    });
    call(this, "session_decrypt_all", input);
    const answer = new Reader(engineOf(this).bytes());
    return refused.map((error): Outcome<Uint8Array> => {
      if (error !== undefined) return { ok: false, error };
      const status = answer.status();
      const value = answer.prefixed();
      return status === 0
        ? { ok: true, value }
        : { ok: false, error: new VodozemacError(codeOfStatus(status), ACTION) };
    });
  }

  /**
   * The session as bytes. They are secret and not encrypted: seal them before they are stored.
   *
   * @returns The state: from half a kilobyte to nine, by the number of messages that are still
   * missing.
   */
  state(): Uint8Array {
    call(this, "session_state");
    return engineOf(this).bytes();
  }

  /**
   * A second session in the same state, to try something on. Never send from both.
   *
   * @returns The copy, which the caller disposes of.
   */
  clone(): OlmSession {
    return new OlmSession(engineOf(this), call(this, "session_clone"), engineOf(this).text());
  }
}

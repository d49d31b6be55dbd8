/** Olm accounts. */

import { type Binary, encodeBase64, toBytes } from "./binary.ts";
import { checkContent, checkNumber, checkObject } from "./checks.ts";
import type { Engine, Input } from "./engine.ts";
import { call, engineOf, Handle } from "./handle.ts";
import { type OlmMessage, OlmSession } from "./olm_session.ts";
import { Reader } from "./reader.ts";
import { VodozemacError } from "./error.ts";

/** A one-time key or fallback key of ours that awaits publication. */
export interface PublishableKey {
  /** Its ID, unique in the account: 11 characters of Base64. */
  readonly keyId: string;
  /** The public Curve25519 key, in unpadded Base64. */
  readonly key: string;
}

/** What came of generating one-time keys. */
export interface GeneratedOneTimeKeys {
  /** The new public keys, in unpadded Base64. */
  readonly created: readonly string[];
  /**
   * The public keys whose private halves were dropped, the oldest first, because more than 5000
   * would be kept.
   */
  readonly removed: readonly string[];
}

/** An encrypted account for a dehydrated device, both parts in unpadded Base64. */
export interface DehydratedAccount {
  /** The encrypted account. */
  readonly ciphertext: string;
  /** The nonce, fresh each time. */
  readonly nonce: string;
}

/** A new session together with what its first message said. */
export interface InboundOlmSession {
  /** The session, which the caller disposes of. */
  readonly session: OlmSession;
  /** The plaintext of the message. */
  readonly plaintext: Uint8Array;
}

/** How many one-time keys an account keeps at most. */
const MAX_ONE_TIME_KEYS = 5000;
const KEY_ID_LENGTH = 11;

/** Reads what an operation that makes an account answers. */
export function newAccount(engine: Engine, handle: number): Account {
  const answer = new Reader(engine.bytes());
  return new Account(engine, handle, answer.base64(32), answer.base64(32));
}

/**
 * An Olm account: the long-term keys of a device, and its one-time and fallback keys.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { olm } = await Vodozemac.load();
 * using alice = olm.createAccount();
 * using bob = olm.createAccount();
 * const [key = ""] = bob.generateOneTimeKeys(1).created;
 * bob.markKeysAsPublished();
 *
 * using outbound = alice.createOutboundSession(bob.curve25519Key, key);
 * const first = outbound.encrypt("Hello, Bob");
 *
 * const { session, plaintext } = bob.createInboundSession(alice.curve25519Key, first);
 * using inbound = session;
 * console.log(new TextDecoder().decode(plaintext), inbound.sessionId === outbound.sessionId);
 * ```
 */
export class Account extends Handle {
  /** The public Ed25519 key of the device, in unpadded Base64. */
  readonly ed25519Key: string;
  /** The public Curve25519 key of the device, in unpadded Base64. */
  readonly curve25519Key: string;

  /**
   * How many one-time keys should lie on the server: 50. More are kept, as messages that use them
   * may be on their way.
   */
  readonly maxNumberOfOneTimeKeys: number = 50;

  /** @internal */
  constructor(engine: Engine, handle: number, ed25519Key: string, curve25519Key: string) {
    super(engine, handle);
    this.ed25519Key = ed25519Key;
    this.curve25519Key = curve25519Key;
  }

  /**
   * Signs a message with the Ed25519 key of the device.
   *
   * @param message Text, signed as UTF-8, or bytes.
   * @returns The signature, in unpadded Base64. The same message gives the same signature.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  sign(message: string | Uint8Array): string {
    call(this, "account_sign", [checkContent(message, "sign message")]);
    return engineOf(this).base64();
  }

  /** How many private one-time keys are kept, published or not. */
  get storedOneTimeKeyCount(): number {
    return call(this, "account_stored_one_time_key_count");
  }

  /**
   * Generates one-time keys. Beyond 5000 the oldest are dropped.
   *
   * @param count How many, at most 5000.
   * @returns The public keys made and dropped.
   * @throws {VodozemacError} `out_of_range`, `disposed`.
   */
  generateOneTimeKeys(count: number): GeneratedOneTimeKeys {
    checkNumber(count, "generate one-time keys", MAX_ONE_TIME_KEYS);
    call(this, "account_generate_one_time_keys", [], count);
    const answer = new Reader(engineOf(this).bytes());
    const created = Array.from({ length: answer.number() }, () => answer.base64(32));
    const removed: string[] = [];
    while (!answer.done) removed.push(answer.base64(32));
    return { created, removed };
  }

  /**
   * The one-time keys that are not yet marked as published, the oldest first.
   *
   * @returns Their IDs and public keys.
   */
  oneTimeKeys(): PublishableKey[] {
    call(this, "account_one_time_keys");
    const answer = new Reader(engineOf(this).bytes());
    const keys: PublishableKey[] = [];
    while (!answer.done) keys.push({ keyId: answer.text(KEY_ID_LENGTH), key: answer.base64(32) });
    return keys;
  }

  /**
   * Drops the private half of a one-time key, so that old unused ones need not be kept forever.
   *
   * @param key The public key.
   * @returns Whether it was here.
   * @throws {VodozemacError} `bad_type`, `bad_base64`, `bad_length`, `disposed`.
   */
  removeOneTimeKey(key: Binary): boolean {
    return call(this, "account_remove_one_time_key", [toBytes(key, "remove one-time key", 32)]) === 1;
  }

  /**
   * Generates a fallback key. The one before stays usable until {@link forgetFallbackKey}, the one
   * before that is gone.
   *
   * @returns The public key whose private half was dropped, if one was.
   */
  generateFallbackKey(): string | undefined {
    call(this, "account_generate_fallback_key");
    return engineOf(this).base64() || undefined;
  }

  /**
   * The fallback key that is not yet marked as published.
   *
   * @returns Its ID and public key, or nothing if there is none.
   */
  fallbackKey(): PublishableKey | undefined {
    call(this, "account_fallback_key");
    const answer = new Reader(engineOf(this).bytes());
    return answer.done ? undefined : { keyId: answer.text(KEY_ID_LENGTH), key: answer.base64(32) };
  }

  /**
   * Drops the private half of the previous fallback key. Wait about an hour after the new one was
   * published.
   *
   * @returns Whether there was one.
   */
  forgetFallbackKey(): boolean {
    return call(this, "account_forget_fallback_key") === 1;
  }

  /** Takes note that the server has all one-time keys and the fallback key. */
  markKeysAsPublished(): void {
    call(this, "account_mark_keys_as_published");
  }

  /**
   * Starts a session with another device.
   *
   * @param identityKey Its Curve25519 key.
   * @param oneTimeKey A one-time or fallback key of it, whose signature the caller has verified.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`,
   * `disposed`.
   */
  createOutboundSession(identityKey: Binary, oneTimeKey: Binary): OlmSession {
    const action = "create Olm session";
    const keys = [toBytes(identityKey, action, 32), toBytes(oneTimeKey, action, 32)];
    const handle = call(this, "account_create_outbound_session", keys);
    return new OlmSession(engineOf(this), handle, engineOf(this).text());
  }

  /**
   * Starts the session that a pre-key message announces, and decrypts the message. The one-time key
   * it used is dropped; if anything fails, nothing is.
   *
   * @param identityKey The Curve25519 key that the sender is expected to have.
   * @param message The message, of type 0.
   * @returns The session and the plaintext.
   * @throws {VodozemacError} `malformed` (also for a message of type 1), `unsupported_version`,
   * `identity_key_mismatch`, `unknown_one_time_key`, `non_contributory_key`, `bad_mac`,
   * `bad_padding`, `too_long_gap`, `bad_key`, `bad_type`, `bad_base64`, `bad_length`, `too_long`,
   * `disposed`.
   */
  createInboundSession(identityKey: Binary, message: OlmMessage): InboundOlmSession {
    const action = "create Olm session from pre-key message";
    if (checkObject(message, action).type !== 0) throw new VodozemacError("malformed", action);
    const input = [toBytes(identityKey, action, 32), toBytes(message.body, action)];
    const handle = call(this, "account_create_inbound_session", input);
    const answer = new Reader(engineOf(this).bytes());
    const session = new OlmSession(engineOf(this), handle, answer.text(43));
    return { session, plaintext: answer.rest() };
  }

  /**
   * The account as bytes. They are secret and not encrypted: seal them before they are stored.
   *
   * @returns The state: 36 bytes for each one-time key, and about 400 more.
   */
  state(): Uint8Array {
    call(this, "account_state");
    return engineOf(this).bytes();
  }

  /**
   * A second account with the same keys, to try something on. It costs one key derivation for each
   * one-time key.
   *
   * @returns The copy, which the caller disposes of.
   */
  clone(): Account {
    return newAccount(engineOf(this), call(this, "account_clone"));
  }

  /**
   * Encrypts the account for a dehydrated device (MSC3814).
   *
   * @param key The 32 secret bytes that encrypt it.
   * @returns The encrypted account and its nonce.
   * @throws {VodozemacError} `not_convertible` for an account that came from libolm, `bad_type`,
   * `bad_base64`, `bad_length`, `disposed`.
   */
  dehydrate(key: Binary): DehydratedAccount {
    call(this, "account_dehydrate", [toBytes(key, "dehydrate account", 32)]);
    const answer = new Reader(engineOf(this).bytes());
    return { ciphertext: answer.text(answer.number()), nonce: answer.text(answer.number()) };
  }
}

/** The input that decrypts a dehydrated account. */
export function rehydrationInput(device: DehydratedAccount, key: Binary): Input[] {
  const action = "rehydrate account";
  const ciphertext = encodeBase64(toBytes(checkObject(device, action).ciphertext, action));
  const nonce = encodeBase64(toBytes(device.nonce, action, 12));
  return [toBytes(key, action, 32), ciphertext.length, ciphertext, nonce];
}

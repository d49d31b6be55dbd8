/** Encryption to a public key. */

import { type Binary, toBytes } from "./binary.ts";
import { checkContent, checkObject } from "./checks.ts";
import type { Engine } from "./engine.ts";
import { call, engineOf, Handle } from "./handle.ts";
import { pickleInput } from "./olm.ts";
import { Reader } from "./reader.ts";

/** A message encrypted to a public key. */
export interface PkMessage {
  /** The ciphertext: unpadded Base64 where this library wrote it, any binary where it reads. */
  readonly ciphertext: Binary;
  /** The MAC, 8 bytes: unpadded Base64 where this library wrote it, any binary where it reads. */
  readonly mac: Binary;
  /**
   * The ephemeral key, 32 bytes: unpadded Base64 where this library wrote it, any binary where it
   * reads.
   */
  readonly ephemeral: Binary;
}

/** A message that this library has encrypted to a public key. */
export interface EncryptedPkMessage extends PkMessage {
  /** The ciphertext, in unpadded Base64. */
  readonly ciphertext: string;
  /** The MAC, in unpadded Base64. */
  readonly mac: string;
  /** The ephemeral key, in unpadded Base64. */
  readonly ephemeral: string;
}

/** A secret key to which others encrypt. */
export class PkDecryption extends Handle {
  /** The public key, in unpadded Base64. */
  readonly publicKey: string;

  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
    this.publicKey = engine.base64();
  }

  /**
   * Decrypts a message. **Nothing of it is authentic**: the MAC covers nothing (an old error that
   * stayed in the format), and anyone who has the public key can write messages.
   *
   * @param message The message; its MAC must have all its 8 bytes.
   * @returns The plaintext.
   * @throws {VodozemacError} `bad_mac` (most often: for another key), `bad_padding`,
   * `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`, `too_long`, `disposed`.
   */
  decrypt(message: PkMessage): Uint8Array {
    const action = "decrypt message to public key";
    call(this, "pk_decrypt", [
      toBytes(checkObject(message, action).ephemeral, action, 32),
      toBytes(message.mac, action, 8),
      toBytes(message.ciphertext, action),
    ]);
    return engineOf(this).bytes();
  }

  /**
   * The secret.
   *
   * @returns The 32 bytes that {@link Pk.importDecryption} takes; wipe them after use.
   */
  toBytes(): Uint8Array {
    call(this, "pk_decryption_bytes");
    return engineOf(this).bytes();
  }
}

/**
 * Encryption to a public key, as the key backup of Matrix does it
 * (`m.megolm_backup.v1.curve25519-aes-sha2`). Get it from {@link Vodozemac.pk}.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { pk } = await Vodozemac.load();
 * using key = pk.createDecryption();
 * const message = pk.encrypt(key.publicKey, "for the backup");
 * console.log(new TextDecoder().decode(key.decrypt(message)));
 * ```
 */
export class Pk {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Makes a decryption key.
   *
   * @returns The key, which the caller disposes of.
   */
  createDecryption(): PkDecryption {
    return new PkDecryption(this.#engine, this.#engine.call("pk_decryption_new", 0));
  }

  /**
   * Makes a decryption key from its secret.
   *
   * @param secret 32 bytes.
   * @returns The key, which the caller disposes of.
   * @throws {VodozemacError} `bad_type`, `bad_base64`, `bad_length`.
   */
  importDecryption(secret: Binary): PkDecryption {
    const input = [toBytes(secret, "create decryption key", 32)];
    return new PkDecryption(this.#engine, this.#engine.call("pk_decryption_new", 0, input));
  }

  /**
   * Makes a decryption key from a pickle of libolm.
   *
   * @param pickle The pickle, in Base64.
   * @param key The pickle key: text, as UTF-8, or bytes.
   * @returns The key, which the caller disposes of.
   * @throws {VodozemacError} `bad_pickle`, `unsupported_version`, `bad_type`, `bad_base64`,
   * `too_long`.
   */
  importLibolmDecryption(pickle: Binary, key: string | Uint8Array): PkDecryption {
    const input = pickleInput(pickle, key, "import libolm decryption key");
    return new PkDecryption(this.#engine, this.#engine.call("pk_decryption_from_libolm", 0, input));
  }

  /**
   * Encrypts to a public key.
   *
   * @param publicKey The recipient's public Curve25519 key.
   * @param plaintext Text, encrypted as UTF-8, or bytes.
   * @returns The message.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`,
   * `malformed` (a lone surrogate), `too_long`.
   */
  encrypt(publicKey: Binary, plaintext: string | Uint8Array): EncryptedPkMessage {
    const action = "encrypt to public key";
    this.#engine.call("pk_encrypt", 0, [toBytes(publicKey, action, 32), checkContent(plaintext, action)]);
    const answer = new Reader(this.#engine.bytes());
    const [ephemeral, mac] = [answer.base64(32), answer.base64(8)];
    return { ciphertext: answer.rest().toBase64({ omitPadding: true }), mac, ephemeral };
  }
}

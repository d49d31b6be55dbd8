/** Ed25519 and Curve25519 keys by themselves. */

import { type Binary, decodeBase64, toBytes } from "./binary.ts";
import { checkContent } from "./checks.ts";
import type { Engine } from "./engine.ts";
import { VodozemacError } from "./error.ts";
import { call, engineOf, Handle } from "./handle.ts";
import { HostSignatures } from "./host_signatures.ts";

const encoder = new TextEncoder();

/** A secret Ed25519 key that signs, such as a cross-signing key. */
export class Ed25519SecretKey extends Handle {
  /** The public key, in unpadded Base64. */
  readonly publicKey: string;

  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
    this.publicKey = engine.base64();
  }

  /**
   * Signs a message.
   *
   * @param message Text, signed as UTF-8, or bytes.
   * @returns The signature, in unpadded Base64. The same message gives the same signature.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  sign(message: string | Uint8Array): string {
    call(this, "signing_key_sign", [checkContent(message, "sign message")]);
    return engineOf(this).base64();
  }

  /**
   * The secret.
   *
   * @returns The 32 bytes that {@link Keys.importEd25519} takes; wipe them after use.
   */
  toBytes(): Uint8Array {
    call(this, "signing_key_bytes");
    return engineOf(this).bytes();
  }
}

/** A secret Curve25519 key, for Diffie-Hellman. */
export class Curve25519SecretKey extends Handle {
  /** The public key, in unpadded Base64. */
  readonly publicKey: string;

  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
    this.publicKey = engine.base64();
  }

  /**
   * The secret that this key shares with another.
   *
   * @param publicKey The other's public key.
   * @returns 32 bytes, to be fed to a key derivation; wipe them after use.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`,
   * `disposed`.
   */
  diffieHellman(publicKey: Binary): Uint8Array {
    call(this, "agreement_key_agree", [toBytes(publicKey, "agree on secret", 32)]);
    return engineOf(this).bytes();
  }

  /**
   * The secret.
   *
   * @returns The 32 bytes that {@link Keys.importCurve25519} takes; wipe them after use.
   */
  toBytes(): Uint8Array {
    call(this, "agreement_key_bytes");
    return engineOf(this).bytes();
  }
}

/**
 * Keys by themselves. Get it from {@link Vodozemac.keys}.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { keys } = await Vodozemac.load();
 * using key = keys.createEd25519();
 * const signature = key.sign("I was here");
 * console.log(keys.verify(key.publicKey, "I was here", signature)); // true
 * ```
 */
export class Keys {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Makes a signing key.
   *
   * @returns The key, which the caller disposes of.
   */
  createEd25519(): Ed25519SecretKey {
    return new Ed25519SecretKey(this.#engine, this.#engine.call("signing_key_new", 0));
  }

  /**
   * Makes a signing key from its secret.
   *
   * @param secret The seed, 32 bytes.
   * @returns The key, which the caller disposes of.
   * @throws {VodozemacError} `bad_type`, `bad_base64`, `bad_length`.
   */
  importEd25519(secret: Binary): Ed25519SecretKey {
    const input = [toBytes(secret, "read Ed25519 key", 32)];
    return new Ed25519SecretKey(this.#engine, this.#engine.call("signing_key_new", 0, input));
  }

  /**
   * Makes a Diffie-Hellman key.
   *
   * @returns The key, which the caller disposes of.
   */
  createCurve25519(): Curve25519SecretKey {
    return new Curve25519SecretKey(this.#engine, this.#engine.call("agreement_key_new", 0));
  }

  /**
   * Makes a Diffie-Hellman key from its secret.
   *
   * @param secret 32 bytes.
   * @returns The key, which the caller disposes of.
   * @throws {VodozemacError} `bad_type`, `bad_base64`, `bad_length`.
   */
  importCurve25519(secret: Binary): Curve25519SecretKey {
    const input = [toBytes(secret, "read Curve25519 key", 32)];
    return new Curve25519SecretKey(this.#engine, this.#engine.call("agreement_key_new", 0, input));
  }

  /**
   * Verifies a signature strictly: a public key or a nonce of small order, or an encoding that is
   * not canonical, makes it bad.
   *
   * @param publicKey The signer's public key.
   * @param message Text, as UTF-8, or bytes.
   * @param signature The signature, 64 bytes.
   * @returns Whether it is good.
   * @throws {VodozemacError} `bad_key` (not a point of the curve), `bad_type`, `bad_base64`,
   * `bad_length`, `malformed` (a lone surrogate), `too_long`.
   */
  verify(publicKey: Binary, message: string | Uint8Array, signature: Binary): boolean {
    const action = "verify signature";
    const key = toBytes(publicKey, action, 32);
    const signed = toBytes(signature, action, 64);
    const content = checkContent(message, action);
    if (typeof content === "string" && !content.isWellFormed()) throw new VodozemacError("malformed", action);
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    if (new HostSignatures(key).certainlyGood(bytes, signed)) return true;
    try {
      this.#engine.call("ed25519_verify", 0, [key, signed, bytes]);
      return true;
    } catch (error) {
      if (error instanceof VodozemacError && error.code === "bad_signature") return false;
      throw error;
    }
  }

  /**
   * Whether something is a public Ed25519 key: 32 bytes that are a point of the curve.
   *
   * @param publicKey The key.
   * @returns Whether it is one; `false` also for what is no binary at all.
   */
  isEd25519(publicKey: Binary): boolean {
    try {
      this.#engine.call("ed25519_check", 0, [toBytes(publicKey, "read Ed25519 key", 32)]);
      return true;
    } catch (error) {
      if (error instanceof VodozemacError && error.code !== "instance_dead") return false;
      throw error;
    }
  }

  /**
   * Whether something is a public Curve25519 key: any 32 bytes.
   *
   * @param publicKey The key.
   * @returns Whether it is one; `false` also for what is no binary at all.
   */
  isCurve25519(publicKey: Binary): boolean {
    if (typeof publicKey !== "string") return publicKey instanceof Uint8Array && publicKey.length === 32;
    try {
      return publicKey.length <= 44 && decodeBase64(publicKey, "read Curve25519 key").length === 32;
    } catch {
      return false;
    }
  }
}

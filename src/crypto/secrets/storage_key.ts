/**
 * The keys of secret storage, and what the server keeps of one: anything but the key.
 * A server can change that at will, so that it is checked and bounded, and proves nothing by itself.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-storage | Key storage}
 * @module
 */

import { printable, ValueError } from "../../errors/matrix_error.ts";
import { SecretStorageError } from "../../errors/encryption_error.ts";
import type { EncryptedSecret, SecretStorageKeyContent } from "../../types/content/account_data_content.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import {
  encodeRecoveryKey,
  KEY_BYTES,
  MAX_SALT,
  MIN_ITERATIONS,
  type PassphraseHashing,
} from "./recovery_key.ts";
import { decodeBase64, encodeBase64 } from "../../types/base64.ts";
import { MAX_ITERATIONS, newCounter } from "../ciphers/ciphers.ts";

/** The largest secret, in bytes of UTF-8. */
const MAX_SECRET = 65_536;

const IV_BYTES = 16;
const MAC_BYTES = 32;
/** The longest ciphertext in base64: what is longer is not decoded. */
const MAX_CIPHERTEXT = 4 * Math.ceil(MAX_SECRET / 3);
const EXTRACTABLE = false;
/** The check value is the MAC of so much, encrypted under an empty name. */
const CHECKED = new Uint8Array(32);
const CHECK_NAME = "";

type Bytes = Uint8Array<ArrayBuffer>;

/** What shows that a key is the right one. */
export interface CheckValue {
  /** The initialization vector: 16 bytes. */
  readonly iv: Bytes;
  readonly mac: Bytes;
}

/** A key, open until it is disposed of. */
export class StorageKey implements Disposable {
  readonly keyId: string;
  readonly #bytes: Bytes;
  #isOpen = true;

  /**
   * @param keyId The key's ID.
   * @param bytes The key: 32 bytes, which are wiped when it is disposed of.
   */
  constructor(keyId: string, bytes: Bytes) {
    this.keyId = keyId;
    this.#bytes = bytes;
  }

  /**
   * Does nothing while it is open.
   *
   * @throws {SecretStorageError} If it was disposed of.
   */
  assertOpen(): void {
    if (this.#isOpen) return;
    throw new SecretStorageError("Cannot use the secret storage: it was closed; open it again", {
      problem: "closed",
    });
  }

  /**
   * Encrypts a secret under its name.
   *
   * @throws {ValueError} If it has more than 65,536 bytes, or is no well-formed text.
   */
  async encrypt(name: string, secret: string): Promise<EncryptedSecret> {
    if (typeof secret !== "string" || !secret.isWellFormed()) {
      throw new ValueError(`Cannot store the secret "${printable(name)}": it must be well-formed text`);
    }
    const text = new TextEncoder().encode(secret);
    if (text.length > MAX_SECRET) {
      throw new ValueError(
        `Cannot store the secret "${
          printable(name)
        }": it has ${text.length} bytes, and may have ${MAX_SECRET}; store a key, and what it encrypts elsewhere`,
      );
    }
    const iv = newCounter();
    const { cipher, authenticator } = await this.#keysOf(name);
    const ciphertext = await applied(cipher, iv, text);
    text.fill(0);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", authenticator, ciphertext));
    return { iv: encodeBase64(iv), ciphertext: encodeBase64(ciphertext), mac: encodeBase64(mac) };
  }

  /**
   * Decrypts a secret. Nothing is decrypted before its MAC was checked.
   *
   * @param encrypted What the server shows.
   * @throws {SecretStorageError} If it was not encrypted with this key under this name.
   */
  async decrypt(name: string, encrypted: unknown): Promise<string> {
    const { iv, ciphertext, mac } = readEncrypted(name, encrypted);
    const { cipher, authenticator } = await this.#keysOf(name);
    if (!await crypto.subtle.verify("HMAC", authenticator, mac, ciphertext)) {
      throw damaged(
        name,
        "it was changed since it was stored, or stored under another name or with another key",
      );
    }
    const text = await applied(cipher, iv, ciphertext);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    } catch {
      throw damaged(name, "it is no text");
    } finally {
      text.fill(0);
    }
  }

  /** The key as text that people copy. */
  get recoveryKey(): string {
    this.assertOpen();
    return encodeRecoveryKey(this.#bytes);
  }

  /** Makes a value that shows whether a key is this one. */
  async newCheck(): Promise<CheckValue> {
    const iv = newCounter();
    const { cipher, authenticator } = await this.#keysOf(CHECK_NAME);
    const ciphertext = await applied(cipher, iv, CHECKED);
    return { iv, mac: new Uint8Array(await crypto.subtle.sign("HMAC", authenticator, ciphertext)) };
  }

  /** Returns whether such a value was made with this key; takes the same time whatever is wrong. */
  async fits({ iv, mac }: CheckValue): Promise<boolean> {
    const { cipher, authenticator } = await this.#keysOf(CHECK_NAME);
    return await crypto.subtle.verify("HMAC", authenticator, mac, await applied(cipher, iv, CHECKED));
  }

  /** Wipes the key. */
  [Symbol.dispose](): void {
    this.#isOpen = false;
    this.#bytes.fill(0);
  }

  /** The keys of a name: what is encrypted under one does not open under another. */
  async #keysOf(name: string): Promise<{ cipher: CryptoKey; authenticator: CryptoKey }> {
    this.assertOpen();
    const material = await crypto.subtle.importKey("raw", this.#bytes, "HKDF", EXTRACTABLE, ["deriveBits"]);
    const info = new TextEncoder().encode(name);
    const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info };
    const bits = new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, 512));
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const [cipher, authenticator] = await Promise.all([
      crypto.subtle.importKey("raw", bits.subarray(0, 32), "AES-CTR", EXTRACTABLE, ["encrypt"]),
      crypto.subtle.importKey("raw", bits.subarray(32), hmac, EXTRACTABLE, ["sign", "verify"]),
    ]);
    bits.fill(0);
    return { cipher, authenticator };
  }
}

/** Reads an initialization vector and a MAC; undefined if they are none. */
export function readCheck(iv: unknown, mac: unknown): CheckValue | undefined {
  const vector = shortBytes(iv, IV_BYTES);
  const tag = shortBytes(mac, MAC_BYTES);
  return vector && tag && { iv: vector, mac: tag };
}

/** AES in counter mode: encrypts or decrypts, which is the same. */
async function applied(cipher: CryptoKey, iv: Bytes, data: Bytes): Promise<Bytes> {
  const algorithm = { name: "AES-CTR", counter: iv, length: 64 };
  return new Uint8Array(await crypto.subtle.encrypt(algorithm, cipher, data));
}

function readEncrypted(name: string, encrypted: unknown): CheckValue & { readonly ciphertext: Bytes } {
  const { iv, ciphertext, mac } = objectOf(encrypted);
  const check = readCheck(iv, mac);
  if (check === undefined || typeof ciphertext !== "string") throw damaged(name, "parts of it are missing");
  if (ciphertext.length > MAX_CIPHERTEXT) throw damaged(name, `it has more than ${MAX_SECRET} bytes`);
  const bytes = decodeBase64(ciphertext);
  if (bytes === undefined) throw damaged(name, "it is no base64");
  return { ...check, ciphertext: bytes };
}

function shortBytes(text: unknown, length: number): Bytes | undefined {
  if (typeof text !== "string") return undefined;
  const bytes = decodeBase64(text);
  return bytes?.length === length ? bytes : undefined;
}

function damaged(name: string, why: string): SecretStorageError {
  return new SecretStorageError(
    `Cannot read the secret "${printable(name)}": ${why}; store it again from where it came`,
    { problem: "damaged" },
  );
}

const ALGORITHM = "m.secret_storage.v1.aes-hmac-sha2";
const PBKDF2 = "m.pbkdf2";

/** What is known of a key. */
export interface KeyDescription {
  readonly keyId: string;
  /** The key's name; undefined if it has none. */
  readonly name: string | undefined;
  /** What shows that a key is this one; undefined if nothing in the description does. */
  readonly check: CheckValue | undefined;
  /** How to make it from a passphrase, unchecked; undefined if it was not made from one. */
  readonly passphrase: JsonObject | undefined;
}

/**
 * Reads the description of a key.
 *
 * @throws {SecretStorageError} If there is none, or it is not what the specification says.
 */
export function readDescription(keyId: string, content: JsonObject | undefined): KeyDescription {
  if (content === undefined || Object.keys(content).length === 0) {
    const message = `Cannot open the secret storage: the description of its key ${shown(keyId)} is gone; ` +
      "make a new key with secretStorage.reset()";
    throw new SecretStorageError(message, { problem: "absent" });
  }
  const { algorithm, name, iv, mac, passphrase } = content;
  if (algorithm !== ALGORITHM) throw unusable(keyId, `its algorithm is not ${ALGORITHM}`);
  const isAbsent = (iv ?? undefined) === undefined || (mac ?? undefined) === undefined;
  const check = readCheck(iv, mac);
  if (!isAbsent && check === undefined) {
    throw unusable(keyId, "its iv and mac are no 16 and 32 bytes in base64");
  }
  return {
    keyId,
    name: typeof name === "string" ? name : undefined,
    check,
    passphrase: isJsonObject(passphrase) ? passphrase : undefined,
  };
}

/**
 * Reads how a key is made from a passphrase.
 *
 * @throws {SecretStorageError} If it was not made from one, or in a way that is not supported.
 */
export function hashingOf({ keyId, passphrase }: KeyDescription): PassphraseHashing {
  if (passphrase === undefined) {
    const message = `Cannot open the secret storage: its key ${
      shown(keyId)
    } was not made from a passphrase; use its recovery key`;
    throw new SecretStorageError(message, { problem: "no-passphrase" });
  }
  const { algorithm, salt, iterations, bits = KEY_BYTES * 8 } = passphrase;
  if (algorithm !== PBKDF2 || bits !== KEY_BYTES * 8) {
    throw unusable(keyId, `it is not made from its passphrase by ${PBKDF2} with 256 bits`);
  }
  if (typeof salt !== "string" || salt.length > MAX_SALT) {
    throw unusable(keyId, "its salt is missing or too long");
  }
  if (!isCount(iterations) || iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
    throw unusable(keyId, `its iterations are not from ${MIN_ITERATIONS} to ${MAX_ITERATIONS}`);
  }
  return { salt, iterations };
}

/** The description of a new key, as the server keeps it. */
export async function describe(
  key: StorageKey,
  hashing: PassphraseHashing | undefined,
): Promise<SecretStorageKeyContent> {
  const { iv, mac } = await key.newCheck();
  return {
    algorithm: ALGORITHM,
    iv: encodeBase64(iv),
    mac: encodeBase64(mac),
    ...hashing && { passphrase: { algorithm: PBKDF2, bits: KEY_BYTES * 8, ...hashing } },
  };
}

/** An ID, which the server may have chosen, in a message. */
export function shown(keyId: string): string {
  return printable(keyId, 64);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function unusable(keyId: string, why: string): SecretStorageError {
  const message =
    `Cannot use the key ${shown(keyId)} of the secret storage: ${why}, as its description on the ` +
    "server has it; open it with the client that made it, or make a new key with secretStorage.reset()";
  return new SecretStorageError(message, { problem: "unusable" });
}

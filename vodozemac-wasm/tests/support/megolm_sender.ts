/** A Megolm sender made of primitives, which can send what no library would. */

import { createCipheriv, createHmac, hkdfSync } from "node:crypto";
import { decodeBase64 } from "../../src/binary.ts";
import type { Ed25519SecretKey } from "@greenroom/vodozemac-wasm";

/** Sends at index 0 with a ratchet of its choice. */
export class MegolmSender {
  readonly #ratchet = crypto.getRandomValues(new Uint8Array(128));
  readonly #key: Ed25519SecretKey;

  constructor(key: Ed25519SecretKey) {
    this.#key = key;
  }

  /** The session in the format of an export. */
  exported(): Uint8Array {
    return Uint8Array.of(1, 0, 0, 0, 0, ...this.#ratchet, ...decodeBase64(this.#key.publicKey, "test"));
  }

  /**
   * A message.
   *
   * @param plaintext What it says.
   * @param before Bytes of protobuf before the fields that belong there.
   */
  encrypt(plaintext: string, before: readonly number[] = []): Uint8Array {
    const keys = new Uint8Array(hkdfSync("sha256", this.#ratchet, new Uint8Array(), "MEGOLM_KEYS", 80));
    const cipher = createCipheriv("aes-256-cbc", keys.subarray(0, 32), keys.subarray(64));
    const ciphertext = [...cipher.update(plaintext), ...cipher.final()];
    const body = Uint8Array.of(3, ...before, 0x08, 0, 0x12, ciphertext.length, ...ciphertext);
    const mac = createHmac("sha256", keys.subarray(32, 64)).update(body).digest().subarray(0, 8);
    const signed = Uint8Array.of(...body, ...mac);
    return Uint8Array.of(...signed, ...decodeBase64(this.#key.sign(signed), "test"));
  }
}

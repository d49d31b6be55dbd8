/**
 * Ed25519 verification by the runtime's own code, three times as fast as in WebAssembly.
 *
 * vodozemac verifies strictly: it refuses keys and nonce points (R) of small order, encodings that
 * are not canonical and S of the group order or more, and compares without the cofactor. The host's
 * code agrees about all of that but the small order; what it must not vouch for is kept from it
 * here. So "good" from the host means good for vodozemac, and anything else is asked of vodozemac
 * itself: no verdict differs. `tests/host_signatures_test.ts` holds the two against each other.
 */

import type { KeyObject } from "node:crypto";

type NodeCrypto = typeof import("node:crypto");

/** Loading node:crypto takes as long as this many verifications in WebAssembly. */
const WORTH_LOADING = 200;

const SPKI_PREFIX = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

/** The y coordinates, without the sign of x, of the eight points of small order. */
const SMALL_ORDER: readonly Uint8Array[] = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
].map((hex) => Uint8Array.fromHex(hex));

let verifications = 0;
let loaded: NodeCrypto | undefined | null;

/** node:crypto once it is worth it; null where there is none. */
function nodeCrypto(): NodeCrypto | undefined | null {
  if (loaded === undefined && ++verifications > WORTH_LOADING) {
    loaded = globalThis.process?.getBuiltinModule?.("node:crypto") ?? null;
  }
  return loaded;
}

/** Whether 32 bytes are a canonical encoding, and not one of a point of small order. */
function ordinary(point: Uint8Array): boolean {
  const top = (point[31] ?? 0) & 0x7f;
  // The prime is 2^255 - 19: what lies at or above it has these bytes.
  if (top === 0x7f && (point[0] ?? 0) >= 0xed && point.subarray(1, 31).every((byte) => byte === 0xff)) {
    return false;
  }
  return !SMALL_ORDER.some((y) =>
    y[31] === top && y.every((byte, index) => index === 31 || byte === point[index])
  );
}

/** Verifies with one public key. */
export class HostSignatures {
  readonly #key: Uint8Array;
  #object: KeyObject | undefined | null;

  /** For a public key of 32 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Whether the signature is certainly good. If not, vodozemac decides. */
  certainlyGood(message: Uint8Array, signature: Uint8Array): boolean {
    const crypto = nodeCrypto();
    if (!crypto || signature.length !== 64 || !ordinary(signature.subarray(0, 32))) return false;
    try {
      this.#object ??= this.#import(crypto);
      return this.#object !== null && crypto.verify(null, message, this.#object, signature);
    } catch {
      // A key or signature that the host does not even read: not for it to judge.
      return false;
    }
  }

  #import(crypto: NodeCrypto): KeyObject | null {
    if (!ordinary(this.#key)) return null;
    const spki = new Uint8Array(SPKI_PREFIX.length + 32);
    spki.set(SPKI_PREFIX);
    spki.set(this.#key, SPKI_PREFIX.length);
    // deno-lint-ignore no-explicit-any -- node's types want a Buffer, its code takes any bytes
    return crypto.createPublicKey({ key: spki as any, format: "der", type: "spki" });
  }
}

/** Short authentication strings. */

import { type Binary, toBytes } from "./binary.ts";
import { checkNumber, checkText } from "./checks.ts";
import type { Engine, Input } from "./engine.ts";
import { VodozemacError } from "./error.ts";
import { call, consume, engineOf, Handle } from "./handle.ts";
import { Reader } from "./reader.ts";

/** What two people compare. */
export interface ShortAuthenticationString {
  /** Seven numbers from 0 to 63, which stand for emoji. */
  readonly emojiIndices: readonly number[];
  /** Three numbers from 1000 to 9191. */
  readonly decimals: readonly number[];
}

/** HKDF-SHA-256 yields no more. */
const MAX_BYTES = 255 * 32;

/**
 * Our half of a short authentication string: an ephemeral key.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const vodozemac = await Vodozemac.load();
 * const alice = vodozemac.createSas();
 * const bob = vodozemac.createSas();
 * const [aliceKey, bobKey] = [alice.publicKey, bob.publicKey];
 * using atAlice = alice.establish(bobKey);
 * using atBob = bob.establish(aliceKey);
 *
 * console.log(atAlice.string("info").decimals, atBob.string("info").decimals); // the same three numbers
 * console.log(atBob.verifyMac("key", "info", atAlice.mac("key", "info"))); // true
 * ```
 */
export class Sas extends Handle {
  /** Our ephemeral public key, in unpadded Base64. */
  readonly publicKey: string;

  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
    this.publicKey = engine.base64();
  }

  /**
   * Agrees on a secret with the other side. This object is used up by it, whatever comes of it,
   * unless the key is refused for its form.
   *
   * @param publicKey Their ephemeral public key. That it is not our own is for the caller to check.
   * @returns The established SAS, which the caller disposes of.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`,
   * `disposed`.
   */
  establish(publicKey: Binary): EstablishedSas {
    const input = [toBytes(publicKey, "establish SAS", 32)];
    return new EstablishedSas(engineOf(this), consume(this, "sas_establish", input));
  }
}

/** A short authentication string between two sides that have exchanged keys. */
export class EstablishedSas extends Handle {
  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
  }

  /**
   * The string to compare.
   *
   * @param info What binds it to this exchange, the same on both sides.
   * @returns It in both forms.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  string(info: string): ShortAuthenticationString {
    call(this, "sas_string", [checkText(info, "generate SAS")]);
    const answer = new Reader(engineOf(this).bytes());
    return {
      emojiIndices: [...answer.bytes(7)],
      decimals: [answer.short(), answer.short(), answer.short()],
    };
  }

  /**
   * Bytes that both sides can derive.
   *
   * @param info What binds them to this exchange, the same on both sides.
   * @param count How many, at most 8160.
   * @returns The bytes.
   * @throws {VodozemacError} `out_of_range`, `bad_type`, `malformed` (a lone surrogate),
   * `too_long`, `disposed`.
   */
  bytes(info: string, count: number): Uint8Array {
    const action = "generate SAS bytes";
    call(this, "sas_bytes", [checkText(info, action)], checkNumber(count, action, MAX_BYTES));
    return engineOf(this).bytes();
  }

  /**
   * The MAC of a text (`hkdf-hmac-sha256.v2`).
   *
   * @param text What is authenticated.
   * @param info What binds it to this exchange.
   * @returns The MAC, in unpadded Base64.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  mac(text: string, info: string): string {
    call(this, "sas_mac", macInput(text, info));
    return engineOf(this).base64();
  }

  /**
   * The MAC of a text with the encoding error of early libolm (`hkdf-hmac-sha256`), for peers that
   * know no other.
   *
   * @param text What is authenticated.
   * @param info What binds it to this exchange.
   * @returns The MAC, in what those peers took for Base64.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  macInvalidBase64(text: string, info: string): string {
    call(this, "sas_mac_invalid_base64", macInput(text, info));
    return engineOf(this).text();
  }

  /**
   * Verifies a MAC (`hkdf-hmac-sha256.v2`), in constant time.
   *
   * @param text What it should authenticate.
   * @param info What binds it to this exchange.
   * @param mac The MAC, 32 bytes.
   * @returns Whether it is good; `false` also for one that can't be decoded.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  verifyMac(text: string, info: string, mac: Binary): boolean {
    const input = macInput(text, info);
    try {
      call(this, "sas_verify_mac", [toBytes(mac, "verify SAS MAC", 32), ...input]);
      return true;
    } catch (error) {
      const bad = error instanceof VodozemacError &&
        ["bad_mac", "bad_base64", "bad_length"].includes(error.code);
      if (bad) return false;
      throw error;
    }
  }

  /**
   * Verifies a MAC with the encoding error of early libolm (`hkdf-hmac-sha256`), in constant time.
   *
   * @param text What it should authenticate.
   * @param info What binds it to this exchange.
   * @param mac The MAC as it came.
   * @returns Whether it is good.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  verifyMacInvalidBase64(text: string, info: string, mac: string): boolean {
    checkText(mac, "verify SAS MAC");
    return equalInConstantTime(this.macInvalidBase64(text, info), mac);
  }
}

const encoder = new TextEncoder();

function macInput(text: string, info: string): Input[] {
  const action = "calculate SAS MAC";
  checkText(text, action);
  const bytes = encoder.encode(checkText(info, action));
  if (!info.isWellFormed()) throw new VodozemacError("malformed", action);
  return [bytes.length, bytes, text];
}

/** Looks at every character, whether or not one differed. */
function equalInConstantTime(expected: string, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let index = 0; index < expected.length; index++) {
    difference |= expected.charCodeAt(index) ^ given.charCodeAt(index);
  }
  return difference === 0;
}

/** ECIES channels, as MSC4108 had them in 2024. */

import { type Binary, decodeBase64, encodeBase64, toBytes } from "./binary.ts";
import { type CheckCode, readCheckCode } from "./check_code.ts";
import { checkContent, checkText } from "./checks.ts";
import type { Engine } from "./engine.ts";
import { VodozemacError } from "./error.ts";
import { call, consume, engineOf, Handle } from "./handle.ts";
import { Reader } from "./reader.ts";

/** A channel that this side has opened. */
export interface OutboundEciesChannel {
  /** The channel, which the caller disposes of. */
  readonly channel: EciesChannel;
  /** The first message, for the other side's {@link Ecies.accept}. */
  readonly message: string;
}

/** A channel that the other side has opened. */
export interface InboundEciesChannel {
  /** The channel, which the caller disposes of. */
  readonly channel: EciesChannel;
  /** What the first message said. */
  readonly plaintext: Uint8Array;
}

/**
 * Our ephemeral key for an ECIES channel.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const vodozemac = await Vodozemac.load();
 * const theirs = vodozemac.createEcies(); // its public key is shown as a QR code
 * const opened = vodozemac.createEcies().open(theirs.publicKey, "hello");
 * using here = opened.channel;
 * const accepted = theirs.accept(opened.message);
 * using there = accepted.channel;
 *
 * console.log(here.checkCode.digits === there.checkCode.digits); // true
 * console.log(here.decrypt(there.encrypt("welcome")));
 * ```
 */
export class Ecies extends Handle {
  /** Our ephemeral public key, in unpadded Base64. */
  readonly publicKey: string;

  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
    this.publicKey = engine.base64();
  }

  /**
   * Opens a channel to the holder of a key. This object is used up by it.
   *
   * @param publicKey Their public key.
   * @param plaintext The first message: text, as UTF-8, or bytes.
   * @returns The channel, and the message to send.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`,
   * `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  open(publicKey: Binary, plaintext: string | Uint8Array): OutboundEciesChannel {
    const action = "open ECIES channel";
    const input = [toBytes(publicKey, action, 32), checkContent(plaintext, action)];
    const engine = engineOf(this);
    const handle = consume(this, "ecies_establish_outbound", input);
    const answer = new Reader(engine.bytes());
    const channel = new EciesChannel(engine, handle, readCheckCode(answer));
    return { channel, message: `${encodeBase64(answer.rest())}|${this.publicKey}` };
  }

  /**
   * Accepts a channel that the other side has opened. This object is used up by it, unless the
   * message is refused for its form.
   *
   * @param message Their first message: Base64, `|`, their public key.
   * @returns The channel, and what the message said.
   * @throws {VodozemacError} `decryption_failed`, `non_contributory_key`, `malformed`, `bad_type`,
   * `bad_base64`, `bad_length`, `too_long`, `disposed`.
   */
  accept(message: string): InboundEciesChannel {
    const action = "accept ECIES channel";
    const separator = checkText(message, action).indexOf("|");
    if (separator < 0) throw new VodozemacError("malformed", action);
    const ciphertext = decodeBase64(message.slice(0, separator), action);
    const input = [toBytes(message.slice(separator + 1), action, 32), ciphertext];
    const engine = engineOf(this);
    const handle = consume(this, "ecies_establish_inbound", input);
    const answer = new Reader(engine.bytes());
    const channel = new EciesChannel(engine, handle, readCheckCode(answer));
    return { channel, plaintext: answer.rest() };
  }
}

/**
 * An established ECIES channel. Messages arrive in the order in which they were sent, or not at
 * all.
 */
export class EciesChannel extends Handle {
  /** By which the users confirm that there is no one in between. */
  readonly checkCode: CheckCode;

  /** @internal */
  constructor(engine: Engine, handle: number, checkCode: CheckCode) {
    super(engine, handle);
    this.checkCode = checkCode;
  }

  /**
   * Encrypts a message.
   *
   * @param plaintext Text, as UTF-8, or bytes.
   * @returns The message, in unpadded Base64.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  encrypt(plaintext: string | Uint8Array): string {
    call(this, "ecies_encrypt", [checkContent(plaintext, "encrypt ECIES message")]);
    return engineOf(this).base64();
  }

  /**
   * Decrypts the next message. One that fails counts as received: the channel is broken then.
   *
   * @param message The message.
   * @returns The plaintext.
   * @throws {VodozemacError} `decryption_failed`, `bad_type`, `bad_base64`, `too_long`, `disposed`.
   */
  decrypt(message: Binary): Uint8Array {
    call(this, "ecies_decrypt", [toBytes(message, "decrypt ECIES message")]);
    return engineOf(this).bytes();
  }
}

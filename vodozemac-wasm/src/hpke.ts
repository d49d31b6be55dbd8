/** HPKE channels, as MSC4388 has them. */

import { type Binary, toBytes } from "./binary.ts";
import { type CheckCode, readCheckCode } from "./check_code.ts";
import { checkContent, checkObject, checkText } from "./checks.ts";
import type { Engine, Input } from "./engine.ts";
import { call, consume, engineOf, Handle } from "./handle.ts";
import { Reader } from "./reader.ts";
import { VodozemacError } from "./error.ts";

/** What a message is bound to without containing it. */
export interface HpkeOptions {
  /**
   * Additional data: both sides must name the same. Text, as UTF-8, or bytes.
   *
   * @default {""}
   */
  readonly additionalData?: string | Uint8Array;
}

/** A channel of which the sender awaits the answer. */
export interface OpenedHpkeChannel {
  /** The channel, which the caller completes or disposes of. */
  readonly channel: HpkeSenderChannel;
  /** The first message, in unpadded Base64, for {@link HpkeRecipient.accept}. */
  readonly message: string;
}

/** A channel that the recipient has yet to answer. */
export interface AcceptedHpkeChannel {
  /** The channel, which the caller answers or disposes of. */
  readonly channel: HpkeRecipientChannel;
  /** What the first message said. */
  readonly plaintext: Uint8Array;
}

/** A channel that the recipient has answered. */
export interface AnsweredHpkeChannel {
  /** The channel, which the caller disposes of. */
  readonly channel: HpkeChannel;
  /** The answer, in unpadded Base64, for {@link HpkeSenderChannel.complete}. */
  readonly message: string;
}

/** A channel that works in both directions. */
export interface CompletedHpkeChannel {
  /** The channel, which the caller disposes of. */
  readonly channel: HpkeChannel;
  /** What the answer said. */
  readonly plaintext: Uint8Array;
}

const encoder = new TextEncoder();

/** Bytes preceded by their length. */
function prefixed(value: string | Uint8Array, action: string): Input[] {
  const content = checkContent(value, action);
  if (typeof content === "string" && !content.isWellFormed()) throw new VodozemacError("malformed", action);
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return [bytes.length, bytes];
}

function additionalData(options: HpkeOptions, action: string): Input[] {
  return prefixed(checkObject(options, action).additionalData ?? "", action);
}

/** Opens a channel to the holder of a key. */
export function openHpke(
  engine: Engine,
  publicKey: Binary,
  plaintext: string | Uint8Array,
  info: string,
  options: HpkeOptions,
): OpenedHpkeChannel {
  const action = "open HPKE channel";
  const handle = engine.call("hpke_sender_establish", 0, [
    toBytes(publicKey, action, 32),
    ...prefixed(checkText(info, action), action),
    ...additionalData(options, action),
    checkContent(plaintext, action),
  ]);
  const message = engine.base64();
  return { channel: new HpkeSenderChannel(engine, handle), message };
}

/**
 * Our ephemeral key, to which the other side opens an HPKE channel.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const vodozemac = await Vodozemac.load();
 * const recipient = vodozemac.createHpke(); // its public key is shown as a QR code
 * const opened = vodozemac.openHpke(recipient.publicKey, "hello");
 * const accepted = recipient.accept(opened.message);
 * const answered = accepted.channel.answer("welcome");
 * const completed = opened.channel.complete(answered.message);
 *
 * using here = completed.channel;
 * using there = answered.channel;
 * console.log(here.checkCode.digits === there.checkCode.digits); // true
 * console.log(there.open(here.seal("secrets")));
 * ```
 */
export class HpkeRecipient extends Handle {
  /** Our ephemeral public key, in unpadded Base64. */
  readonly publicKey: string;

  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
    this.publicKey = engine.base64();
  }

  /**
   * Accepts the channel that the other side has opened. This object is used up by it, unless the
   * message is refused for its form.
   *
   * @param message Their first message.
   * @param options The additional data.
   * @returns The channel to answer on, and what the message said.
   * @throws {VodozemacError} `decryption_failed`, `malformed`, `bad_type`, `bad_base64`,
   * `too_long`, `disposed`.
   */
  accept(message: Binary, options: HpkeOptions = {}): AcceptedHpkeChannel {
    const action = "accept HPKE channel";
    const bytes = toBytes(message, action);
    if (bytes.length < 32) throw new VodozemacError("malformed", action);
    const input = [...additionalData(options, action), bytes];
    const engine = engineOf(this);
    const handle = consume(this, "hpke_recipient_establish", input);
    const plaintext = engine.bytes();
    return { channel: new HpkeRecipientChannel(engine, handle), plaintext };
  }
}

/** The recipient's end of a channel before the answer. */
export class HpkeRecipientChannel extends Handle {
  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
  }

  /**
   * Answers the first message. This object is used up by it.
   *
   * @param plaintext The answer: text, as UTF-8, or bytes.
   * @param options The additional data.
   * @returns The channel, and the message to send.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  answer(plaintext: string | Uint8Array, options: HpkeOptions = {}): AnsweredHpkeChannel {
    const action = "answer on HPKE channel";
    const input: Input[] = [
      ...additionalData(options, action),
      checkContent(plaintext, action),
    ];
    const engine = engineOf(this);
    const handle = consume(this, "hpke_recipient_respond", input);
    const answer = new Reader(engine.bytes());
    const channel = new HpkeChannel(engine, handle, readCheckCode(answer));
    return { channel, message: answer.rest().toBase64({ omitPadding: true }) };
  }
}

/** The sender's end of a channel before the answer. */
export class HpkeSenderChannel extends Handle {
  /** @internal */
  constructor(engine: Engine, handle: number) {
    super(engine, handle);
  }

  /**
   * Takes the answer. This object is used up by it, unless the answer is refused for its form.
   *
   * @param message Their answer.
   * @param options The additional data.
   * @returns The channel, and what the answer said.
   * @throws {VodozemacError} `decryption_failed`, `malformed`, `bad_type`, `bad_base64`,
   * `too_long`, `disposed`.
   */
  complete(message: Binary, options: HpkeOptions = {}): CompletedHpkeChannel {
    const action = "complete HPKE channel";
    const bytes = toBytes(message, action);
    if (bytes.length < 32) throw new VodozemacError("malformed", action);
    const input = [...additionalData(options, action), bytes];
    const engine = engineOf(this);
    const handle = consume(this, "hpke_sender_complete", input);
    const answer = new Reader(engine.bytes());
    const channel = new HpkeChannel(engine, handle, readCheckCode(answer));
    return { channel, plaintext: answer.rest() };
  }
}

/** An established HPKE channel. Messages are opened in the order in which they were sealed. */
export class HpkeChannel extends Handle {
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
   * @param options The additional data.
   * @returns The message, in unpadded Base64.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`, `disposed`.
   */
  seal(plaintext: string | Uint8Array, options: HpkeOptions = {}): string {
    const action = "encrypt HPKE message";
    call(this, "hpke_seal", [
      ...additionalData(options, action),
      checkContent(plaintext, action),
    ]);
    return engineOf(this).base64();
  }

  /**
   * Decrypts the next message. One that fails does not count.
   *
   * @param message The message.
   * @param options The additional data.
   * @returns The plaintext.
   * @throws {VodozemacError} `decryption_failed`, `bad_type`, `bad_base64`, `too_long`, `disposed`.
   */
  open(message: Binary, options: HpkeOptions = {}): Uint8Array {
    const action = "decrypt HPKE message";
    call(this, "hpke_open", [...additionalData(options, action), toBytes(message, action)]);
    return engineOf(this).bytes();
  }
}

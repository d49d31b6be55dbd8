/** Megolm sessions that receive. */

import { type Binary, decodeBase64, toBytes } from "./binary.ts";
import { checkList, checkNumber } from "./checks.ts";
import type { Engine, Input } from "./engine.ts";
import { codeOfStatus, VodozemacError } from "./error.ts";
import { call, engineOf, Handle, peer } from "./handle.ts";
import { HostSignatures } from "./host_signatures.ts";
import type { Outcome } from "./outcome.ts";
import { Reader } from "./reader.ts";

/** A decrypted Megolm message. */
export interface MegolmPlaintext {
  /** The plaintext. It may be anything: decode it with `{ fatal: true }`. */
  readonly plaintext: Uint8Array;
  /**
   * The index of the message. A message that comes again under another name has the index of the
   * first: refuse it.
   */
  readonly messageIndex: number;
}

/**
 * How one session stands to another: `equal`; `better`, that is from an earlier index on; `worse`;
 * or `unconnected`, that is not the same ratchet or not the same sender.
 */
export type SessionOrdering = "equal" | "better" | "worse" | "unconnected";

/** How long an exported key is, in bytes. */
export const EXPORTED_KEY_LENGTH = 165;

const ORDERINGS: readonly SessionOrdering[] = ["equal", "better", "worse", "unconnected"];
const SIGNATURE_LENGTH = 64;
const ACTION = "decrypt Megolm message";

/**
 * A Megolm session that receives: decrypts the messages of one sender from its first known index
 * on.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { megolm } = await Vodozemac.load();
 * using outbound = megolm.createOutbound();
 * using inbound = megolm.createInbound(outbound.sessionKey());
 *
 * const messages = ["one", "two", "three"].map((text) => outbound.encrypt(text));
 * for (const outcome of inbound.decryptAll(messages)) {
 *   if (outcome.ok) console.log(outcome.value.messageIndex);
 * }
 *
 * // Someone who may read the third message and what follows, but not the first two:
 * using later = megolm.importInbound(inbound.exportAt(2) ?? "");
 * console.log(later.firstKnownIndex, inbound.compare(later)); // 2 "better"
 * ```
 */
export class InboundGroupSession extends Handle {
  /** The ID: the public Ed25519 key of the session, in unpadded Base64. */
  readonly sessionId: string;
  readonly #signatures: HostSignatures;

  /** @internal */
  constructor(engine: Engine, handle: number, sessionId: string) {
    super(engine, handle);
    this.sessionId = sessionId;
    this.#signatures = new HostSignatures(decodeBase64(sessionId, "read Megolm session"));
  }

  /** The first index that can be decrypted: 0 to 2^32 - 1. */
  get firstKnownIndex(): number {
    call(this, "inbound_first_known_index");
    return new Reader(engineOf(this).bytes()).number();
  }

  /**
   * Decrypts a message and verifies its signature. Any known index, in any order, any number of
   * times.
   *
   * @param message The message.
   * @returns The plaintext and the index.
   * @throws {VodozemacError} `unknown_index` (with `firstKnownIndex` and `messageIndex`),
   * `bad_signature`, `bad_mac`, `bad_padding`, `malformed`, `unsupported_version`, `bad_type`,
   * `bad_base64`, `too_long`, `disposed`.
   */
  decrypt(message: Binary): MegolmPlaintext {
    const bytes = toBytes(message, ACTION);
    call(this, "inbound_decrypt", [bytes], this.#verified(bytes));
    const answer = new Reader(engineOf(this).bytes());
    return { messageIndex: answer.number(), plaintext: answer.rest() };
  }

  /**
   * Decrypts several messages in one call. Each succeeds or fails by itself, as with
   * {@link decrypt}.
   *
   * @param messages The messages; in the order of their indices it is fastest.
   * @returns What became of each, in the same order.
   * @throws {VodozemacError} `too_long` (all together), `disposed`.
   */
  decryptAll(messages: readonly Binary[]): Outcome<MegolmPlaintext>[] {
    const input: Input[] = [];
    const refused: (VodozemacError | undefined)[] = checkList(messages, ACTION).map((message) => {
      try {
        const bytes = toBytes(message, ACTION);
        input.push(this.#verified(bytes), bytes.length, bytes);
        return undefined;
      } catch (error) {
        if (error instanceof VodozemacError) return error;
        throw error;
      }
    });
    call(this, "inbound_decrypt_all", input);
    const answer = new Reader(engineOf(this).bytes());
    let firstKnownIndex: number | undefined;
    return refused.map((error): Outcome<MegolmPlaintext> => {
      if (error !== undefined) return { ok: false, error };
      const [status, messageIndex, plaintext] = [answer.status(), answer.number(), answer.prefixed()];
      if (status === 0) return { ok: true, value: { messageIndex, plaintext } };
      const code = codeOfStatus(status);
      if (code !== "unknown_index") return { ok: false, error: new VodozemacError(code, ACTION) };
      firstKnownIndex ??= this.firstKnownIndex;
      return { ok: false, error: new VodozemacError(code, ACTION, { firstKnownIndex, messageIndex }) };
    });
  }

  /**
   * Forgets how to decrypt what lies before an index.
   *
   * @param index The new first known index.
   * @returns Whether it was later than the old one; if not, nothing happens.
   * @throws {VodozemacError} `bad_type`, `out_of_range`, `disposed`.
   */
  advanceTo(index: number): boolean {
    return call(this, "inbound_advance_to", [], checkNumber(index, "advance Megolm session")) === 1;
  }

  /**
   * Exports the session from an index on, without the signature of its sender.
   *
   * @param index The index; the first known one by default.
   * @returns The secret key, in unpadded Base64, or nothing if the index lies before the first
   * known one.
   * @throws {VodozemacError} `bad_type`, `out_of_range`, `disposed`.
   */
  exportAt(index: number = this.firstKnownIndex): string | undefined {
    call(this, "inbound_export_at", [], checkNumber(index, "export Megolm session"));
    return engineOf(this).base64() || undefined;
  }

  /**
   * Compares two sessions by their ratchets. The later one is advanced to find out; take care that
   * indices far apart cost time, a millisecond at worst.
   *
   * @param other The other session.
   * @returns How this one stands to it.
   * @throws {VodozemacError} `wrong_instance`, `disposed`.
   */
  compare(other: InboundGroupSession): SessionOrdering {
    const operation = "inbound_compare";
    return ORDERINGS[call(this, operation, [], peer(this, other, operation))] ?? "unconnected";
  }

  /**
   * Whether two sessions are the same one, at whatever index each begins.
   *
   * @param other The other session.
   * @returns Whether they are.
   * @throws {VodozemacError} `wrong_instance`, `disposed`.
   */
  connected(other: InboundGroupSession): boolean {
    return this.compare(other) !== "unconnected";
  }

  /**
   * Makes a session of the best of two.
   *
   * @param other The other session.
   * @returns A session from the earlier index on, which the caller disposes of; nothing if they are
   * not connected.
   * @throws {VodozemacError} `wrong_instance`, `disposed`.
   */
  merge(other: InboundGroupSession): InboundGroupSession | undefined {
    const operation = "inbound_merge";
    const handle = call(this, operation, [], peer(this, other, operation));
    return handle === 0 ? undefined : new InboundGroupSession(engineOf(this), handle, engineOf(this).text());
  }

  /**
   * The session as bytes. They are secret and not encrypted: seal them before they are stored.
   *
   * @returns The state, about 250 bytes.
   */
  state(): Uint8Array {
    call(this, "inbound_state");
    return engineOf(this).bytes();
  }

  /**
   * A second session in the same state, to try something on.
   *
   * @returns The copy, which the caller disposes of.
   */
  clone(): InboundGroupSession {
    return new InboundGroupSession(engineOf(this), call(this, "inbound_clone"), engineOf(this).text());
  }

  #verified(message: Uint8Array): 0 | 1 {
    const end = message.length - SIGNATURE_LENGTH;
    if (end <= 0) return 0;
    return this.#signatures.certainlyGood(message.subarray(0, end), message.subarray(end)) ? 1 : 0;
  }
}

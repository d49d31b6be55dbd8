/** Megolm: where its sessions come from. */

import { type Binary, toBytes } from "./binary.ts";
import type { Engine, Input } from "./engine.ts";
import { HostSignatures } from "./host_signatures.ts";
import { EXPORTED_KEY_LENGTH, InboundGroupSession } from "./inbound_group_session.ts";
import { pickleInput } from "./olm.ts";
import type { Operation } from "./operations.ts";
import { OutboundGroupSession } from "./outbound_group_session.ts";
import { Reader } from "./reader.ts";

const SESSION_KEY_LENGTH = 229;
const SIGNING_KEY_OFFSET = 133;
const SIGNATURE_OFFSET = 165;

/** Megolm, the protocol from one device to many. Get it from {@link Vodozemac.megolm}. */
export class Megolm {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Makes a session that sends, at index 0.
   *
   * @returns The session, which the caller disposes of.
   */
  createOutbound(): OutboundGroupSession {
    return this.#outbound("outbound_new", []);
  }

  /**
   * Makes a session that sends from its state.
   *
   * @param state What {@link OutboundGroupSession.state} gave.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_state`, `unsupported_version`, `bad_type`, `bad_base64`,
   * `too_long`.
   */
  restoreOutbound(state: Binary): OutboundGroupSession {
    return this.#outbound("outbound_from_state", [toBytes(state, "restore Megolm session")]);
  }

  /**
   * Makes a session that sends from a pickle of libolm.
   *
   * @param pickle The pickle, in Base64.
   * @param key The pickle key: text, as UTF-8, or bytes.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_pickle`, `unsupported_version`, `bad_key`, `bad_type`,
   * `bad_base64`, `too_long`.
   */
  importLibolmOutbound(pickle: Binary, key: string | Uint8Array): OutboundGroupSession {
    return this.#outbound("outbound_from_libolm", pickleInput(pickle, key, "import libolm Megolm session"));
  }

  /**
   * Makes a session that receives from the key that the sender signed. Compare its ID with the one
   * that was announced.
   *
   * @param key What {@link OutboundGroupSession.sessionKey} gave: 229 bytes, and not one more.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_signature`, `unsupported_version`, `bad_key`, `malformed`,
   * `bad_type`, `bad_base64`, `bad_length`.
   */
  createInbound(key: Binary): InboundGroupSession {
    const bytes = toBytes(key, "create Megolm session from key", SESSION_KEY_LENGTH);
    const signatures = new HostSignatures(bytes.slice(SIGNING_KEY_OFFSET, SIGNATURE_OFFSET));
    const good = signatures.certainlyGood(
      bytes.subarray(0, SIGNATURE_OFFSET),
      bytes.subarray(SIGNATURE_OFFSET),
    );
    return this.#inboundFromKey("inbound_new", key, bytes, good ? 1 : 0);
  }

  /**
   * Makes a session that receives from an exported key, which has no signature.
   *
   * @param key What {@link InboundGroupSession.exportAt} gave: 165 bytes, and not one more.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `unsupported_version`, `bad_key`, `malformed`, `bad_type`,
   * `bad_base64`, `bad_length`.
   */
  importInbound(key: Binary): InboundGroupSession {
    return this.#inboundFromKey(
      "inbound_import",
      key,
      toBytes(key, "import Megolm session", EXPORTED_KEY_LENGTH),
    );
  }

  /**
   * Makes a session that receives from its state.
   *
   * @param state What {@link InboundGroupSession.state} gave.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_state`, `unsupported_version`, `bad_type`, `bad_base64`,
   * `too_long`.
   */
  restoreInbound(state: Binary): InboundGroupSession {
    return this.#inbound("inbound_from_state", [toBytes(state, "restore Megolm session")]);
  }

  /**
   * Makes a session that receives from a pickle of libolm.
   *
   * @param pickle The pickle, in Base64.
   * @param key The pickle key: text, as UTF-8, or bytes.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_pickle`, `unsupported_version`, `bad_key`, `bad_type`,
   * `bad_base64`, `too_long`.
   */
  importLibolmInbound(pickle: Binary, key: string | Uint8Array): InboundGroupSession {
    return this.#inbound("inbound_from_libolm", pickleInput(pickle, key, "import libolm Megolm session"));
  }

  /**
   * Reads the index of a message, which is not authenticated.
   *
   * @param message The message.
   * @returns The index.
   * @throws {VodozemacError} `malformed`, `unsupported_version`, `bad_type`, `bad_base64`,
   * `too_long`.
   */
  messageIndex(message: Binary): number {
    this.#engine.call("megolm_message_index", 0, [toBytes(message, "read index of Megolm message")]);
    return new Reader(this.#engine.bytes()).number();
  }

  #outbound(operation: Operation, input: Input[]): OutboundGroupSession {
    const handle = this.#engine.call(operation, 0, input);
    return new OutboundGroupSession(this.#engine, handle, this.#engine.text());
  }

  #inbound(operation: Operation, input: Input[], number = 0): InboundGroupSession {
    const handle = this.#engine.call(operation, 0, input, number);
    return new InboundGroupSession(this.#engine, handle, this.#engine.text());
  }

  #inboundFromKey(operation: Operation, key: Binary, bytes: Uint8Array, verified = 0): InboundGroupSession {
    try {
      return this.#inbound(operation, [bytes], verified);
    } finally {
      // Decoded here, so it must be wiped here.
      if (typeof key === "string") bytes.fill(0);
    }
  }
}

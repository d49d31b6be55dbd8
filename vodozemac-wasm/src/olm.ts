/** Olm: where accounts and sessions come from. */

import { type Account, type DehydratedAccount, newAccount, rehydrationInput } from "./account.ts";
import { type Binary, encodeBase64, toBytes } from "./binary.ts";
import { checkContent } from "./checks.ts";
import type { Engine, Input } from "./engine.ts";
import { OlmSession, type OlmSessionKeys, readSessionKeys } from "./olm_session.ts";

/** The input that decrypts a pickle of libolm. */
export function pickleInput(pickle: Binary, key: string | Uint8Array, action: string): Input[] {
  const text = encodeBase64(toBytes(pickle, action));
  return [text.length, text, checkContent(key, action)];
}

/** Olm, the protocol between two devices. Get it from {@link Vodozemac.olm}. */
export class Olm {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Makes an account with new identity keys, and no one-time keys.
   *
   * @returns The account, which the caller disposes of.
   */
  createAccount(): Account {
    return newAccount(this.#engine, this.#engine.call("account_new", 0));
  }

  /**
   * Makes an account from its state.
   *
   * @param state What {@link Account.state} gave.
   * @returns The account, which the caller disposes of.
   * @throws {VodozemacError} `bad_state`, `unsupported_version`, `bad_type`, `bad_base64`,
   * `too_long`.
   */
  restoreAccount(state: Binary): Account {
    const input = [toBytes(state, "restore account")];
    return newAccount(this.#engine, this.#engine.call("account_from_state", 0, input));
  }

  /**
   * Makes an account from a pickle of libolm.
   *
   * @param pickle The pickle, in Base64.
   * @param key The pickle key: text, as UTF-8, or bytes.
   * @returns The account, which the caller disposes of.
   * @throws {VodozemacError} `bad_pickle`, `unsupported_version`, `bad_key`, `bad_type`,
   * `bad_base64`, `too_long`.
   */
  importLibolmAccount(pickle: Binary, key: string | Uint8Array): Account {
    const input = pickleInput(pickle, key, "import libolm account");
    return newAccount(this.#engine, this.#engine.call("account_from_libolm", 0, input));
  }

  /**
   * Makes an account from a dehydrated device (MSC3814).
   *
   * @param device What {@link Account.dehydrate} gave.
   * @param key The 32 secret bytes that encrypted it.
   * @returns The account, which the caller disposes of.
   * @throws {VodozemacError} `decryption_failed`, `bad_pickle`, `unsupported_version`, `bad_key`,
   * `bad_type`, `bad_base64`, `bad_length`, `too_long`.
   */
  rehydrateAccount(device: DehydratedAccount, key: Binary): Account {
    const input = rehydrationInput(device, key);
    return newAccount(this.#engine, this.#engine.call("account_rehydrate", 0, input));
  }

  /**
   * Makes a session from its state.
   *
   * @param state What {@link OlmSession.state} gave.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_state`, `unsupported_version`, `bad_type`, `bad_base64`,
   * `too_long`.
   */
  restoreSession(state: Binary): OlmSession {
    const handle = this.#engine.call("session_from_state", 0, [toBytes(state, "restore Olm session")]);
    return new OlmSession(this.#engine, handle, this.#engine.text());
  }

  /**
   * Makes a session from a pickle of libolm.
   *
   * @param pickle The pickle, in Base64.
   * @param key The pickle key: text, as UTF-8, or bytes.
   * @returns The session, which the caller disposes of.
   * @throws {VodozemacError} `bad_pickle`, `unsupported_version`, `bad_key`, `bad_type`,
   * `bad_base64`, `too_long`.
   */
  importLibolmSession(pickle: Binary, key: string | Uint8Array): OlmSession {
    const input = pickleInput(pickle, key, "import libolm Olm session");
    const handle = this.#engine.call("session_from_libolm", 0, input);
    return new OlmSession(this.#engine, handle, this.#engine.text());
  }

  /**
   * Reads the keys in a pre-key message, which say to which session it belongs. They are not
   * authenticated.
   *
   * @param body The body of a message of type 0.
   * @returns The keys, and the ID of the session that follows from them.
   * @throws {VodozemacError} `malformed`, `unsupported_version`, `bad_key`, `bad_type`,
   * `bad_base64`, `too_long`.
   */
  readPreKeyMessage(body: Binary): OlmSessionKeys {
    this.#engine.call("pre_key_message_keys", 0, [toBytes(body, "read pre-key message")]);
    return readSessionKeys(this.#engine);
  }
}

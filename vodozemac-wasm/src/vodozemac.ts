/** The way in. */

import type { Binary } from "./binary.ts";
import { checkObject, checkText } from "./checks.ts";
import { Ecies } from "./ecies.ts";
import { Engine } from "./engine.ts";
import { type HpkeOptions, HpkeRecipient, type OpenedHpkeChannel, openHpke } from "./hpke.ts";
import { Keys } from "./keys.ts";
import { Megolm } from "./megolm.ts";
import { Olm } from "./olm.ts";
import { Pk } from "./pk.ts";
import { Sas } from "./sas.ts";
import { wasmModule } from "./wasm_module.ts";

/** What a channel is for. */
export interface ChannelOptions extends HpkeOptions {
  /**
   * The application, the same on both sides.
   *
   * @default {"MATRIX_QR_CODE_LOGIN"}
   */
  readonly info?: string;
}

const QR_LOGIN = "MATRIX_QR_CODE_LOGIN";

let shared: Promise<Vodozemac> | undefined;

/**
 * An instance of vodozemac, and the way to everything in it. Objects of different instances can't
 * be mixed.
 *
 * Should an operation ever trap, which no input is known to bring about, the instance is
 * {@link dead} and its memory wiped: every further call throws `instance_dead`, what was not saved
 * is lost, and {@link Vodozemac.load} gives a new one.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const vodozemac = await Vodozemac.load();
 * using account = vodozemac.olm.createAccount();
 * console.log(account.curve25519Key);
 * ```
 */
export class Vodozemac implements Disposable {
  /** Olm accounts and sessions. */
  readonly olm: Olm;
  /** Megolm sessions. */
  readonly megolm: Megolm;
  /** Ed25519 and Curve25519 keys. */
  readonly keys: Keys;
  /** Encryption to a public key. */
  readonly pk: Pk;
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
    this.olm = new Olm(engine);
    this.megolm = new Megolm(engine);
    this.keys = new Keys(engine);
    this.pk = new Pk(engine);
  }

  /**
   * The shared instance. It is made at the first call, and again when the one before has died;
   * nothing is loaded before. No permission is needed.
   *
   * @returns The instance.
   */
  static async load(): Promise<Vodozemac> {
    const found = shared;
    const existing = await found;
    if (existing !== undefined && !existing.dead) return existing;
    // The first caller makes the new one; the others, which awaited the same, use it.
    if (shared === found || shared === undefined) shared = Vodozemac.create();
    return await shared;
  }

  /**
   * An instance of one's own, with a memory of its own.
   *
   * @param module Another build of `vodozemac.wasm`; the one of this package by default.
   * @returns The instance, which the caller disposes of.
   */
  static async create(module?: WebAssembly.Module): Promise<Vodozemac> {
    return new Vodozemac(await Engine.instantiate(module ?? await wasmModule()));
  }

  /** Whether the instance has failed or been disposed of, and can't be used any more. */
  get dead(): boolean {
    return this.#engine.dead;
  }

  /**
   * Makes an ephemeral key for a short authentication string.
   *
   * @returns The key, which the caller disposes of.
   */
  createSas(): Sas {
    return new Sas(this.#engine, this.#engine.call("sas_new", 0));
  }

  /**
   * Makes an ephemeral key for an ECIES channel (MSC4108 of 2024).
   *
   * @param options What the channel is for.
   * @returns The key, which the caller disposes of.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`.
   */
  createEcies(options: Pick<ChannelOptions, "info"> = {}): Ecies {
    const input = [checkText(checkObject(options, "create ECIES key").info ?? QR_LOGIN, "create ECIES key")];
    return new Ecies(this.#engine, this.#engine.call("ecies_new", 0, input));
  }

  /**
   * Makes an ephemeral key to which the other side can open an HPKE channel (MSC4388).
   *
   * @param options What the channel is for.
   * @returns The key, which the caller disposes of.
   * @throws {VodozemacError} `bad_type`, `malformed` (a lone surrogate), `too_long`.
   */
  createHpke(options: Pick<ChannelOptions, "info"> = {}): HpkeRecipient {
    const input = [checkText(checkObject(options, "create HPKE key").info ?? QR_LOGIN, "create HPKE key")];
    return new HpkeRecipient(this.#engine, this.#engine.call("hpke_recipient_new", 0, input));
  }

  /**
   * Opens an HPKE channel (MSC4388) to the holder of a key.
   *
   * @param publicKey Their public key.
   * @param plaintext The first message: text, as UTF-8, or bytes.
   * @param options What the channel is for, and the additional data.
   * @returns The channel, and the message to send.
   * @throws {VodozemacError} `non_contributory_key`, `bad_type`, `bad_base64`, `bad_length`,
   * `malformed` (a lone surrogate), `too_long`.
   */
  openHpke(
    publicKey: Binary,
    plaintext: string | Uint8Array,
    options: ChannelOptions = {},
  ): OpenedHpkeChannel {
    const { info = QR_LOGIN } = checkObject(options, "open HPKE channel");
    return openHpke(this.#engine, publicKey, plaintext, info, options);
  }

  /** Wipes the memory of the instance with everything in it, and makes it {@link dead}. */
  [Symbol.dispose](): void {
    this.#engine.close();
  }
}

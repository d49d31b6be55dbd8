/**
 * The upload of the own device's signature, for a device whose keys were published without it.
 *
 * @module
 */

import type { BackoffRange } from "../../base/backoff.ts";
import type { OwnKeys } from "../account/own_keys.ts";
import type { CryptoContext } from "../context/context.ts";
import type { OwnIdentity } from "./own_identity.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import { refusalIn } from "./due_signatures.ts";
import { Retries } from "../requests/retries.ts";

/** The waits before a signature is uploaded again that the server does not show, in milliseconds. */
const WAITS: BackoffRange = { base: 60_000, cap: 24 * 3_600_000 };

/** The parts that it needs. */
export interface OwnSignatureOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** The own device. */
  readonly ownKeys: Pick<OwnKeys, "deviceKeys" | "isPublished">;
  /** The own identity. */
  readonly ownIdentity: Pick<OwnIdentity, "shownDevice" | "isSignatureDue">;
}

/**
 * Uploads the signature until the server shows it. What is signed and sent is what this device has
 * published itself, whatever the server shows of it.
 */
export class OwnSignature {
  readonly #options: OwnSignatureOptions;
  readonly #retries = new Retries<"signature">(WAITS);

  /** @param options The parts that it needs. */
  constructor(options: OwnSignatureOptions) {
    this.#options = options;
  }

  /** Learns how the server shows the own device. */
  shown(keys: JsonObject): void {
    const { ownIdentity } = this.#options;
    ownIdentity.shownDevice = keys;
    if (!ownIdentity.isSignatureDue) this.#retries.forget("signature");
  }

  /** The own device, to be uploaded now; undefined: it need not be. */
  next(now: number): DeviceKeys | undefined {
    if (!this.#isDue || !this.#retries.isOver("signature", now)) return undefined;
    return this.#options.ownKeys.deviceKeys();
  }

  /** In how many milliseconds it may be uploaded again; infinity: it need not be. */
  nextIn(now: number): number {
    return this.#isDue ? this.#retries.wait("signature", now) : Infinity;
  }

  /** Learns that an upload has ended: whether it has taken effect, the next answer shows. */
  ended(now: number, response: JsonObject = {}): void {
    this.#retries.failed("signature", now);
    const { context: { log, own: { userId, deviceId } } } = this.#options;
    const reason = refusalIn(response, { userId, name: deviceId });
    if (reason !== undefined) log.warn("The server has refused the signature of this device", { reason });
  }

  get #isDue(): boolean {
    const { ownKeys, ownIdentity } = this.#options;
    return ownKeys.isPublished && ownIdentity.isSignatureDue;
  }
}

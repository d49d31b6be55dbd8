/**
 * Opens the engine for the device that the access token belongs to.
 *
 * @module
 */

import type { OwnIdentity } from "../../crypto/engine/engine_protocol.ts";
import type { EngineAccount } from "../../crypto/context/context.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { CryptoHandlers } from "./crypto_actor.ts";

/** What it needs. */
export interface EngineOpenerOptions {
  /** The Crypto actor. */
  readonly actor: ActorRef<CryptoHandlers>;
  /** Whose device it is. Resolves once the store is open for it. */
  readonly account: () => Promise<EngineAccount>;
}

/** Opens it once; a call that fails is made again by the next. */
export class EngineOpener {
  /** Whether it is open. */
  isOpen = false;
  /** The engine that is open, or about to be; undefined: neither. Each message looks, without a call. */
  opening: Promise<OwnIdentity> | undefined;
  readonly #options: EngineOpenerOptions;

  /** @param options What it needs. */
  constructor(options: EngineOpenerOptions) {
    this.#options = options;
  }

  /** Opens it, the first time. */
  async open(): Promise<OwnIdentity> {
    try {
      return await (this.opening ??= this.#open());
    } catch (error) {
      this.opening = undefined; // the server may say next time whose token it is
      throw error;
    }
  }

  async #open(): Promise<OwnIdentity> {
    const { actor, account: accountOf } = this.#options;
    const account = await accountOf();
    if (account.deviceId === "") {
      throw new EncryptionError(
        `Cannot encrypt as ${account.userId}: the access token belongs to no device; log in`,
      );
    }
    const identity = await actor.open(account);
    this.isOpen = true;
    return identity;
  }
}

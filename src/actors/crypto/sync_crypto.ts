/**
 * End-to-end encryption, as syncs use it.
 *
 * @module
 */

import type { CryptoInput, CryptoOutput } from "../../crypto/engine/engine.ts";

/** Options of {@link SyncCrypto.start}. */
export interface CryptoStartOptions {
  /**
   * Syncs follow until it aborts: each goes on where the one before has ended. Default: none does.
   */
  readonly following?: AbortSignal;
}

/** Where the parts of a client find its encryption, which can be set later. */
export interface CryptoHolder<Machine> {
  /** The encryption; undefined: there is none. */
  readonly crypto: Machine | undefined;
}

/** What a sync calls. */
export interface SyncCrypto {
  /**
   * Opens the engine, compares the device's keys with what the server has of it, and publishes them
   * if it has none.
   *
   * @param options Whether syncs follow.
   */
  start(options?: CryptoStartOptions): Promise<void>;
  /**
   * Receives a sync response: keys first, then what they decrypt. It is durable with the response's
   * token.
   */
  receiveSync(input: CryptoInput): Promise<CryptoOutput>;
  /** Resolves when no request to the server is under way any more. */
  idle(): Promise<void>;
}

/**
 * The instance of vodozemac in use.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Logger } from "../../base/log.ts";

/** What a living instance needs. */
export interface LivingVodozemacOptions {
  /** Logs that an instance has failed. */
  readonly log: Logger;
  /** Frees all objects of a failed instance; they are restored from their records. */
  readonly forget: () => void;
}

/** An instance of vodozemac that is replaced after it has trapped. */
export class LivingVodozemac {
  readonly #options: LivingVodozemacOptions;
  #instance: Vodozemac;

  private constructor(options: LivingVodozemacOptions, instance: Vodozemac) {
    this.#options = options;
    this.#instance = instance;
  }

  static async load(options: LivingVodozemacOptions): Promise<LivingVodozemac> {
    return new LivingVodozemac(options, await Vodozemac.load());
  }

  /** The instance, to be read at each use. */
  get instance(): Vodozemac {
    return this.#instance;
  }

  /**
   * Runs some work. If vodozemac traps, its memory is unusable: the work runs again with another instance.
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#instance.dead) await this.#revive();
    try {
      return await work();
    } catch (error) {
      if (!this.#instance.dead) throw error;
      this.#options.log.error("The cryptographic library has failed, and is restarted", {
        error: String(error),
      });
      await this.#revive();
      return await work();
    }
  }

  async #revive(): Promise<void> {
    this.#instance = await Vodozemac.load();
    this.#options.forget();
  }
}

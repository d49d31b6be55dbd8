/**
 * The instance of vodozemac that the engine works with: another one after it has trapped.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Logger } from "../../base/log.ts";

/** What it needs. */
export interface LivingVodozemacOptions {
  /** Where it is told that an instance has failed. */
  readonly log: Logger;
  /** Lets go of all objects of the instance that has failed; they are made of their records. */
  readonly forget: () => void;
}

/** An instance that is there whenever it is needed. */
export class LivingVodozemac {
  readonly #options: LivingVodozemacOptions;
  #instance: Vodozemac;

  private constructor(options: LivingVodozemacOptions, instance: Vodozemac) {
    this.#options = options;
    this.#instance = instance;
  }

  /** Loads vodozemac. */
  static async load(options: LivingVodozemacOptions): Promise<LivingVodozemac> {
    return new LivingVodozemac(options, await Vodozemac.load());
  }

  /** The instance, to be read at each use. */
  get instance(): Vodozemac {
    return this.#instance;
  }

  /** Does something. Should vodozemac trap, nothing of its memory is of use any more: it is done once more with another. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#instance.dead) await this.#revive();
    try {
      return await work();
    } catch (error) {
      if (!this.#instance.dead) throw error;
      this.#options.log.error("The cryptographic library has failed, and is started anew", {
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

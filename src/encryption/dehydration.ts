/**
 * The account's dehydrated device, as encryption uses it.
 *
 * @module
 */

import type { EngineRunner } from "../actors/crypto/crypto.ts";
import { elapsed } from "../base/clock.ts";
import type { SecretKeeper } from "./backup/backup.ts";
import type { DehydrationAPI, DehydrationOutcome, ShownIdentity } from "./ensure_dehydrated.ts";

export type { DehydrationOutcome } from "./ensure_dehydrated.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Has the account have one. What that takes is loaded with the first call. */
export class DehydratedDevices {
  readonly #engine: EngineRunner;
  readonly #api: DehydrationAPI;
  #last: { readonly at: number; readonly outcome: DehydrationOutcome } | undefined;

  /**
   * @param engine The engine.
   * @param api The operations.
   */
  constructor(engine: EngineRunner, api: DehydrationAPI) {
    [this.#engine, this.#api] = [engine, api];
  }

  /** Whether it is to be looked at again: once a day. */
  get isDue(): boolean {
    if (this.#last === undefined) return false;
    const { at, outcome } = this.#last;
    return elapsed(this.#engine.clock.now(), at) >= (outcome === "failed" ? HOUR : DAY);
  }

  /**
   * Reads the device that is there, if this one has not made it, and has it replaced once a week.
   * Never rejects. Without a request if there is nothing to do.
   *
   * @param identity The own identity, whose keys are at hand.
   * @param open Opens the secret storage; undefined: nothing does.
   */
  async ensure(
    identity: ShownIdentity,
    open: () => Promise<SecretKeeper | undefined>,
  ): Promise<DehydrationOutcome> {
    const { ensureDehydrated } = await import("./ensure_dehydrated.ts");
    const { clock } = this.#engine;
    this.#last = { at: clock.now(), outcome: "failed" };
    const outcome = await ensureDehydrated(this.#engine, this.#api, identity, open);
    this.#last = { at: clock.now(), outcome };
    return outcome;
  }
}

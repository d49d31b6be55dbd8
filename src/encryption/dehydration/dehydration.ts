/**
 * The account's dehydrated device, as encryption uses it.
 *
 * @module
 */

import type { EngineRunner } from "../../actors/crypto/mod.ts";
import { elapsed } from "../../base/clock.ts";
import type { SecretKeeper } from "../backup/backup.ts";
import type {
  DehydrationAPI,
  DehydrationMachine,
  DehydrationOutcome,
  ShownIdentity,
} from "./dehydration_outcome.ts";

export type { DehydrationMachine, DehydrationOutcome } from "./dehydration_outcome.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Has the account have one. What that takes is loaded with the first call. */
export class DehydratedDevices implements DehydrationMachine {
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

  get isDue(): boolean {
    if (this.#last === undefined) return false;
    const { at, outcome } = this.#last;
    return elapsed(this.#engine.clock.now(), at) >= (outcome === "failed" ? HOUR : DAY);
  }

  async ensure(
    identity: ShownIdentity,
    open: () => Promise<SecretKeeper | undefined>,
  ): Promise<DehydrationOutcome> {
    const { ensureDehydrated } = await import("./ensure_dehydrated.ts");
    const { clock } = this.#engine;
    this.#last = { at: clock.now(), outcome: "failed" };
    const outcome = await ensureDehydrated(this.#engine, this.#api, { identity, open });
    this.#last = { at: clock.now(), outcome };
    return outcome;
  }
}

/**
 * What the engine is made of.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { EngineAccount } from "./engine_protocol.ts";
import type { CryptoPolicy } from "./policy.ts";
import type { Vault } from "../records/vault.ts";

/** What an engine is made of. */
export interface EngineOptions {
  /** Whose it is. */
  readonly account: EngineAccount;
  /** Where its records are. */
  readonly vault: Vault;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it is told what goes on. */
  readonly log: Logger;
  /** What it goes by. */
  readonly policy: CryptoPolicy;
}

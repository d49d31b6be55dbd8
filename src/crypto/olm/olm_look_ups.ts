/**
 * Has the server asked about users who have a device that is not known: one that was set back
 * announces no device to who is ahead of it.
 *
 * @module
 */

import { serverOf } from "../../types/identifiers.ts";
import type { UserID } from "../../types/ids.ts";
import type { FindableDevices } from "../devices/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import { LOOKUPS_AN_HOUR, type Transaction } from "../records/mod.ts";
import { RateLimit } from "../requests/mod.ts";

const HOUR_MS = 3_600_000;
/** How often users are looked up: in all, and each. */
const LOOKUPS = { times: LOOKUPS_AN_HOUR, periodMs: HOUR_MS };
const LOOKUPS_OF_USER = { times: 1, periodMs: HOUR_MS, names: 10_000 };

/** Looks users up, each once an hour at most: devices can be made up. */
export class OlmLookUps {
  readonly #devices: FindableDevices;
  readonly #all: RateLimit;
  readonly #each: RateLimit;

  /**
   * @param context What the parts share.
   * @param devices Others' devices.
   */
  constructor({ clock }: Pick<CryptoContext, "clock">, devices: FindableDevices) {
    this.#devices = devices;
    this.#all = new RateLimit(clock, LOOKUPS);
    this.#each = new RateLimit(clock, LOOKUPS_OF_USER);
  }

  /** Looks a user up of whom nothing else need show a device. */
  lookUp(tx: Transaction, userId: UserID): void {
    if (!this.#each.take(userId) || !this.#all.take("", serverOf(userId))) return;
    this.#devices.lookUp(tx, userId);
  }

  /** Looks a user up who is followed, if no change was announced that has yet to be asked about. */
  lookUpFollowed(tx: Transaction, userId: UserID): void {
    if (this.#devices.isUpToDate(userId)) this.lookUp(tx, userId);
  }
}

/**
 * The steps of the engine about history that is shared with users who are invited.
 *
 * @module
 */

import type { HistoryOffer, HistoryRecipients } from "../history/mod.ts";
import type { UserID } from "../../types/ids.ts";
import type { RunStep } from "./engine_parts.ts";

/** The steps, which do not overlap with other steps of the engine. */
export class HistorySteps {
  readonly #run: RunStep;

  /** @param run Runs a step. */
  constructor(run: RunStep) {
    this.#run = run;
  }

  /** Looks who of a user's devices would get a room's keys. */
  async historyRecipients(userId: UserID): Promise<HistoryRecipients> {
    return await this.#run((tx, { historyOffers }) => historyOffers.recipients(tx, userId));
  }

  /** Tells a user's devices where the keys are; returns to how many. */
  async offerHistory(offer: HistoryOffer): Promise<number> {
    return await this.#run((tx, { historyOffers }) => historyOffers.offer(tx, offer));
  }
}

/** Tracked users on a vault of their own. */

import { type DeviceQuery, TrackedUsers } from "../../../src/crypto/devices/tracked_users.ts";
import type { Transaction } from "../../../src/crypto/records/transaction.ts";
import type { UserID } from "../../../src/types/ids.ts";
import { memoryVault, step } from "./vault.ts";

/** Users on a vault. */
export class TrackedStage {
  readonly vault = memoryVault();
  tracked = new TrackedUsers();

  /** Runs a step. */
  run(work: (tx: Transaction) => void): Promise<void> {
    return step(this.vault, work);
  }

  /** Has the server asked. */
  ask(now = 0): DeviceQuery {
    const query = this.tracked.nextQuery(now);
    if (query === undefined) throw new RangeError("Nobody is to be asked of");
    return query;
  }

  /** The server tells of all. */
  answer(query: DeviceQuery): Promise<void> {
    return this.run((tx) => {
      for (const userId of this.tracked.asked(query)) this.tracked.answered(tx, userId, query);
    });
  }

  /** Begins anew with what is kept. */
  async restart(): Promise<void> {
    this.tracked = new TrackedUsers();
    await step(this.vault, (tx) => this.tracked.load(tx));
  }
}

/** Users who are tracked anew. */
export async function stageOf(...users: UserID[]): Promise<TrackedStage> {
  const stage = new TrackedStage();
  await stage.run((tx) => stage.tracked.track(tx, users));
  return stage;
}

/** Users of whom the server has told. */
export async function cleanStageOf(...users: UserID[]): Promise<TrackedStage> {
  const stage = await stageOf(...users);
  await stage.answer(stage.ask());
  return stage;
}

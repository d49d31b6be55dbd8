/** Tracked users on a vault of their own. */

import { assertEquals } from "@std/assert";
import { TrackedUsers } from "../../../src/crypto/devices/tracked_users.ts";
import type { DeviceQuery } from "../../../src/crypto/devices/mod.ts";
import type { Transaction } from "../../../src/crypto/records/mod.ts";
import type { UserID } from "@greenroom/matrix/types";
import { memoryVault, step } from "./vault.ts";

/** Users on a vault. */
export class TrackedStage {
  readonly vault = memoryVault();
  tracked = new TrackedUsers();

  /** Runs a step. */
  run(work: (tx: Transaction) => void): Promise<void> {
    return step(this.vault, work);
  }

  /** Makes the next query. */
  ask(now = 0): DeviceQuery {
    const query = this.tracked.nextQuery(now);
    if (query === undefined) throw new RangeError("There is no query to make");
    return query;
  }

  /** Makes the next query, which may not be made earlier. */
  askNotBefore(now: number): DeviceQuery {
    assertEquals(this.tracked.nextQuery(now - 1), undefined);
    return this.ask(now);
  }

  /** Answers a query about all of its users. */
  answer(query: DeviceQuery): Promise<void> {
    return this.run((tx) => {
      for (const userId of this.tracked.asked(query)) this.tracked.answered(tx, userId, query);
    });
  }

  /** Replaces the users by those that are stored. */
  async restart(): Promise<void> {
    this.tracked = new TrackedUsers();
    await step(this.vault, (tx) => this.tracked.load(tx));
  }
}

/** Users who are newly tracked. */
export async function stageOf(...users: UserID[]): Promise<TrackedStage> {
  const stage = new TrackedStage();
  await stage.run((tx) => stage.tracked.track(tx, users));
  return stage;
}

/** Users whose query the server has answered. */
export async function cleanStageOf(...users: UserID[]): Promise<TrackedStage> {
  const stage = await stageOf(...users);
  await stage.answer(stage.ask());
  return stage;
}

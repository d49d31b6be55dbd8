/**
 * Delivery of a response during which more than one process has ended: one event after the other,
 * each recorded before it begins, so that the event that ends the process is found, and is left out
 * after some tries.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { NamedDelivery, Started, Task } from "./deliver.ts";
import { type Quarantine, settlesInTime } from "./quarantine.ts";
import type { AnyDelivery, StoreHandlers } from "../store/mod.ts";

/** Something that is to be delivered. */
export interface Step {
  /** The event, or the data. */
  readonly delivery: AnyDelivery;
  /** Its name: unique within the response, and the same in every process. */
  readonly id: string;
  /** Whether it has handlers. */
  readonly isWanted: () => boolean;
  /** Starts its handlers. */
  readonly start: () => readonly Task[];
}

/** What a careful delivery works with. */
export interface CarefulDeliveryOptions {
  /** Stores what was begun. */
  readonly store: ActorRef<StoreHandlers>;
  /** Measures how long to wait for handlers. */
  readonly clock: Clock;
  /** Deliveries that settle immediately are added here. */
  readonly settled: NamedDelivery[];
  /** Stores what is left out. */
  readonly quarantine: Pick<Quarantine, "take">;
}

/**
 * After how many processes that ended in a row a response is delivered carefully: any process may
 * be ended in the middle once or twice.
 */
export const CAREFUL_AFTER = 2;

/** @returns What was started. */
export async function deliverCarefully(
  steps: readonly Step[],
  { store, clock, settled, quarantine }: CarefulDeliveryOptions,
): Promise<Started> {
  const tasks: Task[] = [];
  const ended: string[] = [];
  const overs: Promise<void>[] = [];
  for (const { delivery, id, isWanted, start } of steps) {
    if (!isWanted()) continue; // saves a commit
    if (settled.length > 0) await store.noteSettled(settled.splice(0).map(({ name }) => name));
    const { lives, verdict } = await store.attempt({ id, ended: ended.splice(0) });
    if (verdict === "poison") {
      for (const task of await quarantine.take(id, delivery, lives)) tasks.push(task);
    }
    if (verdict !== "begin") continue;
    const begun = start();
    for (const task of begun) tasks.push(task);
    const over = Promise.all(begun.map(async ({ name, done }) => {
      if (await done === "settled" && name !== undefined) settled.push({ name });
    })).then(() => {
      ended.push(id);
    });
    overs.push(over);
    if (!await settlesInTime(clock, over)) await store.outlived(id);
  }
  // An event that has ended must not be blamed if the process ends before anything else is
  // committed; nor come again, since then it would never be blamed for what it does when it has ended.
  const note = async () => {
    if (settled.length > 0) await store.noteSettled(settled.splice(0).map(({ name }) => name));
    if (ended.length > 0) await store.ended(ended.splice(0));
  };
  await note();
  Promise.all(overs).then(note).catch(() => {}); // a store that failed rejects its `done`
  return { tasks, settled };
}

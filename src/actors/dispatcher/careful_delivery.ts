/**
 * Delivery of what more than one process did not live to see handled: one event after the other, each noted before it is begun, so
 * that the one that ends the process is found, and after some lives left out.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { NamedDelivery, Started, Task } from "./deliver.ts";
import { patience } from "./patience.ts";
import type { Quarantine } from "./quarantine.ts";
import type { AnyDelivery } from "./quarantine_record.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";

/** Something that is to be delivered. */
export interface Step {
  /** The event, or the data. */
  readonly delivery: AnyDelivery;
  /** Tells it from all others that the response brings, in every process. */
  readonly id: string;
  /** Whether it has handlers. */
  readonly isWanted: () => boolean;
  /** Starts its handlers. */
  readonly start: () => readonly Task[];
}

/** What a careful delivery works with. */
export interface CarefulDeliveryOptions {
  /** Knows what was begun. */
  readonly store: ActorRef<StoreProtocol>;
  /** Measures how long handlers are waited for. */
  readonly clock: Clock;
  /** Deliveries that have settled at once, as they do. */
  readonly settled: NamedDelivery[];
  /** Takes what is left out. */
  readonly quarantine: Pick<Quarantine, "take">;
}

/** From how many processes on that have ended in a row a response is delivered carefully: any may be ended in the middle once or twice. */
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
    if (!isWanted()) continue; // which costs no commit
    if (settled.length > 0) await store.ask("noteSettled", settled.splice(0).map(({ name }) => name));
    const { lives, verdict } = await store.ask("attempt", { id, ended: ended.splice(0) });
    if (verdict === "poison") tasks.push(...await quarantine.take(id, delivery, lives));
    if (verdict !== "begin") continue;
    const begun = start();
    tasks.push(...begun);
    const over = Promise.all(begun.map(async ({ name, done }) => {
      await done;
      if (name !== undefined) settled.push({ name });
    })).then(() => {
      ended.push(id);
    });
    overs.push(over);
    if (!await patience(clock, over)) await store.ask("outlived", id);
  }
  // Nothing that has ended is to blame for a process that ends later, before anything else is committed.
  const note = async () => {
    if (ended.length > 0) await store.ask("ended", ended.splice(0));
  };
  await note();
  Promise.all(overs).then(note).catch(() => {}); // the store that failed says so by its `done`
  return { tasks, settled };
}

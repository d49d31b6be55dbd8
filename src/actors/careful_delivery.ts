/**
 * Delivery of what more than one process did not live to see handled: one event after the other, each noted before it is begun, so
 * that the one that crashes the process is found, and after some tries left out.
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { InternalEventType } from "../types/internal_event_type.ts";
import type { ActorRef } from "./actor.ts";
import type { Delivered, NamedDelivery, Started, Task } from "./deliver.ts";
import type { InternalDelivery } from "./dispatcher_protocol.ts";
import type { StoreProtocol } from "./store_protocol.ts";

/** Something that is to be delivered. */
export interface Step {
  /** The event, or the data. */
  readonly data: Delivered;
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
  /** Tells handlers of what was left out. */
  readonly tell: (event: InternalDelivery) => readonly Task[];
  /** Where that is told too. */
  readonly log: Logger;
}

/** From how many processes on that have ended in a row a response is delivered carefully: any may be ended in the middle once or twice. */
export const CAREFUL_AFTER = 2;
/** How many more processes may end over one event. */
const MAX_ATTEMPTS = 3;
/** How long a handler is waited for before the next event is begun beside it, in milliseconds: it may wait for that very event. */
const PATIENCE = 10_000;

/** @returns What was started. */
export async function deliverCarefully(
  steps: readonly Step[],
  { store, clock, settled, tell, log }: CarefulDeliveryOptions,
): Promise<Started> {
  const tasks: Task[] = [];
  const ended: string[] = [];
  const overs: Promise<void>[] = [];
  for (const { data, id, isWanted, start } of steps) {
    if (!isWanted()) continue; // which costs no commit
    if (settled.length > 0) await store.ask("noteSettled", settled.splice(0).map(({ name }) => name));
    const attempts = await store.ask("attempt", { id, ended: ended.splice(0), limit: MAX_ATTEMPTS });
    if (attempts >= MAX_ATTEMPTS) {
      log.error("Left out an event: the process has ended whenever it was handled", { event: id, attempts });
      tasks.push(...tell({ type: InternalEventType.EVENT_SKIPPED, data: { event: data, attempts } }));
      continue;
    }
    const begun = start();
    tasks.push(...begun);
    const over = Promise.all(begun.map(async ({ name, done }) => {
      await done;
      if (name !== undefined) settled.push({ name });
    })).then(() => {
      ended.push(id);
    });
    overs.push(over);
    await Promise.race([over, patience(clock, over)]);
  }
  // Nothing that has ended is to blame for a process that ends later, before anything else is committed.
  const note = async () => {
    if (ended.length > 0) await store.ask("ended", ended.splice(0));
  };
  await note();
  Promise.all(overs).then(note).catch(() => {}); // the store that failed says so by its `done`
  return { tasks, settled };
}

async function patience(clock: Clock, settled: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  settled.finally(() => over.abort());
  await clock.delay(PATIENCE, { signal: over.signal, persistent: false }).catch(() => {});
}

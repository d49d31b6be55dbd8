/**
 * Events that end the process: how they are found, by delivery of one after the other, each recorded before
 * it begins; and the quarantine, where they are stored, and tried again one at a time, at growing intervals.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { Logger } from "../../base/log.ts";
import type { EventQuarantined } from "../../types/events/internal_event.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { Deliverer, NamedDelivery, Started, Task } from "./deliver.ts";
import {
  type AnyDelivery,
  deliveryOf,
  keptOf,
  nextTry,
  type QuarantineRecord,
  type StoreHandlers,
  type SyncBatch,
  told,
} from "../store/mod.ts";

/** How long after a check for due events there is no other, in milliseconds. */
const CHECK_INTERVAL = 1_000;
/** How long a handler is waited for where events come one after the other, in milliseconds. */
const MAX_WAIT = 5_000;
const LEFT_OUT =
  "Left an event out: process after process has ended while it was handled; it is tried again " +
  "after 10 seconds, and then more and more rarely; client.quarantine lists and drops such events";

/** Stores events that were left out, and tries them again. */
export class Quarantine {
  /** Whether there is nothing in it. */
  isEmpty = true;
  readonly #store: ActorRef<StoreHandlers>;
  readonly #deliverer: Deliverer;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** When due events were last checked for, and when the next is due, in milliseconds since the epoch. */
  #checkedAt = Infinity;
  #dueAt = -Infinity;
  #checking: Promise<void> | undefined;
  readonly #trying = new Map<string, Promise<void>>();

  /**
   * @param store Stores the events.
   * @param deliverer Starts handlers.
   * @param clock The wall clock.
   * @param log Logs what was left out.
   */
  constructor(store: ActorRef<StoreHandlers>, deliverer: Deliverer, clock: Clock, log: Logger) {
    this.#store = store;
    this.#deliverer = deliverer;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Reads what earlier processes have left out.
   *
   * @returns The handlers that were started to report the events that ended the last process.
   */
  async open(): Promise<readonly Task[]> {
    const [store, log] = [this.#store, this.#log];
    const tried = (await this.#read()).filter(({ isTrying }) => isTrying);
    for (const record of tried) {
      await store.waitQuarantined({ id: record.id, at: record.waitsFrom });
      log.error("A quarantined event ended the process again", logged(record));
    }
    return tried.flatMap((record) => this.#tell(told(record)));
  }

  /** Leaves an event out. */
  async take(id: string, delivery: AnyDelivery, attempts: number): Promise<readonly Task[]> {
    const [store, clock, log] = [this.#store, this.#clock, this.#log];
    const now = clock.now();
    const record = {
      id,
      ...keptOf(delivery),
      settled: [],
      attempts,
      tries: 0,
      since: now,
      waitsFrom: now,
      isTrying: false,
    };
    const dropped = await store.quarantine(record);
    log.error(LEFT_OUT, logged(record));
    for (const each of dropped) {
      log.error("Dropped a quarantined event: there are too many", logged(each));
    }
    await this.#read();
    const isKept = dropped.every((each) => each.id !== id);
    return [
      ...isKept ? this.#tell(told(record)) : [],
      ...dropped.flatMap((each) => this.#tell({ ...told(each), nextTry: undefined })),
    ];
  }

  /** Tries again what is due, in the background, unless that is being done. */
  retryDue(): void {
    if (this.#checking !== undefined) return;
    const now = this.#clock.now();
    const mayBeDue = now >= this.#dueAt || now < this.#checkedAt; // a clock may be set back
    if (!mayBeDue) return;
    this.#checking = this.#tryDue()
      .catch((error) =>
        this.#log.warn("Could not deliver quarantined events again", { error: String(error) })
      )
      .finally(() => this.#checking = undefined);
  }

  /** Removes events that a batch redacts: their content must not stay in the store. */
  async forgetRedacted({ rooms }: SyncBatch): Promise<void> {
    for (const event of rooms.flatMap(({ events }) => events)) {
      if (event.type !== "m.room.redaction") continue;
      const { redacts, content } = event as { redacts?: unknown; content: { redacts?: unknown } };
      for (const id of [redacts, content.redacts]) if (typeof id === "string") await this.drop(id);
    }
  }

  /**
   * Tries one again, whether it is due or not.
   *
   * @returns Resolves when its handlers have settled.
   * @throws {ValueError} If there is none with the ID, or it has no handler.
   */
  async redeliver(id: string): Promise<void> {
    const record = (await this.#read()).find((each) => each.id === id);
    if (record === undefined) {
      throw new ValueError(
        `Cannot deliver the event again: none with the ID ${id} has been left out; list() returns those that have`,
      );
    }
    if (!this.#isWanted(record)) {
      throw new ValueError(`Cannot deliver ${id} again: it has no handler; add one, or drop() it`);
    }
    await this.#try(id);
  }

  /** Forgets one. */
  async drop(id: string): Promise<boolean> {
    const was = await this.#store.release({ id, settled: [] });
    await this.#read();
    return was;
  }

  /** Resolves when nothing is being tried. */
  async idle(): Promise<void> {
    await this.#checking;
    await Promise.all([...this.#trying.values()].map((trying) => trying.catch(() => {})));
  }

  async #tryDue(): Promise<void> {
    const [store, clock] = [this.#store, this.#clock];
    for (const { id, waitsFrom } of await this.#read()) {
      if (waitsFrom > clock.now()) await store.waitQuarantined({ id, at: clock.now() });
    }
    for (const record of await this.#read()) {
      const isDue = clock.now() >= nextTry(record);
      if (!isDue || this.#trying.has(record.id) || !this.#isWanted(record)) continue;
      const over = this.#try(record.id);
      over.catch(() => {}); // a store that failed rejects its `done`
      await settlesInTime(clock, over);
    }
    await this.#read();
    this.#dueAt = Math.max(this.#dueAt, this.#checkedAt + CHECK_INTERVAL); // a due event may have no handler
  }

  /** Tries one; joins a try that is under way. */
  #try(id: string): Promise<void> {
    const trying = this.#trying.get(id) ?? this.#tryOnce(id).finally(() => this.#trying.delete(id));
    this.#trying.set(id, trying);
    return trying;
  }

  async #tryOnce(id: string): Promise<void> {
    const [store, clock, log] = [this.#store, this.#clock, this.#log];
    const record = await store.retryQuarantined({ id, at: clock.now() });
    if (record === undefined) return;
    const settled: NamedDelivery[] = [];
    const tasks = this.#start(record, { tasks: [], settled, leftOut: new Set(record.settled) });
    const names = settled.map(({ name }) => name);
    if (tasks.length > 0 && names.length > 0) await store.noteSettled(names);
    const endings = await Promise.all(tasks.map(async ({ name, done }) => {
      const ending = await done;
      if (name === undefined || ending === "cut off") return ending;
      names.push(name);
      await store.noteSettled([name]);
      return ending;
    }));
    if (endings.includes("cut off")) return await store.waitQuarantined({ id, at: record.waitsFrom });
    await store.release({ id, settled: names });
    await this.#read();
    log.info("Handled a quarantined event", logged(record));
  }

  #start(record: QuarantineRecord, started: Started): readonly Task[] {
    const deliverer = this.#deliverer;
    const { type, data } = deliveryOf(record);
    return type === undefined ? deliverer.event(data, started) : deliverer.internal(type, data, started);
  }

  #isWanted(record: QuarantineRecord): boolean {
    const deliverer = this.#deliverer;
    const { type, data } = deliveryOf(record);
    return type === undefined ? deliverer.wants(data) : deliverer.wantsInternal(type);
  }

  #tell(data: EventQuarantined): readonly Task[] {
    return this.#deliverer.internal("EVENT_QUARANTINED", data);
  }

  async #read(): Promise<QuarantineRecord[]> {
    const [store, clock] = [this.#store, this.#clock];
    const records = await store.quarantined();
    this.isEmpty = records.length === 0;
    this.#checkedAt = clock.now();
    this.#dueAt = Math.min(...records.filter(({ id }) => !this.#trying.has(id)).map(nextTry));
    return records;
  }
}

function logged({ id, type, attempts }: QuarantineRecord): Record<string, unknown> {
  return { event: id, type, attempts };
}

/** Whether a handler settles in time: it may wait for the very event that comes next. */
async function settlesInTime(clock: Clock, over: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  const late = clock.delay(MAX_WAIT, { signal: waiting.signal }).then(() => false);
  const inTime = over.then(() => true, () => true);
  inTime.then(() => waiting.abort());
  return await Promise.race([inTime, late.catch(() => true)]);
}

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

/**
 * After how many processes that ended in a row a response is delivered carefully: any process may
 * be ended in the middle once or twice.
 */
export const CAREFUL_AFTER = 2;

/**
 * Delivers a response during which more than one process has ended.
 *
 * @param settled Deliveries that settle immediately are added here.
 * @returns What was started.
 */
export async function deliverCarefully(
  steps: readonly Step[],
  settled: NamedDelivery[],
  quarantine: Pick<Quarantine, "take">,
  { store, clock }: { readonly store: ActorRef<StoreHandlers>; readonly clock: Clock },
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

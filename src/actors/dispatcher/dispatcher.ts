/**
 * The Dispatcher: delivers the events of sync responses to handlers, room by room, in order.
 *
 * Over 300 lines because each of its messages is a method with its documentation.
 *
 * @module
 */

import type { RecoveredEvent } from "../../crypto/megolm/mod.ts";
import type { Clock } from "../../base/clock.ts";
import type { TraceParent } from "../../base/telemetry.ts";
import type { Logger } from "../../base/log.ts";
import { type Actor, type ActorRef, fatal, type Later, later, spawn } from "../kernel/mod.ts";
import { CAREFUL_AFTER, deliverCarefully, Quarantine, type Step } from "./quarantine.ts";
import type { Deliverer, NamedDelivery, Started, Task } from "./deliver.ts";
import type { InternalDelivery, StoreHandlers, SyncBatch } from "../store/mod.ts";
import { noteEncryption } from "../../types/events/encryption_info.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { Checkpoint, PendingTasks } from "./checkpoint.ts";
import { ClientEndedError } from "../../errors/matrix_error.ts";
import type { UnreadNotes } from "./unread_rooms.ts";

export { type Delivered, Deliverer, type Task } from "./deliver.ts";
export { DeliveryScope, PlainContext, SendIds } from "./delivery_scope.ts";
export {
  type HandlerContext,
  keyOfSession,
  type SessionChange,
  sessionKeyOf,
  SESSIONS,
} from "./handler_context.ts";
export {
  type Handler,
  type HandlerOptions,
  HandlerRegistry,
  type SessionHandlerOptions,
} from "./handler_registry.ts";
export { HandlerSessions } from "./handler_sessions.ts";
export { SessionContext } from "./session_context.ts";
export { unreadRooms } from "./unread_rooms.ts";

/** What the Dispatcher is made of. */
export interface DispatcherOptions {
  /** Starts the handlers. */
  readonly deliverer: Deliverer;
  /** Stores the checkpoint. */
  readonly store: ActorRef<StoreHandlers>;
  /** Has what records that events which had waited for their keys have been handled. */
  readonly encryption: {
    readonly crypto: { settle(events: readonly RecoveredEvent[]): Promise<void> } | undefined;
  };
  /** Looks at what can't be read before its handlers get it; undefined: nothing does. */
  readonly note?: UnreadNotes;
  /**
   * Whether what was delivered can come again, to another process: only then does a delivery need a
   * name.
   */
  readonly comesAgain: boolean;
  /** How many handlers may be at work before the next response waits for them. */
  readonly maxPending: number;
  /** Whether the client can't go on, and another process will be given again what was cut off. */
  readonly isOver: () => boolean;
  /** Measures waits. */
  readonly clock: Clock;
  /** Logs failures. */
  readonly log: Logger;
}

/** Earlier events that can be read now. */
export interface Recovered {
  readonly events: readonly RecoveredEvent[];
  /** The span of the response that had their keys, if somebody traces. */
  readonly trace?: TraceParent;
}

const CUT_OFF =
  "Cannot go on: handlers were cut off when the access token died; make a new client, which calls them again";

/** Starts the Dispatcher. */
export function spawnDispatcher(options: DispatcherOptions): Actor<DispatcherHandlers> {
  return spawn({ name: "dispatcher", handlers: new DispatcherHandlers(options), log: options.log });
}

/** What the Dispatcher can be asked. */
export class DispatcherHandlers implements AsyncDisposable {
  readonly #options: DispatcherOptions;
  readonly #pending = new PendingTasks();
  readonly #recovering = new Notes();
  readonly #checkpoint: Checkpoint;
  readonly #quarantine: Quarantine;
  /** The careful delivery under way, or the latest. */
  #careful: Promise<unknown> = Promise.resolve();
  #prepared: Promise<void> | undefined;

  /** @param options What they work with. */
  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#checkpoint = new Checkpoint(this.#pending, options.store);
    const { store, deliverer, clock, log } = options;
    this.#quarantine = new Quarantine(store, deliverer, clock, log);
  }

  /**
   * Starts the handlers of a batch. Answered when those that are to be waited for have settled, and
   * not too many of the others are still at work.
   *
   * @returns The number of the batch.
   */
  async dispatch(batch: SyncBatch): Promise<number | Later<number>> {
    const { deliverer, comesAgain, isOver, clock } = this.#options;
    if (this.#pending.isCutOff && !isOver()) throw fatal(new ClientEndedError(CUT_OFF));
    await (this.#prepared ??= this.#prepare());
    if (batch.trace !== undefined) await deliverer.trace(clock);
    if (comesAgain && this.#pending.unreported.size > 0) this.#noteSettled();
    const quarantine = this.#quarantine;
    if (!quarantine.isEmpty) {
      await quarantine.forgetRedacted(batch);
      quarantine.retryDue();
    }
    const isSuspect = batch.crashes >= (quarantine.isEmpty ? CAREFUL_AFTER : 1);
    if (isSuspect && !deliverer.idle) {
      const carefully = deliverer.within(batch.trace, () => this.#carefully(batch));
      const followed = carefully.then((started) => this.#follow(started, batch));
      this.#careful = followed.catch(() => {}); // who asked for it gets that
      return later(followed);
    }
    const started = batch.trace === undefined
      ? this.#start(batch)
      : deliverer.within(batch.trace, () => this.#start(batch));
    const number = this.#follow(started, batch);
    return typeof number === "number" ? number : later(number);
  }

  /**
   * Starts the handlers of events that had been waiting for their keys, and notes it when they have
   * settled. Answered when those have settled that are to be waited for.
   */
  async recover({ events, trace }: Recovered): Promise<Later<void>> {
    const { deliverer, encryption, clock, comesAgain } = this.#options;
    await (this.#prepared ??= this.#prepare());
    if (trace !== undefined) await deliverer.trace(clock);
    const started: Started = { tasks: [], settled: comesAgain ? [] : undefined };
    deliverer.within(trace, () => {
      for (const recovered of events) deliverer.event(noteEncryption(recovered.event, recovered), started);
    });
    const number = this.#pending.add({ tasks: started.tasks }); // they are recorded by `settle()`
    this.#recovering.add(
      this.#pending.of(number).then((isSettled) => isSettled ? encryption.crypto?.settle(events) : undefined),
    );
    return later(waitSync(started.tasks));
  }

  /** Answered when all handlers of a batch have settled. */
  settled(batch: number): Later<void> {
    return later(this.#pending.of(batch).then(() => {}));
  }

  /**
   * Answered when all handlers that have been started by now have settled, and the store has
   * recorded that: durably, or, if there is `later`, with the next commit.
   */
  noted(body?: { readonly later: boolean }): Later<void> {
    return later(this.#note(body?.later === true));
  }

  /**
   * Delivers an event that was left out again. Answered when its handlers have settled.
   *
   * @throws {ValueError} If there is none, or it has no handler.
   */
  async redeliver(id: string): Promise<Later<void>> {
    await (this.#prepared ??= this.#prepare());
    return later(this.#quarantine.redeliver(id));
  }

  /** Forgets an event that was left out. Answers whether there was one. */
  drop(id: string): Promise<boolean> {
    return this.#quarantine.drop(id);
  }

  /**
   * Delivers one event of Greenroom's own. Answered when the handlers that are to be waited for
   * have settled.
   */
  announce({ type, data }: InternalDelivery): Later<void> {
    const started: Started = { tasks: [] };
    this.#options.deliverer.internal(type, data, started);
    this.#pending.add(started);
    return later(waitSync(started.tasks));
  }

  /** Waits for handlers, and records what has settled. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { note, store } = this.#options;
    note?.end();
    store.ending({ isEnding: true }).catch(() => {}); // a store that failed rejects its `done`
    await this.#pending.upTo(Infinity);
    if (this.#pending.isCutOff) this.#noteSettled(); // what was cut off comes again, and nothing else
    await this.#recovering.all();
    await this.#quarantine.idle();
    await this.#checkpoint.recorded().catch(() => {}); // a store that failed rejects its `done`
  }

  /** An earlier process may have settled some of what comes again, or have quarantined it. */
  async #prepare(): Promise<void> {
    const { deliverer, store, comesAgain } = this.#options;
    deliverer.leaveOut(await store.settled());
    if (comesAgain) this.#pending.add({ tasks: [...await this.#quarantine.open()] });
  }

  #start(batch: SyncBatch): Started {
    const { deliverer, note, comesAgain } = this.#options;
    const started: Started = { tasks: [], settled: comesAgain ? [] : undefined };
    if (deliverer.idle) return started;
    visit(batch, {
      deliver: (event) => {
        if (event.type === "m.room.encrypted") note?.event(event);
        deliverer.event(event, started);
      },
      tell: (delivery) => {
        if (delivery.type === "UNDECRYPTABLE") note?.told(delivery);
        deliverer.internal(delivery.type, delivery.data, started);
      },
    });
    return started;
  }

  #carefully(batch: SyncBatch): Promise<Started> {
    const settled: NamedDelivery[] = [];
    const steps = stepsOf(batch, this.#options.deliverer, settled);
    return deliverCarefully(steps, settled, this.#quarantine, this.#options);
  }

  /** @returns The number of the batch, when the next may come. */
  #follow(started: Started, { nextBatch }: SyncBatch): number | Promise<number> {
    const { maxPending } = this.#options;
    const number = this.#pending.add(started);
    this.#checkpoint.follows(number, nextBatch);
    const waits = started.tasks.filter((task) => task.waitSync).map(({ done }) => done);
    if (waits.length === 0 && this.#pending.size <= maxPending) return number;
    return Promise.all([...waits, this.#pending.atMost(maxPending)]).then(() => number);
  }

  async #note(isLater: boolean): Promise<void> {
    await this.#careful;
    await this.#pending.upTo(Infinity);
    await this.#quarantine.idle();
    await this.#checkpoint.recorded();
    if (!isLater) await this.#options.store.flush();
  }

  /** Records what has settled of responses that wait for other handlers. */
  #noteSettled(): void {
    const names = this.#pending.takeSettled();
    // A store that failed rejects its `done`.
    if (names.length > 0) this.#options.store.noteSettled(names).catch(() => {});
  }
}

/** Calls back with all events of a batch, in the order of delivery. */
function visit(
  { internal, global, rooms }: SyncBatch,
  { deliver, tell }: { deliver: (event: MatrixEvent) => void; tell: (event: InternalDelivery) => void },
): void {
  internal.forEach(tell);
  for (const event of global) deliver(event);
  for (const { gap, events, ignored, remarks, sticky, ephemeral, accountData } of rooms) {
    if (gap !== undefined) tell(gap);
    // In the usual case there is nothing to say of any event.
    if (ignored === undefined && remarks.size === 0) events.forEach(deliver);
    else {
      events.forEach((event, index) => {
        if (ignored?.has(index) !== true) deliver(event);
        const remark = remarks.get(index);
        if (remark !== undefined) tell(remark);
      });
    }
    sticky.forEach(tell);
    for (const event of ephemeral) deliver(event);
    for (const event of accountData) deliver(event);
  }
}

function stepsOf(batch: SyncBatch, deliverer: Deliverer, settled: NamedDelivery[]): Step[] {
  const steps: Step[] = [];
  const counts = new Map<string, number>();
  const add = (step: Step): void => {
    const count = counts.get(step.id) ?? 0;
    counts.set(step.id, count + 1);
    steps.push(count === 0 ? step : { ...step, id: `${step.id} ${count}` });
  };
  visit(batch, {
    deliver: (event) =>
      add({
        delivery: { data: event },
        id: nameOf(event),
        isWanted: () => deliverer.wants(event),
        start: () => deliverer.event(event, { tasks: [], settled }),
      }),
    tell: (delivery) => {
      const { type, data } = delivery;
      add({
        delivery,
        id: `${nameOf("event" in data ? data.event : data)} ${type}`,
        isWanted: () => deliverer.wantsInternal(type),
        start: () => deliverer.internal(type, data, { tasks: [], settled }),
      });
    },
  });
  return steps;
}

/** A name for data: its event ID, or what comes closest to one. */
function nameOf(data: object): string {
  const { event_id, type, room_id, sender, state_key }: Partial<Record<string, unknown>> = { ...data };
  return typeof event_id === "string" ? event_id : JSON.stringify([type, room_id, sender, state_key]);
}

/** Waits for the tasks that are to be waited for. */
async function waitSync(tasks: readonly Task[]): Promise<void> {
  await Promise.all(tasks.filter((task) => task.waitSync).map(({ done }) => done));
}

/**
 * The records that are being written. If one fails, the store rejects its `done`, and the events
 * come again.
 */
class Notes {
  readonly #notes = new Set<Promise<void>>();

  add(note: Promise<void>): void {
    const done = note.catch(() => {}).then(() => {
      this.#notes.delete(done);
    });
    this.#notes.add(done);
  }

  async all(): Promise<void> {
    await Promise.all(this.#notes);
  }
}

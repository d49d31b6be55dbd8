/**
 * Brings one event to its handlers: in order, each on its own.
 *
 * @module
 */

import type { Logger } from "../log.ts";
import { type HandlerScope, runHandler } from "../handler_scope.ts";
import { validateContent } from "../types/define_event.ts";
import type { MatrixEvent } from "../types/event.ts";
import type { EventClass, EventTypeRef } from "../types/event_type.ts";
import type { InternalEvents } from "../types/internal_event.ts";
import { InternalEventType } from "../types/internal_event_type.ts";
import { SyncStream } from "../types/sync_stream.ts";
import { type AnyContext, PlainContext } from "./handler_context.ts";
import type { HandlerEntry, HandlerRegistry } from "./handler_registry.ts";
import type { HandlerSessions } from "./handler_sessions.ts";

/** A handler at work: settles, without ever rejecting, when the handler has. */
export interface Task {
  /** Whether the next sync is to wait for it. */
  readonly waitSync: boolean;
  /** Resolves when the handler has settled. */
  readonly done: Promise<void>;
  /** Names the delivery, if it may come again. */
  readonly name: string | undefined;
}

/** What a handler is called with: an event, or the data of one of Greenroom's own. */
export type Delivered = MatrixEvent | InternalEvents[InternalEventType];

/** How something is delivered. */
export interface DeliverOptions {
  /**
   * Of what a crash lets come again, so that what handlers send has to be told from what they sent before: where to put the names
   * of the deliveries that settle at once.
   */
  readonly comesAgain?: { readonly settled: string[] };
}

/** Starts handlers and reports those that throw. */
export class Deliverer {
  readonly #registry: HandlerRegistry;
  readonly #log: Logger;
  readonly #sessions: Pick<HandlerSessions, "run">;
  /** The deliveries that an earlier process has seen to. */
  #settledBefore: ReadonlySet<string> = new Set();
  /** What handlers of `HANDLER_ERROR` have been called with. */
  readonly #reports = new WeakSet<Delivered>();

  /**
   * @param registry Who wants to know.
   * @param log Where a handler's failure is told.
   * @param sessions Runs handlers that have one.
   */
  constructor(registry: HandlerRegistry, log: Logger, sessions: Pick<HandlerSessions, "run">) {
    this.#registry = registry;
    this.#log = log;
    this.#sessions = sessions;
  }

  /** Has deliveries left out that an earlier process has seen to, in place of those that were before. */
  leaveOut(names: Iterable<string>): void {
    this.#settledBefore = new Set(names);
  }

  /** Whether there is anybody to bring an event to. */
  wants(event: MatrixEvent): boolean {
    const { type } = event;
    return this.#registry.forAll.length > 0 || this.#registry.of(eventClassOf(event), type).length > 0 ||
      this.#registry.of("unknown", type).length > 0;
  }

  /** Whether there is anybody to bring an event of Greenroom's own to. */
  wantsInternal(type: string): boolean {
    return this.#registry.of("internal", type).length > 0;
  }

  /** Whether there is nobody to bring anything to. */
  get idle(): boolean {
    return this.#registry.isEmpty;
  }

  /**
   * Brings an event to the handlers of all events, then to those of its type.
   *
   * @returns The handlers that are still at work.
   */
  event(event: MatrixEvent, options?: DeliverOptions): Task[] {
    return this.#deliver({
      ...options,
      type: event.type,
      eventClass: eventClassOf(event),
      data: event,
      toAll: true,
    });
  }

  /** Brings an event of Greenroom's own to its handlers; those of all events do not get it. */
  internal(type: string, data: Delivered, options?: DeliverOptions): Task[] {
    return this.#deliver({ ...options, type, eventClass: "internal", data });
  }

  /** Brings data to the handlers of a type, and to those of all events only if asked to. */
  manual(type: EventTypeRef, data: Delivered, { toAll }: { toAll: boolean }): Task[] {
    return this.#deliver({ type: type.type, eventClass: type.class, data, toAll });
  }

  #deliver(delivery: Delivery): Task[] {
    const { type, eventClass, toAll } = delivery;
    const tasks: Task[] = [];
    if (toAll) this.#start(this.#registry.forAll, delivery, tasks);
    this.#start(this.#registry.of(eventClass, type), delivery, tasks);
    // Who wants a type of which nobody knows the class wants it in any.
    if (eventClass !== "unknown" && eventClass !== "internal") {
      this.#start(this.#registry.of("unknown", type), delivery, tasks);
    }
    return tasks;
  }

  #start(entries: readonly HandlerEntry[], delivery: Delivery, tasks: Task[]): void {
    const { data, comesAgain } = delivery;
    const source = sourceOf(data);
    for (const entry of entries) {
      if (entry.source !== undefined && (entry.source & source) === 0) continue;
      const name = comesAgain && deliveryName(entry, data);
      if (name !== undefined && this.#settledBefore.has(name)) continue;
      const done = entry.sequential ? this.#queue(entry, data, name) : this.#run(entry, data, name);
      if (done !== undefined) tasks.push({ waitSync: entry.waitSync, done, name });
      else if (name !== undefined) comesAgain?.settled.push(name);
    }
  }

  /** Runs a sequential handler when it has settled for the room's events before. */
  #queue(entry: HandlerEntry, data: Delivered, name: string | undefined): Promise<void> | undefined {
    const room = "room_id" in data ? data.room_id ?? "" : "";
    const before = entry.lanes.get(room);
    const done = before === undefined
      ? this.#run(entry, data, name)
      : before.then(() => this.#run(entry, data, name));
    if (done === undefined) return undefined;
    const lane = done.then(() => {
      if (entry.lanes.get(room) === lane) entry.lanes.delete(room);
    });
    entry.lanes.set(room, lane);
    return lane;
  }

  /** @returns Undefined if the handler has settled at once. */
  #run(entry: HandlerEntry, data: Delivered, name: string | undefined): Promise<void> | undefined {
    const scope: HandlerScope | undefined = name === undefined ? undefined : { name, sends: 0 };
    const call = (context: AnyContext) => runHandler(scope, () => this.#call(entry, data, context));
    try {
      const result = entry.session === undefined
        ? call(new PlainContext(name))
        : this.#sessions.run({ definition: entry.session, event: data, deliveryId: name, call });
      if (!isPromiseLike(result)) return undefined;
      return Promise.resolve(result).then(() => {}, (error) => this.#report(error, data));
    } catch (error) {
      return this.#report(error, data);
    }
  }

  #call(entry: HandlerEntry, data: Delivered, context: AnyContext): unknown {
    const call = entry.handler as (data: Delivered, context: AnyContext) => unknown;
    if (entry.definition?.schema === undefined || !("content" in data)) return call(data, context);
    const content = validateContent(entry.definition, data.content);
    return isPromiseLike(content)
      ? content.then((checked) => call({ ...data, content: checked }, context))
      : call({ ...data, content }, context);
  }

  /**
   * A handler's failure concerns nobody but its author: the sync and the other handlers go on.
   *
   * @returns Undefined if those who want to know of it have settled at once.
   */
  #report(error: unknown, data: Delivered): Promise<void> | undefined {
    const type = "type" in data ? data.type : undefined;
    const eventId = "event_id" in data ? data.event_id : undefined;
    this.#log.error("An event handler failed", { type, eventId, error });
    if (this.#reports.has(data)) return undefined; // a handler of failures that fails is not told of itself
    const report = { error, event: data };
    this.#reports.add(report);
    const tasks = this.internal(InternalEventType.HANDLER_ERROR, report);
    return tasks.length === 0 ? undefined : Promise.all(tasks.map(({ done }) => done)).then(() => {});
  }
}

/** Something to deliver. */
interface Delivery extends DeliverOptions {
  readonly type: string;
  readonly eventClass: EventClass;
  readonly data: Delivered;
  readonly toAll?: boolean;
}

/** The class of an event that came with a sync: where it came from says it, and in rooms whether it has a state key. */
export function eventClassOf(event: MatrixEvent): EventClass {
  const { source } = event;
  if ((source & SyncStream.TO_DEVICE) !== 0) return "to_device";
  if ((source & SyncStream.ACCOUNT_DATA) !== 0) return "account_data";
  if ((source & (SyncStream.EPHEMERAL | SyncStream.PRESENCE)) !== 0) return "ephemeral";
  return "state_key" in event && event.state_key !== undefined ? "state" : "message";
}

/** Where data came from, if it says so. */
function sourceOf(data: Delivered): SyncStream {
  return "source" in data && typeof data.source === "number" ? data.source : SyncStream.INTERNAL;
}

/** Of an event that has an ID and came with a timeline: tells this delivery from all others, in every process. */
function deliveryName({ id }: HandlerEntry, data: Delivered): string | undefined {
  if (!("event_id" in data) || (sourceOf(data) & SyncStream.TIMELINE) === 0) return undefined;
  // A handler of all events gets it in this form too if its key comes later.
  const form = data.type === "m.room.encrypted" ? "-encrypted" : "";
  return `${data.event_id}-${id}${form}`;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/**
 * Brings one event to its handlers: in order, each on its own.
 *
 * @module
 */

import type { Logger } from "../log.ts";
import { runHandler } from "../handler_scope.ts";
import { validateContent } from "../types/define_event.ts";
import type { MatrixEvent } from "../types/event.ts";
import type { EventClass } from "../types/event_type.ts";
import type { InternalEvents } from "../types/internal_event.ts";
import { InternalEventType } from "../types/internal_event_type.ts";
import { SyncStream } from "../types/sync_stream.ts";
import type { HandlerEntry, HandlerRegistry } from "./handler_registry.ts";

/** A handler at work: settles, without ever rejecting, when the handler has. */
export interface Task {
  /** Whether the next sync is to wait for it. */
  readonly waitSync: boolean;
  /** Resolves when the handler has settled. */
  readonly done: Promise<void>;
}

/** What a handler is called with: an event, or the data of one of Greenroom's own. */
export type Delivered = MatrixEvent | InternalEvents[InternalEventType];

const NO_TASKS: readonly Task[] = [];

/** Starts handlers and reports those that throw. */
export class Deliverer {
  readonly #registry: HandlerRegistry;
  readonly #log: Logger;

  /**
   * @param registry Who wants to know.
   * @param log Where a handler's failure is told.
   */
  constructor(registry: HandlerRegistry, log: Logger) {
    this.#registry = registry;
    this.#log = log;
  }

  /** Whether there is nobody to bring anything to. */
  get idle(): boolean {
    return this.#registry.isEmpty;
  }

  /**
   * Brings an event to the handlers of all events, then to those of its type.
   *
   * @param replay Whether the event may come again after a crash, so that sends have to be told from those of before.
   * @returns The handlers that are still at work.
   */
  event(event: MatrixEvent, eventClass: EventClass = eventClassOf(event), replay = false): readonly Task[] {
    const { type, source } = event;
    const all = this.#start(this.#registry.forAll, event, source, replay);
    const typed = this.#start(this.#registry.of(eventClass, type), event, source, replay);
    const untyped = this.#start(this.#registry.of("unknown", type), event, source, replay);
    return joined(joined(all, typed), untyped);
  }

  /** Brings an event of Greenroom's own to its handlers; those of all events do not get it. */
  internal(type: string, data: Delivered): readonly Task[] {
    return this.#start(this.#registry.of("internal", type), data, SyncStream.INTERNAL);
  }

  /** Brings data to the handlers of a type, and to those of all events only if asked to. */
  manual(type: string, eventClass: EventClass, data: Delivered, includeAll: boolean): readonly Task[] {
    const source = "source" in data && typeof data.source === "number" ? data.source : SyncStream.INTERNAL;
    const all = includeAll ? this.#start(this.#registry.forAll, data, source) : NO_TASKS;
    const typed = this.#start(this.#registry.of(eventClass, type), data, source);
    return joined(all, typed);
  }

  #start(
    entries: readonly HandlerEntry[],
    data: Delivered,
    source: SyncStream,
    replay = false,
  ): readonly Task[] {
    if (entries.length === 0) return NO_TASKS;
    const tasks: Task[] = [];
    for (const entry of entries) {
      if ((entry.source & source) === 0) continue;
      const done = entry.sequential ? this.#queue(entry, data, replay) : this.#run(entry, data, replay);
      if (done !== undefined) tasks.push({ waitSync: entry.waitSync, done });
    }
    return tasks;
  }

  /** Runs a sequential handler when it has settled for the room's events before. */
  #queue(entry: HandlerEntry, data: Delivered, replay: boolean): Promise<void> | undefined {
    const room = "room_id" in data ? data.room_id ?? "" : "";
    const before = entry.lanes.get(room);
    const done = before === undefined
      ? this.#run(entry, data, replay)
      : before.then(() => this.#run(entry, data, replay));
    if (done === undefined) return undefined;
    const lane = done.then(() => {
      if (entry.lanes.get(room) === lane) entry.lanes.delete(room);
    });
    entry.lanes.set(room, lane);
    return lane;
  }

  /** @returns Undefined if the handler has settled at once. */
  #run(entry: HandlerEntry, data: Delivered, replay: boolean): Promise<void> | undefined {
    try {
      const scope = replay && "event_id" in data
        ? { name: `${data.event_id}-${entry.id}`, sends: 0 }
        : undefined;
      const result = runHandler(scope, () => this.#call(entry, data));
      if (!isPromiseLike(result)) return undefined;
      return Promise.resolve(result).then(() => {}, (error) => this.#report(error, data));
    } catch (error) {
      this.#report(error, data);
      return undefined;
    }
  }

  #call(entry: HandlerEntry, data: Delivered): unknown {
    const call = entry.handler as (data: Delivered) => unknown;
    if (entry.definition?.schema === undefined || !("content" in data)) return call(data);
    const content = validateContent(entry.definition, data.content);
    return isPromiseLike(content)
      ? content.then((checked) => call({ ...data, content: checked }))
      : call({ ...data, content });
  }

  /** A handler's failure concerns nobody but its author: the sync and the other handlers go on. */
  #report(error: unknown, data: Delivered): void {
    const type = "type" in data ? data.type : undefined;
    const eventId = "event_id" in data ? data.event_id : undefined;
    this.#log.error("An event handler failed", { type, eventId, error });
    if (!("event" in data && "error" in data)) {
      this.internal(InternalEventType.HANDLER_ERROR, { error, event: data });
    }
  }
}

/** The class of an event that came with a sync: where it came from says it, and in rooms whether it has a state key. */
export function eventClassOf(event: MatrixEvent): EventClass {
  const { source } = event;
  if ((source & SyncStream.TO_DEVICE) !== 0) return "to_device";
  if ((source & SyncStream.ACCOUNT_DATA) !== 0) return "account_data";
  if ((source & (SyncStream.EPHEMERAL | SyncStream.PRESENCE)) !== 0) return "ephemeral";
  return "state_key" in event && event.state_key !== undefined ? "state" : "message";
}

function joined(first: readonly Task[], second: readonly Task[]): readonly Task[] {
  if (second.length === 0) return first;
  return first.length === 0 ? second : [...first, ...second];
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

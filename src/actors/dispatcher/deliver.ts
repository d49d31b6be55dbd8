/**
 * Delivers one event to its handlers: in order, each on its own.
 *
 * Over 300 lines because whether a handler is called, and what its end means, is read in one place.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { TraceParent } from "../../base/telemetry.ts";
import { HandlerCall } from "../../base/handler_call.ts";
import { placeOf } from "../../base/own_code.ts";
import { ClientEndedError } from "../../errors/matrix_error.ts";
import { isEmpty, Malformed } from "../../types/events/define_event.ts";
import { isRedacted } from "../../types/checks/event_check.ts";
import { type MatrixEvent, SyncStream } from "../../types/events/event.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";
import { type EventTypeRef, InternalEventType } from "../../types/events/event_type.ts";
import type { InternalEvents } from "../../types/events/internal_event.ts";
import { ActorStoppedError } from "../kernel/mod.ts";
import { DeliveryScope, PlainContext, type SendIds } from "./delivery_scope.ts";
import type { AnyContext } from "./handler_context.ts";
import { type HandlerEntry, type HandlerRegistry, takes } from "./handler_registry.ts";
import type { HandlerSessions } from "./handler_sessions.ts";

/**
 * How a handler has ended. One that fails when the client can't go on has been cut off, and has not
 * settled: what it was called with comes again.
 */
export type Ending = "settled" | "cut off";

/** A handler at work. */
export interface Task {
  /** Whether the next sync is to wait for it. */
  readonly waitSync: boolean;
  /** Resolves when the handler has ended; never rejects. */
  readonly done: Promise<Ending>;
  /** Names the delivery, if it may come again. */
  readonly name: string | undefined;
}

/** What a handler is called with: an event, or the data of an internal event. */
export type Delivered = MatrixEvent | InternalEvents[InternalEventType];

type Call = HandlerCall<Delivered>;

/** A delivery that may come again. */
export type NamedDelivery = Pick<DeliveryScope, "name">;

/** What has been started, of one event or of several. */
export interface Started {
  /** The handlers that are still at work. */
  readonly tasks: Task[];
  /**
   * Deliveries that settled immediately, if they may come again after a crash; undefined: none comes again.
   */
  readonly settled?: NamedDelivery[];
  /** Names of deliveries to leave out, beside those that an earlier process has settled. */
  readonly leftOut?: ReadonlySet<string>;
}

/** What makes handlers spans. */
interface Spans {
  readonly telemetry: typeof import("../../base/telemetry.ts");
  readonly clock: Clock;
}

const LATE = "Cannot call a handler any more: the client has ended";

/** Starts handlers, and reports those that throw. */
export class Deliverer {
  readonly #registry: HandlerRegistry;
  readonly #log: Logger;
  readonly #sessions: Pick<HandlerSessions, "run" | "update">;
  readonly #sendIds: SendIds;
  readonly #isOver: () => boolean;
  /** Names of the deliveries that an earlier process has settled. */
  #settledBefore: ReadonlySet<string> = new Set();
  /** Events that were reported as malformed. */
  readonly #malformed = new WeakSet<MatrixEvent>();
  /** What handlers of `HANDLER_ERROR` have been called with. */
  readonly #reports = new WeakSet<Delivered>();
  /** Whether a handler was cut off. */
  #hasCutOff = false;
  /** Whether what has settled is recorded. */
  #records = true;
  /** What makes handlers spans, if somebody traces. */
  #spans: Spans | undefined;

  /**
   * @param registry The handlers.
   * @param log Logs the failures of handlers.
   * @param sessions Run handlers that have a session.
   * @param sendIds Makes the transaction IDs of what handlers send.
   * @param isOver Whether the client can't go on, and another process will be given again what was cut off.
   */
  constructor(
    registry: HandlerRegistry,
    log: Logger,
    sessions: Pick<HandlerSessions, "run" | "update">,
    sendIds: SendIds,
    isOver: () => boolean,
  ) {
    [this.#registry, this.#log] = [registry, log];
    [this.#sessions, this.#sendIds, this.#isOver] = [sessions, sendIds, isOver];
  }

  /**
   * Has deliveries left out that an earlier process has seen to, in place of those that were before.
   */
  leaveOut(names: Iterable<string>): void {
    this.#settledBefore = new Set(names);
  }

  /** Ends the records of what settles: no handler begins that will be called again. */
  endRecords(): void {
    this.#records = false;
  }

  /** Has each handler be a span, from now on. */
  async trace(clock: Clock): Promise<void> {
    this.#spans ??= { telemetry: await import("../../base/telemetry.ts"), clock };
  }

  /** Delivers as part of a span that was begun elsewhere; undefined: of none. */
  within<Result>(trace: TraceParent | undefined, deliver: () => Result): Result {
    const spans = this.#spans;
    return trace === undefined || spans === undefined ? deliver() : spans.telemetry.inTrace(trace, deliver);
  }

  /** Returns whether an event has handlers. */
  wants(event: MatrixEvent): boolean {
    return this.#registry.wanting(event).some((entry) => takes(entry, sourceOf(event)));
  }

  /** Returns whether a type of internal event has handlers. */
  wantsInternal(type: string): boolean {
    return this.#registry.of("internal", type).length > 0;
  }

  /** Whether there are no handlers at all. */
  get idle(): boolean {
    return this.#registry.isEmpty;
  }

  /**
   * Delivers an event to the handlers of all events, then to those of its type.
   *
   * @param started What is started is added to it.
   * @returns The handlers that are still at work, with those that were in `started`.
   */
  event(event: MatrixEvent, started: Started = { tasks: [] }): readonly Task[] {
    this.#start(this.#registry.wanting(event), event, started);
    return started.tasks;
  }

  /** Delivers an internal event to its handlers; those of all events do not get it. */
  internal(type: string, data: Delivered, started: Started = { tasks: [] }): readonly Task[] {
    this.#start(this.#registry.of("internal", type), data, started);
    return started.tasks;
  }

  /** Delivers data to the handlers of a type, and with `toAll` to those of all events. */
  manual(type: EventTypeRef, data: Delivered, { toAll }: { toAll: boolean }): readonly Task[] {
    const started = { tasks: [] };
    if (toAll) this.#start(this.#registry.forAll, data, started);
    this.#start(this.#registry.typed(type.class, type.type), data, started);
    return started.tasks;
  }

  #start(entries: readonly HandlerEntry[], data: Delivered, { tasks, settled, leftOut }: Started): void {
    if (entries.length === 0) return;
    const source = sourceOf(data);
    const comesAgain = settled !== undefined && (source & SyncStream.TIMELINE) !== 0 && "event_id" in data;
    for (const entry of entries) {
      if (!takes(entry, source)) continue;
      if (!entry.redacted && isRedacted(data)) continue;
      const scope = comesAgain ? new DeliveryScope(data, entry, this.#sendIds) : undefined;
      if (scope !== undefined && this.#settledBefore.size > 0 && this.#settledBefore.has(scope.name)) {
        continue;
      }
      if (scope !== undefined && leftOut?.has(scope.name)) continue;
      const done = entry.sequential ? this.#queue(entry, data, scope) : this.#run(entry, data, scope);
      if (done !== undefined) tasks.push({ waitSync: entry.waitSync, done, name: scope?.name });
      else if (scope !== undefined) settled?.push(scope);
    }
  }

  /** Runs a sequential handler when it has settled for the room's earlier events. */
  #queue(
    entry: HandlerEntry,
    data: Delivered,
    scope: DeliveryScope | undefined,
  ): Promise<Ending> | undefined {
    const room = "room_id" in data ? data.room_id ?? "" : "";
    const before = entry.queues.get(room);
    const done = before === undefined
      ? this.#run(entry, data, scope)
      : before.then(() => this.#run(entry, data, scope));
    if (done === undefined) return undefined;
    const queue = done.then((ending = "settled") => {
      if (entry.queues.get(room) === queue) entry.queues.delete(room);
      return ending;
    });
    entry.queues.set(room, queue);
    return queue;
  }

  /** @returns Undefined if the handler has settled immediately. */
  #run(entry: HandlerEntry, data: Delivered, scope: DeliveryScope | undefined): Promise<Ending> | undefined {
    const { content } = data as { readonly content?: unknown };
    if (entry.check === undefined || content === undefined) return this.#call(entry, data, scope);
    const event = data as MatrixEvent;
    try {
      const checked = entry.check(content);
      if (checked === content) return this.#call(entry, event, scope);
      if (!(checked instanceof Promise)) return this.#callWith(entry, event, scope, checked);
      const called = checked.then((settled) => this.#callWith(entry, event, scope, settled));
      return called.catch((error) => this.#report(error, data)).then((ending = "settled") => ending);
    } catch (error) { // a schema of the application's that fails
      return this.#report(error, data);
    }
  }

  /** Runs a handler with what its check has left of the content, if anything. */
  #callWith(
    entry: HandlerEntry,
    event: MatrixEvent,
    scope: DeliveryScope | undefined,
    checked: object | Malformed,
  ): Promise<Ending> | undefined {
    if (isRedacted(event) && isEmpty(event.content)) return this.#call(entry, event, scope);
    const content = checked instanceof Malformed ? checked.content : checked;
    const reported = checked instanceof Malformed ? this.#reportMalformed(event, checked) : undefined;
    const called = content && this.#call(entry, { ...event, content } as MatrixEvent, scope);
    return reported && called ? reported.then(() => called) : reported ?? called;
  }

  #call(entry: HandlerEntry, data: Delivered, scope: DeliveryScope | undefined): Promise<Ending> | undefined {
    const handler = this.#spans === undefined ? entry.handler as Handler : traced(entry, data, this.#spans);
    if (this.#isLate(scope)) return Promise.resolve("cut off");
    const call = new HandlerCall(data, scope, this.#unawaited);
    if (entry.session !== undefined) {
      return this.#settling(this.#runWith(entry.session, handler, call), call);
    }
    const context = new PlainContext(scope, this.#sessions);
    try {
      const result = call.run(handler, context);
      if (!isPromiseLike(result) && !context.hasUpdates && !call.isBusy) {
        context.end();
        return undefined;
      }
      return this.#settling(ended(result, call), call, context);
    } catch (error) {
      if (call.isBusy) return this.#settling(ended(Promise.reject(error), call), call, context);
      context.end();
      return this.#report(error, data, call);
    }
  }

  #runWith(
    definition: SessionDefinition<object>,
    handler: Handler,
    call: Call,
  ): Promise<void> {
    const { event, scope } = call;
    const run = (context: AnyContext) => {
      if (this.#isLate(scope)) throw new ClientEndedError(LATE); // while it waited for its session
      return ended(call.run(handler, context), call);
    };
    return this.#sessions.run({ definition, event, deliveryId: scope?.name, call: run });
  }

  /**
   * Returns whether a handler must not begin any more:
   * another process calls it, after those that were cut off.
   */
  #isLate(scope: NamedDelivery | undefined): boolean {
    return scope !== undefined && (!this.#records || (this.#hasCutOff && this.#isOver()));
  }

  async #settling(
    result: unknown,
    call: Call,
    context?: PlainContext,
  ): Promise<Ending> {
    try {
      await result;
      const settled = context?.settle();
      if (context?.hasUpdates) await settled;
    } catch (error) {
      context?.end();
      if (!this.#isOver()) return await this.#report(error, call.event, call) ?? "settled";
      this.#log.warn(
        "An event handler was cut off, and is called again after the next start",
        // That a part has stopped says no more.
        logged(call.event, error instanceof ActorStoppedError ? undefined : error, call),
      );
      this.#hasCutOff = true;
      return "cut off";
    }
    return "settled";
  }

  /** Gets what a handler did not await, and has failed. */
  readonly #unawaited = (error: unknown, call: Call): void => {
    const { event } = call;
    if (this.#isOver()) {
      this.#log.warn("A promise that an event handler did not await was cut off", logged(event, error, call));
      return;
    }
    void this.#report(error, event, call, "A promise that an event handler did not await was rejected");
  };

  /**
   * Reports a malformed event, once for all of its handlers.
   *
   * @returns Undefined if the handlers of the report have settled immediately.
   */
  #reportMalformed(event: MatrixEvent, { content, reason }: Malformed): Promise<Ending> | undefined {
    if (this.#malformed.has(event)) return undefined;
    this.#malformed.add(event);
    const eventId = "event_id" in event ? event.event_id : undefined;
    this.#log.debug("The content of an event does not fit its type", { eventId, error: reason });
    return all(
      this.internal(InternalEventType.MALFORMED, { event, reason, isDelivered: content !== undefined }),
    );
  }

  /**
   * Reports a handler's failure; the sync and the other handlers go on.
   *
   * @returns Undefined if the handlers of the report have settled immediately.
   */
  #report(
    error: unknown,
    data: Delivered,
    call?: Call,
    message: string = "An event handler failed",
  ): Promise<Ending> | undefined {
    this.#log.error(message, logged(data, error ?? `it threw ${error}`, call));
    if (error instanceof Error) this.#log.debug("The stack of a handler's failure", { stack: error.stack });
    if (this.#reports.has(data)) return undefined; // the failure of a handler of failures is only logged
    const report = { error, event: data };
    this.#reports.add(report);
    return all(this.internal(InternalEventType.HANDLER_ERROR, report));
  }
}

type Handler = (data: Delivered, context: AnyContext) => unknown;

/** A handler that is a span. */
function traced(
  { type, handler }: HandlerEntry,
  data: Delivered,
  { telemetry, clock }: Spans,
): Handler {
  return (...given) =>
    telemetry.handled({ by: "client", type, data, clock }, () => (handler as Handler)(...given));
}

/** Returns where data came from. */
function sourceOf(data: Delivered): SyncStream {
  const { source } = data as { readonly source?: unknown };
  return typeof source === "number" ? source : SyncStream.INTERNAL;
}

/** Returns what to log of a failure. */
function logged(data: Delivered, error: unknown, call?: Call): Record<string, unknown> {
  const { type, room_id: room, sender, event_id: eventId }: Partial<Record<string, unknown>> = { ...data };
  return {
    ...call?.details,
    type,
    room,
    sender,
    eventId,
    at: placeOf(error),
    error,
  };
}

/** Resolves when all tasks have ended; undefined: there are none. */
function all(tasks: readonly Task[]): Promise<Ending> | undefined {
  return tasks.length === 0 ? undefined : Promise.all(tasks.map(({ done }) => done)).then(() => "settled");
}

/** What a handler returned, when all that it has begun has ended, awaited or not. */
async function ended(result: unknown, call: Call): Promise<unknown> {
  try {
    return await result;
  } finally {
    await call.settled();
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

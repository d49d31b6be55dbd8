/**
 * Turns the calls of {@link SyncerAPI} into requests to the actors, and into entries of the handler
 * registry.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/value_error.ts";
import {
  canBeOfClass,
  classOf,
  type EventType,
  type EventTypeRef,
  typeName,
} from "../types/events/event_type.ts";
import { unknownType } from "../types/events/event_of.ts";
import type { MatrixEvent } from "../types/events/event.ts";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { isJsonObject } from "../types/json.ts";
import { type Actor, type ActorRef, isInside, unwrapped } from "../actors/kernel/mod.ts";
import type {
  Delivered,
  Deliverer,
  DispatcherHandlers,
  Handler,
  HandlerOptions,
  HandlerRegistry,
  Task,
} from "../actors/dispatcher/dispatcher.ts";
import type { DispatchManualOptions, InternalEventOptions, SyncerAPI } from "./syncer_api.ts";
import type { SyncerHandlers } from "../actors/syncer/syncer.ts";

/** The actors that the calls go to. */
export interface FacadeCore {
  /** Asks for what is new. */
  readonly syncer: ActorRef<SyncerHandlers>;
  /** Brings it to handlers, who must not wait for themselves. */
  readonly dispatcher: Actor<DispatcherHandlers>;
  /** Brings single events to handlers. */
  readonly deliverer: Deliverer;
}

const INTERNAL: OptionNames<InternalEventOptions> = { customType: true };
const MANUAL: OptionNames<DispatchManualOptions> = { includeGlobalHandlers: true, forceSynchronous: true };

/**
 * Makes the operations of syncing and of handlers.
 *
 * @param life Has the actors of now; a signal closes it.
 * @param registry The handlers.
 * @param log Gets warnings.
 */
export function syncerFacade(
  life: { readonly core: FacadeCore; close(): Promise<void> },
  registry: HandlerRegistry,
  log: Logger,
): SyncerAPI {
  const closeBy = async (name: string): Promise<void> => {
    log.info("Closing the client, since a signal ends the process", { signal: name });
    await life.close();
  };
  const internal: SyncerAPI["dispatchInternalEvent"] = (eventType, data, options = {}) => {
    checkOptions(options, INTERNAL, "dispatch an event");
    const { customType = eventType } = options;
    return promises(life.core.deliverer.manual(refOf(customType), data as Delivered, { toAll: false }));
  };
  const add: HandlerRegistry["add"] = (type, handler, options) => {
    registry.add(type, handler, options);
    const unknown = type === undefined ? undefined : unknownType(type);
    if (unknown === undefined) return;
    const { nearest } = unknown;
    log.warn("A handler waits for a type of event that Matrix does not have", {
      type: typeName(type as EventType),
      mend: nearest === undefined
        ? "if others send it, name its class too: eventType(type, class)"
        : `did you mean ${nearest}?`,
    });
  };
  return {
    async start({ signal, signals = false, ...settings } = {}) {
      if (signal?.aborted) return;
      const unlisten = signals ? stopOnSignals(closeBy) : () => {};
      try {
        await unwrapped(life.core.syncer.run(settings, { signal }));
      } finally {
        unlisten();
      }
    },
    async stop() {
      const stopped = life.core.syncer.end();
      if (isInside([life.core.dispatcher])) stopped.catch(() => {}); // the handler that calls is one the stop may wait for
      else await stopped;
    },
    async syncOnce({ signal, passTimeout: _, ...settings } = {}) {
      const { events, isSettled } = await unwrapped(life.core.syncer.once(settings, { signal }));
      signal?.throwIfAborted();
      return { events, rounds: 1, left: isSettled ? undefined : "handlers" };
    },

    addEventHandler(...args: unknown[]): void {
      const { type, handler, options } = handlerArguments(args);
      add(type, handler, options);
    },
    removeEventHandler(...args: unknown[]): void {
      const { type, handler } = handlerArguments(args);
      registry.remove(type, handler);
    },
    on: ((...given: unknown[]) => {
      const [first] = given;
      if (typeof first !== "function" && given.length === 1) return decorator(add, first as EventType);
      const args = handlerArguments(typeof first === "function" ? [first] : given);
      add(args.type, args.handler, args.options);
      return args.handler;
    }) as SyncerAPI["on"],

    dispatchEvent: (event: MatrixEvent, source) => promises(life.core.deliverer.event({ ...event, source })),
    dispatchInternalEvent: internal,
    runInternalEvent: async (eventType, data, options) => {
      await Promise.all(internal(eventType, data, options));
    },
    dispatchManualEvent(eventType, data, options = {}) {
      checkOptions(options, MANUAL, "dispatch an event");
      const { includeGlobalHandlers = false, forceSynchronous = false } = options;
      const toAll = includeGlobalHandlers && !canBeOfClass(eventType, "internal");
      const tasks = life.core.deliverer.manual(refOf(eventType), data as Delivered, { toAll });
      return promises(forceSynchronous ? tasks : tasks.filter(({ waitSync }) => waitSync));
    },
    async handleSync(data) {
      if (!isJsonObject(data) || typeof data.next_batch !== "string") {
        throw new ValueError("Cannot handle the sync response: it has no next_batch");
      }
      const batch = await unwrapped(life.core.syncer.take(structuredClone(data))); // events are tagged in place
      return [life.core.dispatcher.settled(batch).catch(() => {})]; // why it was closed or failed is in `done`
    },
  };
}

function decorator(add: HandlerRegistry["add"], type: EventType): unknown {
  return <H extends Handler<never>>(handler: H, context?: ClassMethodDecoratorContext): H => {
    if (context === undefined) add(type, handler);
    else {
      context.addInitializer(function () {
        add(type, handler.bind(this) as Handler<never>);
      });
    }
    return handler;
  };
}

/** A handler alone is one of all events. */
function handlerArguments(args: readonly unknown[]) {
  const [type, handler, options] = typeof args[0] === "function" ? [undefined, ...args] : args;
  return {
    type: type as EventType | undefined,
    handler: handler as Handler<never>,
    options: options as HandlerOptions | undefined,
  };
}

function refOf(type: EventType): EventTypeRef {
  return { type: typeName(type), class: classOf(type) };
}

function promises(tasks: readonly Task[]): Promise<void>[] {
  return tasks.map(({ done }) => done.then(() => {}));
}

/** The signals that ask a process to end, and their numbers. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

type EndingSignal = keyof typeof SIGNALS;

/** What is to be stopped first; given the signal. */
type StopForSignal = (signal: EndingSignal) => Promise<void>;

/** How long a program has for what follows its `start()`, in milliseconds. */
const AFTERWARDS = 5_000;

/**
 * From now on, SIGINT and SIGTERM call this and all other functions that were given. The process then has the
 * status 130 or 143, as shells show a signal. It ends by itself, when the program is over, and is ended after
 * {@link AFTERWARDS}. Under `deno run --watch`, where each save of a file says so, the program begins again. A second
 * signal ends it immediately. No effect where there are no signals, as on Deno Deploy.
 *
 * @param stop What to do.
 * @returns Undoes it.
 */
function stopOnSignals(stop: StopForSignal): () => void {
  if (stops.size === 0) listen();
  stops.add(stop);
  return () => {
    stops.delete(stop);
    if (stops.size === 0 && !isEnding) listenNoMore();
  };
}

/** A process ends once: this is of all clients in it. */
const stops = new Set<StopForSignal>();
let isEnding = false;

const listeners = new Map<EndingSignal, () => void>();

function listen(): void {
  for (const signal of Object.keys(SIGNALS) as EndingSignal[]) {
    const listener = () => void end(signal);
    try {
      Deno.addSignalListener(signal, listener);
      listeners.set(signal, listener);
    } catch {
      // There is no such signal here, or there are none.
    }
  }
}

function listenNoMore(): void {
  for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
  listeners.clear();
}

async function end(signal: EndingSignal): Promise<void> {
  // Not by the signal itself: `deno run --watch` tells a program of a SIGTERM that the process never got,
  // and would be ended itself. And the first process of a container ignores signals without a listener.
  const status = 128 + SIGNALS[signal];
  if (isEnding) Deno.exit(status);
  isEnding = true;
  Deno.exitCode = status;
  await Promise.allSettled([...stops].map((stop) => stop(signal)));
  await systemClock.delay(AFTERWARDS, { persistent: false });
  Deno.exit(status);
}

/**
 * What a client offers of syncing and of handlers: the contract's Syncer.
 *
 * @module
 */

import type { MatrixEvent } from "../types/event.ts";
import type { EventOf } from "../types/event_of.ts";
import type { EventType } from "../types/event_type.ts";
import type { InternalEvents } from "../types/internal_event.ts";
import type { SyncResponse } from "../types/sync_response.ts";
import type { SyncStream } from "../types/sync_stream.ts";
import type { Handler, HandlerOptions, SessionHandlerOptions } from "./handler_registry.ts";
import type { StartOptions, SyncOnceOptions } from "./start_options.ts";

/** What `on(type)` gives: calls with a handler add it. It also decorates methods, which are then bound to their object. */
export interface HandlerDecorator<T extends EventType> {
  /**
   * Adds a handler.
   *
   * @param handler The function, or a method if it decorates one.
   * @param context Of a decorated method.
   * @returns The same function.
   */
  <H extends Handler<EventOf<T>>>(handler: H, context?: ClassMethodDecoratorContext): H;
}

/** Options of `dispatchManualEvent()`. */
export interface DispatchManualOptions {
  /** Whether the handlers of all events get it too, before those of the type. Default: false. */
  includeGlobalHandlers?: boolean;
  /** Whether to give the tasks of all handlers, not only of those with `waitSync`. Default: false. */
  forceSynchronous?: boolean;
}

/** Options of `dispatchInternalEvent()` and `runInternalEvent()`. */
export interface InternalEventOptions {
  /** Calls the handlers of this type of event, in place of those of the internal event. */
  customType?: string;
}

/** Data of an internal event; of a custom type any object. */
export type InternalData<Type extends string> = Type extends keyof InternalEvents ? InternalEvents[Type]
  : object;

/** Something that turns events into other events: it adds its handlers when it is registered. */
export interface Dispatcher {
  /** Adds its handlers. */
  register(): void;
  /** Removes its handlers. */
  unregister(): void;
}

/** A kind of dispatcher: a class that takes the client. */
export type DispatcherType<C, D extends Dispatcher = Dispatcher> = new (client: C) => D;

/** Syncing, and handlers of events. */
export interface SyncerAPI {
  /**
   * Syncs, and brings events to handlers, until {@linkcode SyncerAPI.stop} is called; a sync that is running is ended
   * first.
   *
   * A sync that fails is tried again, after 5 seconds and then twice as long each time up to 320 seconds, or when the
   * server says; that begins anew after a success. Only what no wait mends ends it: a dead token, a store that fails, a
   * permission that Deno was not given, and an address where no homeserver is. The last is found out at the first contact alone: a
   * redirect, or an answer to `/versions` that is found and no Matrix, or not found (404). Once a homeserver has answered this
   * client, such an answer is taken for a proxy's while the server is away; and so is at any time a failure (5xx), a refusal (403,
   * 429), or none.
   *
   * When it resolves, handlers have settled, and what encryption had under way has come to its end: nothing of the client uses the
   * store any more, until it is asked for something. That takes no longer than `closeDeadline`; what is still at work then, which the
   * log says, may use the store later. The device stays taken, until the client is closed or its lease runs out.
   *
   * @param options What to sync and how.
   * @returns Resolves when the sync has been stopped, by `stop()`, `close()`, its signal or a logout; rejects with the reason if it could not go on: an
   *   {@linkcode UnknownTokenError} whose `softLogout` tells whether the device is still there, for one; a
   *   {@linkcode MissingPermissionError}, or a {@linkcode HomeserverAddressError}.
   *   A `SYNC_STOPPED` event tells the same to handlers.
   * @throws {ClientEndedError} If the client was closed, or has failed, before.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#syncing | Syncing}
   *
   * @example A bot that answers
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token: accessToken });
   *
   * const heard: string[] = [];
   * client.on("m.room.message", async (event) => {
   *   heard.push(event.content.body);
   *   await client.stop();
   * });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "hello");
   * await client.start();
   * console.assert(heard[0] === "hello");
   * ```
   */
  start(options?: StartOptions): Promise<void>;

  /**
   * Stops syncing. What has been delivered goes on, and what is being committed is delivered, which may be a few responses;
   * called from a handler, it does not wait for that handler. When all that has come to its end too, `start()` resolves.
   *
   * @returns Resolves when the sync has ended; if the client was closed or has failed, when all has stopped.
   */
  stop(): Promise<void>;

  /**
   * Syncs once: for programs that are woken up from time to time.
   *
   * @param options What to sync and how; the server does not wait for something to happen unless `timeout` says so.
   * @returns The response, when all its handlers have settled.
   * @throws {ValueError} If the client is syncing already.
   * @throws {HomeserverAddressError} If there is no homeserver: see {@linkcode SyncerAPI.start}.
   * @throws {MissingPermissionError} If Deno was not given a permission.
   */
  syncOnce(options?: SyncOnceOptions): Promise<SyncResponse>;

  /**
   * Adds a handler of all events, Greenroom's own excepted.
   *
   * @param handler Called with each event. One that throws, or whose promise rejects, is reported with a `HANDLER_ERROR`
   *   event; the sync goes on.
   * @param options How it is called.
   */
  addEventHandler(handler: Handler<MatrixEvent>, options?: HandlerOptions): void;

  /**
   * Adds a handler of a type of event that remembers something from one event to the next.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type, and with its session, which it may change: see
   *   {@linkcode defineSession}.
   * @param options How it is called, and the session.
   * @throws {ValueError} If the type is no event type.
   */
  addEventHandler<const T extends EventType, State extends object>(
    eventType: T,
    handler: Handler<EventOf<T>, State>,
    options: SessionHandlerOptions<State>,
  ): void;

  /**
   * Adds a handler of a type of event.
   *
   * Handlers are started in the order of a room's events and run side by side; `sequential` ones take a room's events one
   * at a time. A handler that is added again for the same type gets the new options.
   *
   * @param eventType A name of the specification or of Greenroom's own (`InternalEventType`), any other name, a type with
   *   its class from `eventType()`, or one of your own from `defineEvent()`, whose schema then checks the content.
   * @param handler Called with each event of the type.
   * @param options How it is called.
   * @throws {ValueError} If the type is no event type.
   */
  addEventHandler<const T extends EventType>(
    eventType: T,
    handler: Handler<EventOf<T>>,
    options?: HandlerOptions,
  ): void;

  /**
   * Removes a handler of all events. Does nothing if it is not there.
   *
   * @param handler The same function that was added.
   */
  removeEventHandler(handler: Handler<MatrixEvent>): void;

  /**
   * Removes a handler of a type of event. Does nothing if it is not there.
   *
   * @param eventType The type it was added for.
   * @param handler The same function that was added.
   */
  removeEventHandler<const T extends EventType>(eventType: T, handler: Handler<EventOf<T>, never>): void;

  /**
   * Adds a handler of all events.
   *
   * @param handler Called with each event.
   * @returns The handler.
   */
  on<H extends Handler<MatrixEvent>>(handler: H): H;

  /**
   * Gives what adds handlers of a type of event; it can be used as a decorator of methods.
   *
   * @param eventType The type.
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org" });
   * class Greeter {
   *   @client.on("JOIN")
   *   greet(event: { room_id: string }): void {
   *     console.log("somebody came to", event.room_id);
   *   }
   * }
   * new Greeter();
   * ```
   */
  on<const T extends EventType>(eventType: T): HandlerDecorator<T>;

  /**
   * Adds a handler of a type of event that remembers something from one event to the next.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type, and with its session, which it may change: see
   *   {@linkcode defineSession}.
   * @param options How it is called, and the session.
   * @returns The handler.
   */
  on<const T extends EventType, State extends object>(
    eventType: T,
    handler: Handler<EventOf<T>, State>,
    options: SessionHandlerOptions<State>,
  ): Handler<EventOf<T>, State>;

  /**
   * Adds a handler of a type of event.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type.
   * @param options How it is called.
   * @returns The handler.
   */
  on<const T extends EventType, H extends Handler<EventOf<T>>>(
    eventType: T,
    handler: H,
    options?: HandlerOptions,
  ): H;

  /**
   * Brings an event to all handlers that it fits, as if it had come with a sync.
   *
   * @param event The event.
   * @param source Where it is said to come from: flags of `SyncStream`.
   * @returns A promise for each handler that is still at work; none rejects.
   */
  dispatchEvent(event: MatrixEvent, source: SyncStream): Promise<void>[];

  /**
   * Brings an event of Greenroom's own to its handlers.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options A type of your own in its place.
   * @returns A promise for each handler that is still at work; none rejects.
   */
  dispatchInternalEvent<const Type extends string>(
    eventType: Type,
    data: InternalData<Type>,
    options?: InternalEventOptions,
  ): Promise<void>[];

  /**
   * The same as {@linkcode SyncerAPI.dispatchInternalEvent}, awaited.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options A type of your own in its place.
   * @returns Resolves when all handlers have settled.
   */
  runInternalEvent<const Type extends string>(
    eventType: Type,
    data: InternalData<Type>,
    options?: InternalEventOptions,
  ): Promise<void>;

  /**
   * Brings any data to the handlers of a type of event.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options Who gets it, and whose tasks to give.
   * @returns A promise for each handler with `waitSync` that is still at work, or for all; none rejects.
   */
  dispatchManualEvent<const T extends EventType>(
    eventType: T,
    data: EventOf<T>,
    options?: DispatchManualOptions,
  ): Promise<void>[];

  /**
   * Takes a sync response that came some other way: keeps its state and token, and brings its events to handlers.
   *
   * @param data The response.
   * @returns A promise for the handlers, when they have been started; it does not reject.
   * @throws {ValueError} If it has no `next_batch`.
   */
  handleSync(data: SyncResponse): Promise<Promise<void>[]>;
}

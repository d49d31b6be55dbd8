/**
 * What a client offers of syncing and of handlers: the contract's Syncer.
 *
 * @module
 */

import type { MatrixEvent } from "../types/events/event.ts";
import type { EventOf } from "../types/events/event_of.ts";
import type { EventType } from "../types/events/event_type.ts";
import type { InternalEvents } from "../types/events/internal_event.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";
import type { SyncStream } from "../types/events/sync_stream.ts";
import type { HandlersAPI } from "./handlers_api.ts";
import type { StartOptions, SyncOnceOptions } from "../actors/syncer/start_options.ts";

/** Options of `dispatchManualEvent()`. */
export interface DispatchManualOptions {
  /** Whether the handlers of all events get it too, before those of the type. Default: false. */
  includeGlobalHandlers?: boolean;
  /**
   * Whether to give the tasks of all handlers, not only of those with `waitSync`. Default: false.
   */
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
export interface SyncerAPI extends HandlersAPI {
  /**
   * Syncs, and brings events to handlers, until {@linkcode SyncerAPI.stop} is called; a sync that
   * is running is ended first.
   *
   * A sync that fails is tried again, after 5 seconds and then twice as long each time up to 320
   * seconds, or when the server says; that begins anew after a success. Only what no wait mends
   * ends it: a dead token, a store that fails, a permission that Deno was not given, and an address
   * where no homeserver is. The last is found out at the first contact alone: a redirect, or an
   * answer to `/versions` that is found and no Matrix, or not found (404). Once a homeserver has
   * answered this client, such an answer is taken for a proxy's while the server is away; and so is
   * at any time a failure (5xx), a refusal (403, 429), or none.
   *
   * When it resolves, handlers have settled, and what encryption had under way has come to its end:
   * nothing of the client uses the store any more, until it is asked for something. That takes no
   * longer than `closeDeadline`; what is still at work then, which the log says, may use the store
   * later. The device stays taken, until the client is closed or its lease runs out.
   *
   * @param options What to sync and how.
   * @returns Resolves when the sync has been stopped, by `stop()`, `close()`, its signal or a
   *   logout; rejects with the reason if it could not go on: an {@linkcode UnknownTokenError} whose
   *   `softLogout` tells whether the device is still there, for one; a
   *   {@linkcode MissingPermissionError}, or a {@linkcode HomeserverAddressError}. A `SYNC_STOPPED` event
   *   tells the same to handlers.
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
   * Stops syncing. What has been delivered goes on, and what is being committed is delivered, which
   * may be a few responses; called from a handler, it does not wait for that handler. When all that
   * has come to its end too, `start()` resolves.
   *
   * @returns Resolves when the sync has ended; if the client was closed or has failed, when all has
   *   stopped.
   */
  stop(): Promise<void>;

  /**
   * Syncs once: for programs that are woken up from time to time.
   *
   * @param options What to sync and how; the server does not wait for something to happen unless
   *   `timeout` says so.
   * @returns The response, when all its handlers have settled.
   * @throws {ValueError} If the client is syncing already.
   * @throws {HomeserverAddressError} If there is no homeserver: see {@linkcode SyncerAPI.start}.
   * @throws {MissingPermissionError} If Deno was not given a permission.
   */
  syncOnce(options?: SyncOnceOptions): Promise<SyncResponse>;

  /**
   * Brings an event to all handlers that it fits, as if it had come with a sync.
   *
   * How it was encrypted, handlers are told only of what this client has decrypted: of an event
   * that a handler got, that `crypto.decrypt()` made, or a copy of one by `{ ...event }`. Whatever
   * else is handed in came in clear.
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
   * @returns A promise for each handler with `waitSync` that is still at work, or for all; none
   *   rejects.
   */
  dispatchManualEvent<const T extends EventType>(
    eventType: T,
    data: EventOf<T>,
    options?: DispatchManualOptions,
  ): Promise<void>[];

  /**
   * Takes a sync response that came some other way: keeps its state and token, and brings its
   * events to handlers.
   *
   * @param data The response.
   * @returns A promise for the handlers, when they have been started; it does not reject.
   * @throws {ValueError} If it has no `next_batch`.
   */
  handleSync(data: SyncResponse): Promise<Promise<void>[]>;
}

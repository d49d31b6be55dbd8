/**
 * The methods of a client for syncing and for handlers, the contract's Syncer,
 * and the position in the stream.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import type { MatrixEvent, SyncStream } from "../types/events/event.ts";
import type { EventOf } from "../types/events/event_of.ts";
import type { EventType } from "../types/events/event_type.ts";
import type { InternalEvents } from "../types/events/internal_event.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";
import type { HandlersAPI } from "./handlers_api.ts";
import type { StartOptions, SyncOnceOptions, SyncPass } from "../actors/syncer/syncer.ts";
import type { RoomID, SyncToken } from "../types/ids.ts";
import { type OpenableStore, openedStore } from "../actors/store/mod.ts";

/** Options of `dispatchManualEvent()`. */
export interface DispatchManualOptions {
  /** Whether the handlers of all events get it too, before those of the type. Default: false. */
  includeGlobalHandlers?: boolean;
  /**
   * Whether to return the promises of all handlers, not only of those with `waitSync`. Default:
   * false.
   */
  forceSynchronous?: boolean;
}

/** Options of `dispatchInternalEvent()` and `runInternalEvent()`. */
export interface InternalEventOptions {
  /** Calls the handlers of this type of event, in place of those of the internal event. */
  customType?: string;
}

/** The data of an internal event; any object for a custom type. */
export type InternalData<Type extends string> = Type extends keyof InternalEvents ? InternalEvents[Type]
  : object;

/** Something that turns events into other events: it adds its handlers when it is registered. */
export interface Dispatcher {
  /** Adds its handlers. */
  register(): void;
  /** Removes its handlers. */
  unregister(): void;
}

/** A class of dispatchers: its constructor takes the client. */
export type DispatcherType<C, D extends Dispatcher = Dispatcher> = new (client: C) => D;

/** Syncing, and handlers of events. */
export interface SyncerAPI extends HandlersAPI {
  /**
   * Syncs, and delivers events to handlers, until {@linkcode SyncerAPI.stop} is called: what follows
   * `await client.start()` runs after that. To go on once it syncs, do not await it, but
   * `await client.ready`. A sync that is running is stopped first.
   *
   * A sync that fails is tried again, after 5 seconds and then twice as long each time up to 320
   * seconds, or when the server says; the waits start again after a success. Only an error that no
   * wait mends ends it: a dead token, a store that fails, a permission that Deno does not have, or
   * an address without a homeserver. That last one is detected only at the first contact: a
   * redirect, or an answer to `/versions` that is not Matrix, or not found (404). Once a homeserver
   * has answered this client, such an answer counts as a proxy's while the server is away; at any
   * time, so does a failure (5xx), a refusal (403, 429), or no answer.
   *
   * If the homeserver refuses the place to go on from, as after its database was restored, or where
   * another server has its name, the sync begins at the start after a few tries, without what was
   * handled: `SYNC_ERRORED` says so with a {@linkcode StoreError}. A room in which the server shows
   * no event that was handled before has a `GAP`, and its timeline counts as history.
   *
   * When it resolves, handlers have settled and the requests of encryption have ended: the client
   * does not use the store until its next call, and another process can have the device. That takes
   * no longer than `closeTimeout`; handlers that still run then are logged, and may use the store
   * later. A call that needs the device takes it again, for some seconds; the next start, for good.
   *
   * @param options What to sync and how.
   * @returns Resolves when the sync has been stopped, by `stop()`, `close()`, its signal or a
   *   logout; rejects with the reason if it could not go on, such as an
   *   {@linkcode UnknownTokenError}, whose `isSoftLogout` says whether the device is still there, a
   *   {@linkcode MissingPermissionError}, or a {@linkcode HomeserverAddressError}. Handlers of
   *   `SYNC_STOPPED` receive the same reason.
   * @throws {ClientEndedError} If the client was closed, or has failed, before.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#syncing | Syncing}
   *
   * @example A bot that answers
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   *
   * const received: string[] = [];
   * client.on("m.room.message", async (event) => {
   *   received.push(event.content.body);
   *   await client.stop();
   * });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "hello");
   * await client.start();
   * console.assert(received[0] === "hello");
   * ```
   */
  start(options?: StartOptions): Promise<void>;

  /**
   * Stops syncing. Running handlers go on, and responses that are being committed are still
   * delivered, which may be a few. Called from a handler, it does not wait for that handler. When
   * all of that has ended, `start()` resolves, and nothing of the client keeps the process alive. A
   * store that you have opened stays open: close it after the client.
   *
   * @returns Resolves when the sync has ended; if the client was closed or has failed, when all of
   * it has stopped.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function stopAtSignal(client: Client): void {
   *   Deno.addSignalListener("SIGTERM", () => void client.stop());
   * }
   * ```
   */
  stop(): Promise<void>;

  /**
   * Makes a pass, for programs that run from time to time, or where no process stays: takes the
   * device, receives what is new, waits for handlers and for the requests of encryption, and hands
   * the device back, so that another process can take it at once.
   *
   * A call while a pass is under way has that one ask the server once more, and waits for it; so
   * has one of another process with the same `store`, which waits for the device as long as its
   * `passTimeout` allows.
   *
   * @param options What to sync and how, and how long it may take; the server does not wait for
   *   something to happen unless `timeout` is set.
   * @returns What was done, and what is left.
   * @throws {ValueError} If the client is syncing already.
   * @throws {ClientEndedError} If the client was closed, or has been given another access token after
   *   handlers had been cut off when the one before died: a new client calls them again.
   * @throws {HomeserverAddressError} If there is no homeserver: see {@linkcode SyncerAPI.start}.
   * @throws {MissingPermissionError} If Deno was not given a permission.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function everyMinute(client: Client): void {
   *   Deno.cron("receive what is new", "* * * * *", async () => {
   *     await client.syncOnce();
   *   });
   * }
   * ```
   */
  syncOnce(options?: SyncOnceOptions): Promise<SyncPass>;

  /**
   * Has sliding sync show a room at once, as long as others are still to come. Without it the rooms
   * with the latest messages come first. The classic sync shows all rooms at once anyway.
   *
   * @param roomId A room that the user is in.
   * @throws {ValueError} If it is not the ID of a room.
   *
   * @example
   * ```ts
   * import { Client, type ClientOptions } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export function follower(options: ClientOptions, office: RoomID): Client {
   *   const client = new Client({ ...options, sync: "sliding" });
   *   client.follow(office); // its first messages need not wait for those of a thousand others
   *   return client;
   * }
   * ```
   */
  follow(roomId: RoomID): void;

  /**
   * Delivers an event to all of its handlers, as if it had come with a sync.
   *
   * `encryptionOf()` works only for an event that this client has decrypted: one that a handler
   * received, that `crypto.decrypt()` returned, or a copy of one by `{ ...event }`. Any other event
   * counts as unencrypted.
   *
   * @param event The event.
   * @param source Its source: flags of `SyncStream`.
   * @returns A promise for each handler that still runs; none rejects.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import { type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
   *
   * export async function replay(client: Client, event: MatrixEvent): Promise<void> {
   *   await Promise.all(client.dispatchEvent(event, SyncStream.TIMELINE));
   * }
   * ```
   */
  dispatchEvent(event: MatrixEvent, source: SyncStream): Promise<void>[];

  /**
   * Delivers an internal event to its handlers.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options A type of your own in its place.
   * @returns A promise for each handler that still runs; none rejects.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function announce(client: Client): void {
   *   client.dispatchInternalEvent("com.example.curtain", { act: 2 });
   * }
   * ```
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
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org" });
   * client.on("com.example.curtain", () => console.log("The curtain rises"));
   * await client.runInternalEvent("com.example.curtain", { act: 2 });
   * ```
   */
  runInternalEvent<const Type extends string>(
    eventType: Type,
    data: InternalData<Type>,
    options?: InternalEventOptions,
  ): Promise<void>;

  /**
   * Delivers any data to the handlers of a type of event.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options Which handlers receive it, and which promises to return.
   * @returns A promise for each handler with `waitSync` that still runs, or for all; none
   *   rejects.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventOf } from "@greenroom/matrix/types";
   *
   * export async function deliver(client: Client, event: EventOf<"m.room.message">): Promise<void> {
   *   await Promise.all(client.dispatchManualEvent("m.room.message", event, { forceSynchronous: true }));
   * }
   * ```
   */
  dispatchManualEvent<const T extends EventType>(
    eventType: T,
    data: EventOf<T>,
    options?: DispatchManualOptions,
  ): Promise<void>[];

  /**
   * Handles a sync response that the application received itself: stores its state and token, and
   * delivers its events to handlers.
   *
   * @param data The response.
   * @returns A promise for the handlers, when they have been started; it does not reject.
   * @throws {ValueError} If it has no `next_batch`.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { SyncResponse } from "@greenroom/matrix/types";
   *
   * export async function replay(client: Client, recorded: SyncResponse): Promise<void> {
   *   await Promise.all(await client.handleSync(recorded));
   * }
   * ```
   */
  handleSync(data: SyncResponse): Promise<Promise<void>[]>;
}

/** Where a client is in the sync stream. */
export class SyncStore {
  readonly #actors: OpenableStore;

  /**
   * Made by the client.
   *
   * @internal
   * @param actors Have the Store.
   */
  constructor(actors: OpenableStore) {
    this.#actors = actors;
  }

  /**
   * The token that the next sync asks with; undefined before the first.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hasSynced(client: Client): Promise<boolean> {
   *   return await client.syncStore.getNextBatch() !== undefined;
   * }
   * ```
   */
  async getNextBatch(): Promise<SyncToken | undefined> {
    return (await (await openedStore(this.#actors)).position()).nextBatch;
  }

  /**
   * Moves to another position, for the next sync. A running sync overwrites it with its next
   * answer: stop the sync first.
   *
   * @param nextBatch The token to ask with; undefined starts from the beginning.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function beginAgain(client: Client): Promise<void> {
   *   await client.stop();
   *   await client.syncStore.setNextBatch(undefined);
   * }
   * ```
   */
  async setNextBatch(nextBatch: SyncToken | undefined): Promise<void> {
    await (await openedStore(this.#actors)).move(nextBatch);
  }
}

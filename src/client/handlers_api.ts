/**
 * How handlers of events are added and removed, and what an application can do about events that were left
 * out.
 *
 * Over 300 lines because what handlers have failed at is asked for where they are added.
 *
 * @module
 */

import type {
  DispatcherHandlers,
  Handler,
  HandlerOptions,
  SessionHandlerOptions,
} from "../actors/dispatcher/dispatcher.ts";
import type { ActorRef } from "../actors/kernel/mod.ts";
import { type OpenableStore, openedStore, told } from "../actors/store/mod.ts";
import type { MatrixEvent } from "../types/events/event.ts";
import type { EventOf, HandledType, RedactableEventOf } from "../types/events/event_of.ts";
import type { EventType } from "../types/events/event_type.ts";
import type { EventQuarantined } from "../types/events/internal_event.ts";

/**
 * The result of `on(type)`: adds the handler that it is called with. As a decorator, it adds a
 * method, bound to its object.
 */
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

/** The event that a handler of a type receives: also redacted ones with `redacted: true`. */
export type EventFor<T extends EventType, Redacted extends boolean> = [Redacted] extends [false] ? EventOf<T>
  : RedactableEventOf<T>;

/** The options of a handler, with whether it takes redacted events. */
export type OptionsFor<Options extends HandlerOptions, Redacted extends boolean> =
  & Options
  & {
    /** See {@linkcode HandlerOptions.redacted}. */
    redacted?: Redacted;
  };

/** Handlers of events. */
export interface HandlersAPI {
  /**
   * Adds a handler of all events, Greenroom's own excepted.
   *
   * @param handler Called with each event. One that throws, or whose promise rejects, is reported
   *   with a `HANDLER_ERROR` event; the sync goes on. One whose promise rejects when the client
   *   can't go on (its token died, it is being closed) is called again with the next start. It has
   *   settled when the client's operations that it has begun have ended, too, awaited or not; what
   *   fails in it and is not awaited is reported, and does not end the process.
   * @param options How the handler is called, and its name.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function count(client: Client, counts: Map<string, number>): void {
   *   client.addEventHandler(({ type }) => void counts.set(type, (counts.get(type) ?? 0) + 1));
   * }
   * ```
   */
  addEventHandler(handler: Handler<MatrixEvent>, options?: HandlerOptions): void;

  /**
   * Adds a handler of a type of event with a session, which lasts from one event to the next.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type, and with its session, which it may change:
   *   see {@linkcode defineSession}.
   * @param options How it is called, and the session.
   * @throws {ValueError} If the type is no event type.
   */
  addEventHandler<
    const T extends EventType,
    State extends object,
    Redacted extends boolean = false,
  >(
    eventType: T & HandledType<T>,
    handler: Handler<EventFor<T, Redacted>, State>,
    options: OptionsFor<SessionHandlerOptions<State>, Redacted>,
  ): void;

  /**
   * Adds a handler of a type of event.
   *
   * Handlers are started in the order of a room's events and run side by side; `sequential` ones
   * take a room's events one at a time. A handler that is added again for the same type gets the
   * new options.
   *
   * The content has the type it says: content of the specification's types has been checked, that
   * of your own by their schema. An optional field of the wrong type is removed; an event with any
   * other mistake does not reach the handler. `MALFORMED` events report both. Redacted events come
   * only with the option `redacted`. To get everything as it was sent, add a handler of all events,
   * or of a definition without a schema.
   *
   * @param eventType A name of the specification or of Greenroom's own (`InternalEventType`), any
   *   other name, a type with its class from `eventType()`, or one of your own from
   *   `defineEvent()`, whose schema then checks the content.
   * @param handler Called with each event of the type.
   * @param options How the handler is called, and its name.
   * @throws {ValueError} If the type is no event type.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function greet(client: Client): void {
   *   client.addEventHandler("m.room.message", async ({ room_id, content }) => {
   *     if (content.body === "!hello") await client.sendText(room_id, "Hello!");
   *   });
   * }
   * ```
   */
  addEventHandler<const T extends EventType, Redacted extends boolean = false>(
    eventType: T & HandledType<T>,
    handler: Handler<EventFor<T, Redacted>>,
    options?: OptionsFor<HandlerOptions, Redacted>,
  ): void;

  /**
   * Removes a handler of all events. Does nothing if it is not there.
   *
   * @param handler The same function that was added.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { MatrixEvent } from "@greenroom/matrix/types";
   *
   * export function onFirst(client: Client, handle: (event: MatrixEvent) => void): void {
   *   client.addEventHandler(function first(event) {
   *     client.removeEventHandler(first);
   *     handle(event);
   *   });
   * }
   * ```
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
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function collect(client: Client, types: Set<string>): void {
   *   client.on(({ type }) => void types.add(type));
   * }
   * ```
   */
  on<H extends Handler<MatrixEvent>>(handler: H): H;

  /**
   * Returns a function that adds handlers of a type of event, and decorates methods.
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
   *     console.log("someone joined", event.room_id);
   *   }
   * }
   * new Greeter();
   * ```
   */
  on<const T extends EventType>(eventType: T & HandledType<T>): HandlerDecorator<T>;

  /**
   * Adds a handler of a type of event with a session, which lasts from one event to the next.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type, and with its session, which it may change:
   *   see {@linkcode defineSession}.
   * @param options How it is called, and the session.
   * @returns The handler.
   */
  on<
    const T extends EventType,
    State extends object,
    Redacted extends boolean = false,
  >(
    eventType: T & HandledType<T>,
    handler: Handler<EventFor<T, Redacted>, State>,
    options: OptionsFor<SessionHandlerOptions<State>, Redacted>,
  ): Handler<EventFor<T, Redacted>, State>;

  /**
   * Adds a handler of a type of event.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type.
   * @param options How the handler is called, and its name.
   * @returns The handler.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function echo(client: Client): void {
   *   client.on("m.room.message", async ({ room_id, content, sender }) => {
   *     if (sender !== client.mxid) await client.sendNotice(room_id, content.body);
   *   }, { name: "echo" });
   * }
   * ```
   */
  on<
    const T extends EventType,
    H extends Handler<EventFor<T, Redacted>>,
    Redacted extends boolean = false,
  >(
    eventType: T & HandledType<T>,
    handler: H,
    options?: OptionsFor<HandlerOptions, Redacted>,
  ): H;
}

/**
 * Events that are left out for a time, since the process has crashed again and again while they
 * were handled: three times within five seconds after that began, or twenty times later. An end by
 * `stop()` or `close()` does not count.
 *
 * Each is kept in the `store`, with what it says, at most 100 of them and 4 MiB, and tried again by
 * itself while the client syncs: after 10 seconds, then a minute, 10 minutes, an hour, six hours,
 * and once a day, with the end of the next sync: up to 30 seconds later (`timeout`) where nothing comes. Once
 * its handlers have settled, or it was redacted, it is gone.
 * `EVENT_QUARANTINED` reports each one that is left out. Without a `store` it is always empty.
 *
 * @example
 * ```ts
 * import { Client, MemoryStore } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using bot = new Client({
 *   baseUrl: homeserver.baseUrl,
 *   fetch: homeserver.fetch,
 *   accessToken,
 *   store: new MemoryStore(), // or one that outlives the process
 * });
 * bot.on("EVENT_QUARANTINED", ({ id, attempts, nextTry }) => console.log(id, "ended", attempts, "lives;", nextTry));
 * bot.on("m.room.message", () => {}); // repaired by now
 * for (const { id, type } of await bot.quarantine.list()) {
 *   if (type === "m.room.message") await bot.quarantine.redeliver(id);
 *   else await bot.quarantine.drop(id);
 * }
 * ```
 */
export interface QuarantineAPI {
  /**
   * The events that are left out, the oldest first.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leftOut(client: Client): Promise<string[]> {
   *   return (await client.quarantine.list()).map(({ id, type }) => `${type} ${id}`);
   * }
   * ```
   */
  list(): Promise<EventQuarantined[]>;
  /**
   * Delivers an event again now. It is the same delivery: what its handlers send has the
   * transaction IDs that it had, and handlers that have settled are not called.
   *
   * @param id The event's ID, as `list()` returns it.
   * @returns Resolves when the handlers have settled; the event is not left out any more.
   * @throws {ValueError} If there is none of the ID, or it has no handler.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function tryAgain(client: Client): Promise<void> {
   *   for (const { id } of await client.quarantine.list()) await client.quarantine.redeliver(id);
   * }
   * ```
   */
  redeliver(id: string): Promise<void>;
  /**
   * Forgets an event: it is not delivered any more.
   *
   * @param id The event's ID, as `list()` returns it.
   * @returns Whether there was one.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function giveUp(client: Client, id: string): Promise<void> {
   *   if (!await client.quarantine.drop(id)) console.log("It has been handled since");
   * }
   * ```
   */
  drop(id: string): Promise<boolean>;
}

/** Who has such events. */
export interface QuarantineActors extends OpenableStore {
  /** Delivers them. */
  readonly dispatcher: ActorRef<DispatcherHandlers>;
}

/** Makes the operations on events that were left out. */
export function quarantineAPI(actors: QuarantineActors): QuarantineAPI {
  return {
    async list() {
      return (await (await openedStore(actors)).quarantined()).map(told);
    },
    async redeliver(id) {
      await actors.ready();
      await actors.dispatcher.redeliver(id);
    },
    async drop(id) {
      await actors.ready();
      return await actors.dispatcher.drop(id);
    },
  };
}

/**
 * What an application can do about events that were left out.
 *
 * @module
 */

import type { EventQuarantined } from "../types/events/internal_event.ts";
import type { ActorRef } from "../actors/kernel/mod.ts";
import type { DispatcherHandlers } from "../actors/dispatcher/dispatcher.ts";
import { type OpenableStore, openedStore, told } from "../actors/store/mod.ts";

/**
 * Events that are left out for a time, since the process has crashed again and again while they
 * were handled: three times within five seconds after that began, or twenty times later. An end by
 * `stop()` or `close()` does not count.
 *
 * Each is kept in the `store`, with what it says, at most 100 of them and 4 MiB, and tried again by
 * itself while the client syncs: after 10 seconds, then a minute, 10 minutes, an hour, six hours,
 * and once a day. Once its handlers have settled, or it was redacted, it is gone.
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

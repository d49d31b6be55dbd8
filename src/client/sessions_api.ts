/**
 * Sessions outside of handlers, and work with the guarantees of a handler.
 *
 * @module
 */

import {
  DeliveryScope,
  type HandlerContext,
  type HandlerSessions,
  keyOfSession,
  PlainContext,
  type SendIds,
  type SessionChange,
  SessionContext,
  sessionKeyOf,
  SESSIONS,
} from "../actors/dispatcher/dispatcher.ts";
import { type OpenableStore, openedStore } from "../actors/store/mod.ts";
import { HandlerCall } from "../base/handler_call.ts";
import type { Logger } from "../base/log.ts";
import { placeOf } from "../base/own_code.ts";
import { checkFunction, checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { compareParts, encodeValue, type StoreKey } from "../store/base/mod.ts";
import type { SessionDefinition, SessionKey } from "../types/events/define_session.ts";

/** Does some work while the device is held. */
export type Hold = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Leaves out sessions. Default: all are listed. */
export interface ListSessionsOptions {
  /** Only sessions whose key comes after this one, in the order of UTF-8. Default: all. */
  after?: SessionKey;
  /** Only sessions whose key comes before this one. Default: all. */
  before?: SessionKey;
}

const LISTING: OptionNames<ListSessionsOptions> = { after: true, before: true };

/** A session as it is stored. */
export interface StoredSession<State extends object> {
  /** A room, a user, or what the definition says. */
  readonly key: SessionKey;
  /** A copy of what handlers have left. */
  readonly state: State;
}

/**
 * What handlers remember, read and changed from outside of them. A change is one commit; it waits
 * for handlers that have the session, and they for it.
 *
 * @example
 * ```ts
 * import { Client, defineSession } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
 * await bot.sessions.update(points, "@alice:localhost", (state) => void (state.points += 5));
 * for await (const { key, state } of bot.sessions.list(points)) console.log(key, state.points);
 * ```
 */
export interface SessionsAPI {
  /**
   * Reads a session.
   *
   * @param definition The definition of the session.
   * @param key The key of the session.
   * @returns A copy of what handlers have left; undefined if there is none.
   * @throws {ValueError} If the definition has no such key, or its schema refuses what was kept.
   *
   * @example
   * ```ts
   * import { type Client, defineSession } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
   *
   * export async function pointsOf(client: Client, userId: UserID): Promise<number> {
   *   return (await client.sessions.read(points, userId))?.points ?? 0;
   * }
   * ```
   */
  read<State extends object>(
    definition: SessionDefinition<State>,
    key: SessionKey,
  ): Promise<State | undefined>;
  /**
   * Changes a session, in a commit of its own. In a handler, `ctx.updateSession()` changes it in the
   * commit of the handler; one that has the session itself as `ctx.session` must not wait for this.
   *
   * @param definition The definition of the session.
   * @param key The key of the session.
   * @param change What to make of it.
   * @returns Resolves when that is committed.
   * @throws {ValueError} If the definition has no such key, or what was made can't be kept.
   *
   * @example
   * ```ts
   * import { type Client, defineSession } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
   *
   * export async function reward(client: Client, userId: UserID): Promise<void> {
   *   await client.sessions.update(points, userId, (state) => void (state.points += 5));
   * }
   * ```
   */
  update<State extends object>(
    definition: SessionDefinition<State>,
    key: SessionKey,
    change: SessionChange<State>,
  ): Promise<void>;
  /**
   * Ends a session. Does nothing if there is none.
   *
   * @param definition The definition of the session.
   * @param key The key of the session.
   * @throws {ValueError} If the definition has no such key.
   *
   * @example
   * ```ts
   * import { type Client, defineSession } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
   *
   * export async function forget(client: Client, userId: UserID): Promise<void> {
   *   await client.sessions.end(points, userId);
   * }
   * ```
   */
  end<State extends object>(definition: SessionDefinition<State>, key: SessionKey): Promise<void>;
  /**
   * The sessions of a definition, in the order of their keys, as far as they are committed. They are
   * read as they are asked for.
   *
   * @param definition The definition of the sessions.
   * @param options Limits the list to a part of the sessions.
   *
   * @example
   * ```ts
   * import { type Client, defineSession } from "@greenroom/matrix";
   *
   * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
   *
   * export async function total(client: Client): Promise<number> {
   *   let sum = 0;
   *   for await (const { state } of client.sessions.list(points)) sum += state.points;
   *   return sum;
   * }
   * ```
   */
  list<State extends object>(
    definition: SessionDefinition<State>,
    options?: ListSessionsOptions,
  ): AsyncIterableIterator<StoredSession<State>>;
}

/** Sessions, and work outside of handlers. */
export interface TasksAPI {
  /** Sessions, read and changed from outside of handlers. */
  readonly sessions: SessionsAPI;
  /**
   * Does work with the guarantees of a handler: what it sends has transaction IDs made of its name,
   * so that the server stores it once, however often the work is done; and what it changes with
   * `ctx.updateSession()` is committed together, when it has ended; from then on that throws. So work that a
   * session plans for a time is done once, even through crashes.
   *
   * @param name A name that this work alone has, the same each time. 1 to 200 characters.
   * @param work What to do.
   * @returns What the work returned, when its changes are committed.
   * @throws {ValueError} If the name is empty or too long; what the work throws.
   *
   * @example
   * ```ts
   * import { Client, defineSession } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await bot.createRoom();
   * const reminders = defineSession({ name: "reminders", per: () => undefined, initial: () => ({ text: "" }) });
   * await bot.sessions.update(reminders, "1", (reminder) => void (reminder.text = "Tea!"));
   *
   * for await (const { key, state } of bot.sessions.list(reminders)) {
   *   await bot.runTask(`reminder ${key}`, async (ctx) => {
   *     await bot.sendText(roomId, state.text);
   *     ctx.updateSession(reminders, key, () => null);
   *   });
   * }
   * ```
   */
  runTask<Result>(
    name: string,
    work: (context: HandlerContext) => Result | Promise<Result>,
  ): Promise<Result>;
}

/** Whose sessions they are. */
export interface TaskActors extends OpenableStore {
  /** Have the sessions; others, if they take their place. */
  readonly sessions: HandlerSessions;
  /** Makes transaction IDs. */
  readonly sendIds: SendIds;
  /** Takes the device while the store is used. */
  readonly hold: Hold;
}

const MAX_NAME = 200;
/** How many sessions are read at once. */
const PAGE = 100;

/** Makes the operations on sessions, and on work outside of handlers. */
export function tasksAPI(actors: TaskActors, log: Logger): TasksAPI {
  const update: SessionsAPI["update"] = async (definition, key, change) => {
    const place = sessionKeyOf(definition, key);
    await actors.hold(() => actors.sessions.update([{ definition, key: place, change }]));
  };
  return {
    sessions: {
      update,
      end: (definition, key) => update(definition, key, () => null),
      async read(definition, key) {
        const place = sessionKeyOf(definition, key);
        const bytes = await actors.hold(() => actors.sessions.read(place));
        return bytes === undefined
          ? undefined
          : (await SessionContext.of(definition, undefined, bytes)).session;
      },
      async *list(definition, options = {}) {
        checkOptions(options, LISTING, "list sessions");
        const { after, before } = options;
        const prefix = [SESSIONS, definition.name];
        let last = after === undefined ? undefined : sessionKeyOf(definition, after, "bound");
        const end = before === undefined ? undefined : sessionKeyOf(definition, before, "bound");
        for (;;) {
          const page = await actors.hold(async () => {
            return await (await openedStore(actors)).listRecords({ prefix, after: last, limit: PAGE });
          });
          for (const { key, value } of page) {
            if (end !== undefined && compareKeys(key, end) >= 0) return;
            const context = await SessionContext.of(definition, undefined, encodeValue(value));
            yield { key: keyOfSession(key), state: context.session };
          }
          if (page.length < PAGE) return;
          last = page.at(-1)?.key;
        }
      },
    },
    async runTask(name, work) {
      if (typeof name !== "string" || name === "" || name.length > MAX_NAME) {
        throw new ValueError(`Cannot run a task: its name must have 1 to ${MAX_NAME} characters`);
      }
      checkFunction(work, "run a task", "its work");
      const scope = new DeliveryScope({ event_id: "task", type: "task" }, { id: name }, actors.sendIds);
      const context = new PlainContext(scope, {
        update: (updates) => actors.hold(() => actors.sessions.update(updates)),
      });
      const call = new HandlerCall(undefined, scope, (error, { details }) => {
        log.error("A promise that a task did not await was rejected", {
          ...{ task: name, ...details },
          at: placeOf(error),
          error,
        });
      });
      try {
        const result = await call.run((_, ctx: HandlerContext) => work(ctx), context);
        await call.settled();
        await context.settle();
        return result as Awaited<ReturnType<typeof work>>;
      } catch (error) {
        await call.settled();
        context.end();
        throw error;
      }
    },
  };
}

/** Compares keys of one definition: negative if the first comes first. */
function compareKeys(first: StoreKey, second: StoreKey): number {
  for (const [index, part] of first.entries()) {
    const order = compareParts(String(part), String(second[index] ?? ""));
    if (order !== 0) return order;
  }
  return first.length - second.length;
}

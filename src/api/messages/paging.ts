/**
 * Reading on to the end: the operations that answer in pages, as iterators over what is in the
 * pages.
 *
 * @module
 */

import { calledAs } from "../http/mod.ts";
import type { ClientEvent } from "../../types/events/event.ts";
import type { PaginationDirection } from "../../types/enums.ts";
import type { EventID, RoomID, SyncToken } from "../../types/ids.ts";
import type { PublicRoomsChunk, SpaceHierarchyRoom } from "../../types/api/public_rooms.ts";
import type {
  DirectoryAPI,
  GetRoomDirectoryOptions,
  GetSpaceHierarchyOptions,
  SpacesAPI,
} from "../rooms/rooms.ts";
import type { GetMessagesOptions, MessagesAPI } from "./messages.ts";
import type { GetRelationsOptions, GetThreadsOptions, RelationsAPI } from "./relations.ts";

/** Options of {@link PagingAPI.iterateMessages}. */
export interface IterateMessagesOptions extends GetMessagesOptions {
  /** The token at which to begin. Default: the newest end, or the oldest with `f`. */
  fromToken?: SyncToken;
}

/**
 * Iterators over everything that an operation gives in pages. The next page is asked for when the
 * one before is used up, and `limit` is the size of a page; a caller that has seen enough ends the
 * loop.
 */
export interface PagingAPI {
  /**
   * Reads a room's history.
   *
   * @param roomId The room.
   * @param direction `b` from new to old, `f` from old to new.
   * @param options Those of `getMessages()`, and where to begin.
   * @returns The events one by one.
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * for (const line of ["To be", "or not"]) await client.sendText(roomId, line);
   * const lines: unknown[] = [];
   * for await (const { type, content } of client.iterateMessages(roomId, "f", { limit: 3 })) {
   *   if (type === "m.room.message") lines.push(content.body);
   * }
   * console.assert(lines.join() === "To be,or not");
   * ```
   */
  iterateMessages(
    roomId: RoomID,
    direction: PaginationDirection,
    options?: IterateMessagesOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads the events that relate to an event.
   *
   * @param roomId The room.
   * @param eventId The event that is related to.
   * @param options Those of `getRelations()`.
   * @returns The events one by one.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function countReplies(client: Client, roomId: RoomID, root: EventID): Promise<number> {
   *   const replies = client.iterateRelations(roomId, root, { relType: "m.thread" });
   *   return (await Array.fromAsync(replies)).length;
   * }
   * ```
   */
  iterateRelations(
    roomId: RoomID,
    eventId: EventID,
    options?: GetRelationsOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads a room's threads.
   *
   * @param roomId The room.
   * @param options Those of `getThreads()`.
   * @returns The roots of the threads one by one.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function threadStarters(client: Client, roomId: RoomID): Promise<Set<string>> {
   *   const senders = new Set<string>();
   *   for await (const root of client.iterateThreads(roomId)) senders.add(root.sender);
   *   return senders;
   * }
   * ```
   */
  iterateThreads(roomId: RoomID, options?: GetThreadsOptions): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads the rooms of a space.
   *
   * @param roomId The space.
   * @param options Those of `getSpaceHierarchy()`.
   * @returns The rooms one by one.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function joinSpace(client: Client, spaceId: RoomID): Promise<void> {
   *   for await (const { room_id } of client.iterateSpaceRooms(spaceId)) await client.joinRoomById(room_id);
   * }
   * ```
   */
  iterateSpaceRooms(
    roomId: RoomID,
    options?: GetSpaceHierarchyOptions,
  ): AsyncGenerator<SpaceHierarchyRoom, void, undefined>;

  /**
   * Reads the room directory.
   *
   * @param options Those of `getRoomDirectory()`.
   * @returns The rooms one by one.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function findRoom(client: Client, name: string): Promise<string | undefined> {
   *   for await (const room of client.iterateRoomDirectory()) {
   *     if (room.name === name) return room.room_id;
   *   }
   *   return undefined;
   * }
   * ```
   */
  iterateRoomDirectory(options?: GetRoomDirectoryOptions): AsyncGenerator<PublicRoomsChunk, void, undefined>;
}

/** The operations that answer in pages. */
type PagedAPI =
  & Pick<MessagesAPI, "getMessages">
  & Pick<DirectoryAPI, "getRoomDirectory">
  & RelationsAPI
  & SpacesAPI;

/** Makes the iterators. */
export function pagingAPI(api: PagedAPI): PagingAPI {
  return {
    iterateMessages: (roomId, direction, { fromToken, ...options } = {}) =>
      items(fromToken, async (from) => {
        const { chunk, end } = await api.getMessages(
          roomId,
          direction,
          from,
          calledAs(options, "iterateMessages"),
        );
        return [chunk, end];
      }),
    iterateRelations: (roomId, eventId, options = {}) =>
      items(options.from, async (from) => {
        const { chunk, next_batch } = await api.getRelations(roomId, eventId, {
          ...calledAs(options, "iterateRelations"),
          from,
        });
        return [chunk, next_batch];
      }),
    iterateThreads: (roomId, options = {}) =>
      items(options.from, async (from) => {
        const { chunk, next_batch } = await api.getThreads(roomId, {
          ...calledAs(options, "iterateThreads"),
          from,
        });
        return [chunk, next_batch];
      }),
    iterateSpaceRooms: (roomId, options = {}) =>
      items(options.from, async (from) => {
        const { rooms, next_batch } = await api.getSpaceHierarchy(roomId, {
          ...calledAs(options, "iterateSpaceRooms"),
          from,
        });
        return [rooms, next_batch];
      }),
    iterateRoomDirectory: (options = {}) =>
      items(options.since, async (since) => {
        const { chunk, next_batch } = await api.getRoomDirectory({
          ...calledAs(options, "iterateRoomDirectory"),
          since,
        });
        return [chunk, next_batch];
      }),
  };
}

/**
 * What is in the pages from a token on. Empty pages do not end it; a page whose next one is itself
 * does.
 */
async function* items<Item>(
  first: string | undefined,
  page: (from: string | undefined) => Promise<[items: readonly Item[], next: string | undefined]>,
): AsyncGenerator<Item, void, undefined> {
  let from = first;
  for (;;) {
    const [found, next] = await page(from);
    yield* found;
    if (!next || next === from) return;
    from = next;
  }
}

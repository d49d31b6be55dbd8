/**
 * The rooms that two users share.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/2666 | MSC2666}
 * @module
 */

import { CALL, endpoint, type RequestOptions, type Session, shaped } from "../http/mod.ts";
import { list, object } from "../../types/checks/composite_shapes.ts";
import { optional, roomId, text } from "../../types/checks/shape.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { RoomID, UserID } from "../../types/ids.ts";

interface MutualRooms {
  joined: RoomID[];
  next_batch?: string;
}

const mutual = endpoint(
  "getMutualRooms",
  "GET",
  "/_matrix/client/v1/mutual_rooms",
  shaped(object<MutualRooms>({ joined: list(roomId), next_batch: optional(text) })),
);

/** How many pages are read: a server that has more has no end. */
const MAX_PAGES = 1_000;

/** The operation on rooms that users share. */
export interface MutualRoomsAPI {
  /**
   * Lists the rooms that the user and another one are in, as the server knows them: it needs no sync.
   *
   * @param userId The other user.
   * @param options Request options.
   * @throws {UnrecognizedError} If the homeserver can't say. `client.stateStore.getSharedRooms()` knows the rooms
   *   that syncs have shown.
   * @throws {InvalidParamError} If it is the own user.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/2666 | GET /mutual_rooms}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function banEverywhere(client: Client, userId: UserID, reason: string): Promise<void> {
   *   for (const roomId of await client.getMutualRooms(userId)) await client.banUser(roomId, userId, { reason });
   * }
   * ```
   */
  getMutualRooms(userId: UserID, options?: RequestOptions): Promise<RoomID[]>;
}

/** Makes the operation on rooms that users share. */
export function mutualRoomsAPI({ http }: Session): MutualRoomsAPI {
  return {
    async getMutualRooms(userId, options) {
      checkIdentifier("userId", userId);
      const rooms: RoomID[] = [];
      let from: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = { user_id: userId, from };
        const { joined, next_batch } = await http[CALL](mutual, { path: {}, query }, options);
        for (const room of joined) rooms.push(room);
        if (next_batch === undefined || next_batch === from) break;
        from = next_batch;
      }
      return rooms;
    },
  };
}

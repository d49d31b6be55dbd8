/**
 * The rooms that two users share.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/2666 | MSC2666}
 * @module
 */

import { CALL, endpoint, type RequestOptions, type Session, shaped } from "../http/mod.ts";
import { list, object } from "../../types/checks/composite_shapes.ts";
import { optional, roomId, text } from "../../types/checks/shape.ts";
import { printable } from "../../errors/matrix_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
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

/** A server that has more pages has no end. */
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
   * @throws {ServiceResponseError} If the pages of the server have no end.
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

function endless(answer: string): ServiceResponseError {
  return new ServiceResponseError(`Cannot getMutualRooms: the server ${answer}; ask who runs it`);
}

/** Makes the operation on rooms that users share. */
export function mutualRoomsAPI({ http }: Session): MutualRoomsAPI {
  return {
    async getMutualRooms(userId, options) {
      checkIdentifier("userId", userId);
      const rooms: RoomID[] = [];
      const tokens = new Set<string>();
      let from: string | undefined;
      while (tokens.size < MAX_PAGES) {
        const query = { user_id: userId, from };
        const { joined, next_batch } = await http[CALL](mutual, { path: {}, query }, options);
        for (const room of joined) rooms.push(room);
        if (next_batch === undefined) return rooms;
        if (tokens.has(next_batch)) throw endless(`names the page "${printable(next_batch, 64)}" twice`);
        tokens.add(from = next_batch);
      }
      throw endless("has more than 1,000 pages");
    },
  };
}

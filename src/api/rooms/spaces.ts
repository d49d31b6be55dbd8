/**
 * Spaces: rooms that list rooms.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#spaces | Spaces}
 * @module
 */

import { CALL } from "../http/http_internals.ts";
import type { RoomID } from "../../types/ids.ts";
import type { SpaceHierarchyResponse, SpaceHierarchyRoom } from "../../types/api/public_rooms.ts";
import { endpoint } from "../http/endpoint.ts";
import { checkInteger } from "../http/integer.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";
import { shaped } from "../messages/incoming.ts";
import { list, object } from "../../types/checks/composite_shapes.ts";
import { childEvent } from "../../types/checks/event_check.ts";
import { type Members, optional, text } from "../../types/checks/shape.ts";

/**
 * What others wrote is looked at; what the server says of the rooms, and whether it says it, is
 * not.
 */
const members: object = { children_state: optional(list(childEvent)) };
const room = object<SpaceHierarchyRoom>(members as Members<SpaceHierarchyRoom>);
const hierarchy = endpoint(
  "getSpaceHierarchy",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/hierarchy",
  shaped(object<SpaceHierarchyResponse>({ rooms: list(room), next_batch: optional(text) })),
);

/** Options of {@link SpacesAPI.getSpaceHierarchy}. */
export interface GetSpaceHierarchyOptions extends RequestOptions {
  /** Whether to have only rooms that the space suggests. Default: false. */
  suggestedOnly?: boolean;
  /** At most how many rooms in a page, at least 1. Default: as the server likes. */
  limit?: number;
  /** How many spaces deep; must be the same for all pages. Default: as deep as the server goes. */
  maxDepth?: number;
  /** Where to begin: `next_batch` of another page. Default: the space. */
  from?: string;
}

/** Operations on spaces. */
export interface SpacesAPI {
  /**
   * Reads a page of a space's rooms, those of its spaces included.
   *
   * @param roomId The space.
   * @param options Which rooms, where to begin, and request options.
   * @returns The rooms, each space before the rooms in it, and the token of the next page if there
   *   is one.
   * @throws {ForbiddenError} If the caller may not see the space.
   * @throws {ValueError} If `limit` or `maxDepth` is too small or no integer.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1roomsroomidhierarchy | GET /rooms/{roomId}/hierarchy}
   */
  getSpaceHierarchy(roomId: RoomID, options?: GetSpaceHierarchyOptions): Promise<SpaceHierarchyResponse>;
}

/** Makes the operations on spaces. */
export function spacesAPI({ http }: Session): SpacesAPI {
  return {
    async getSpaceHierarchy(roomId, { suggestedOnly, limit, maxDepth, from, ...options } = {}) {
      checkInteger("limit", limit, 1);
      checkInteger("maxDepth", maxDepth);
      const query = { suggested_only: suggestedOnly || undefined, limit, max_depth: maxDepth, from };
      return await http[CALL](hierarchy, { path: { roomId }, query }, options);
    },
  };
}

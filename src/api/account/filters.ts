/**
 * Filters, stored by the server: what a sync contains.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#filtering | Filtering}
 * @module
 */

import { CALL, endpoint, field, fields, type RequestOptions, type Session } from "../http/mod.ts";
import type { Filter } from "../../types/events/sync_response.ts";
import type { FilterID } from "../../types/ids.ts";

const create = endpoint(
  "createFilter",
  "POST",
  "/_matrix/client/v3/user/{userId}/filter",
  field<FilterID>("filter_id", "string"),
  { idempotent: true }, // a second copy of a filter changes nothing
);

const get = endpoint(
  "getFilter",
  "GET",
  "/_matrix/client/v3/user/{userId}/filter/{filterId}",
  fields<Filter>({ event_fields: "array?", presence: "object?", account_data: "object?", room: "object?" }),
);

/** Operations on the user's filters. */
export interface FiltersAPI {
  /**
   * Uploads a filter.
   *
   * @param filterParams The filter.
   * @param options Request options.
   * @returns The filter's ID, for `sync()`.
   * @throws {MatrixRequestError} If the server does not take the filter.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3useruseridfilter | POST /user/{userId}/filter}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const filterId = await client.createFilter({ room: { timeline: { limit: 5 } } });
   * const filter = await client.getFilter(filterId);
   * console.assert(filter.room?.timeline?.limit === 5);
   * ```
   */
  createFilter(filterParams: Filter, options?: RequestOptions): Promise<FilterID>;

  /**
   * Gets a filter.
   *
   * @param filterId The filter's ID.
   * @param options Request options.
   * @returns The filter.
   * @throws {NotFoundError} If the user has no such filter.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridfilterfilterid | GET /user/{userId}/filter/{filterId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hasFilter(client: Client, filterId: string): Promise<boolean> {
   *   return (await client.getFilter(filterId)).room !== undefined;
   * }
   * ```
   */
  getFilter(filterId: FilterID, options?: RequestOptions): Promise<Filter>;
}

/** Makes the operations on filters. */
export function filtersAPI(session: Session): FiltersAPI {
  const { http } = session;
  return {
    async createFilter(filterParams, options) {
      const userId = await session.userId(options);
      return await http[CALL](create, { path: { userId }, body: filterParams }, options);
    },
    async getFilter(filterId, options) {
      const userId = await session.userId(options);
      return await http[CALL](get, { path: { userId, filterId } }, options);
    },
  };
}

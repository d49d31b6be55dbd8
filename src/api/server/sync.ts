/**
 * The long poll for what happened.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#syncing | Syncing}
 * @module
 */

import { CALL, checkInteger, endpoint, fields, type RequestOptions, type Session } from "../http/mod.ts";
import type { PresenceState } from "../../types/enums.ts";
import type { Filter, SyncResponse } from "../../types/events/sync_response.ts";
import type { FilterID, SyncToken } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";

const sync = endpoint(
  "sync",
  "GET",
  "/_matrix/client/v3/sync",
  fields<SyncResponse>({
    next_batch: "string",
    rooms: "object?",
    presence: "object?",
    account_data: "object?",
    to_device: "object?",
    device_lists: "object?",
    device_one_time_keys_count: "object?",
  }),
  { idempotent: false }, // the caller decides when to poll again
);

/** Up to this wait, in milliseconds, a request asks for what there is, and not for what comes next. */
const AT_ONCE = 1_000;
/** How long a server may take to collect what there is, in milliseconds. */
const COLLECTING = 600_000;

/** What `use_state_after` and `state_after` began with before version 1.16. Synapse has no other names. */
const UNSTABLE = {
  use: "org.matrix.msc4222.use_state_after",
  state: "org.matrix.msc4222.state_after",
} as const;

/** Options of {@link SyncAPI.sync}. */
export interface SyncOptions extends RequestOptions {
  /** Where to go on: `next_batch` of the response before. Default: none, for an initial sync. */
  since?: SyncToken;
  /**
   * How long the server waits for something to happen, in milliseconds. Default: 30,000. Unless a
   * `requestTimeout` says otherwise, this request's or the client's, the request fails when nothing
   * has come 30 s after that; ten minutes after that without `since`, with `fullState`, or if the
   * server is not to wait: of a large account, or after a long absence, it has much to collect.
   */
  timeout?: number;
  /** What to receive: the ID of an uploaded filter, or a filter. Default: everything. */
  filterId?: FilterID | Filter;
  /** Whether to get the full state of all rooms, and not only what changed. Default: false. */
  fullState?: boolean;
  /** What the user's presence becomes by this request. Default: what the server does, `online`. */
  setPresence?: PresenceState;
  /**
   * Whether to get state as it is after the timeline, in `state_after`, and not before it, in
   * `state`. It is asked for by its name of before version 1.16 too, and answered by that of the
   * specification. Servers that do not know it answer with `state`. Default: false.
   */
  useStateAfter?: boolean;
}

/** The operation that everything incoming comes from. */
export interface SyncAPI {
  /**
   * Sends one sync request: what has happened since a token.
   * `Syncer` does so in a loop, and is what bots want.
   *
   * The transport never repeats this request, whatever `retry` says.
   *
   * @param options Where to go on, how long to wait, what to receive, and request options.
   * @returns The response as it is.
   * @throws {UnknownTokenError} If the session has ended.
   * @throws {ValueError} If `timeout` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3sync | GET /sync}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const { rooms } = await client.sync({ timeout: 0, filterId: { room: { timeline: { limit: 1 } } } });
   * console.assert(rooms?.join?.[roomId]?.timeline?.events?.length === 1);
   * ```
   */
  sync(options?: SyncOptions): Promise<SyncResponse>;
}

/** Makes the operation that asks what happened. */
export function syncAPI({ http }: Session): SyncAPI {
  return {
    async sync(
      { since, timeout = 30_000, filterId, fullState, setPresence, useStateAfter, ...options } = {},
    ) {
      checkInteger("timeout", timeout);
      const query = {
        since: since || undefined,
        timeout,
        filter: (typeof filterId === "object" ? JSON.stringify(filterId) : filterId) || undefined,
        full_state: fullState || undefined,
        set_presence: setPresence,
        use_state_after: useStateAfter || undefined,
        [UNSTABLE.use]: useStateAfter || undefined,
      };
      const isCollected = !since || fullState === true || timeout <= AT_ONCE;
      const requestTimeout = http.limit(timeout, isCollected ? COLLECTING : undefined);
      const response = await http[CALL](sync, { path: {}, query }, {
        requestTimeout,
        ...options,
        retry: false,
      });
      if (useStateAfter === true) nameStateAfter(response);
      return response;
    },
  };
}

/** Gives the state after timelines the name that it has in the specification. */
function nameStateAfter({ rooms }: SyncResponse): void {
  for (const section of [rooms?.join, rooms?.leave]) {
    for (const room of Object.values(section ?? {})) {
      if (!isJsonObject(room)) continue;
      const state = room[UNSTABLE.state];
      if (state !== undefined) room.state_after ??= state;
    }
  }
}

/**
 * A filter, spelled as in no request before: for a sync that is to show how things are now. Servers
 * answer a sync that they have answered before with the old answer, Synapse for two minutes, and
 * tell syncs apart by the filter's text.
 *
 * @param filter What to receive. Default: everything.
 * @param name What the spelling differs by. Default: a random one.
 */
export function freshFilter(filter: Filter = {}, name: string = crypto.randomUUID()): FilterID {
  const { account_data: { not_types = [], ...others } = {} } = filter;
  // Nothing has that type.
  const account_data = { ...others, not_types: [...not_types, `greenroom.request.${name}`] };
  return JSON.stringify({ ...filter, account_data });
}

/**
 * The long poll of simplified sliding sync, in the form that Synapse has: no operation of clients, since its
 * answers are turned into those of the classic sync (`src/actors/syncer/sliding_sync.ts`).
 *
 * A file of its own because `sync.ts` is the operation that clients have.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 * @module
 */

import { CALL, endpoint, fields, type RequestOptions, type Session } from "../http/mod.ts";
import type { JsonObject } from "../../types/json.ts";

/** What `/versions` says of it in `unstable_features`. */
export const SLIDING_SYNC = "org.matrix.simplified_msc3575";

/** An answer, of which nothing is checked but where it ends. */
export interface SlidingResponse {
  /** Where the next request goes on. */
  readonly pos: string;
  /** How many rooms there are, by list. */
  readonly lists?: JsonObject;
  /** What happened in rooms. */
  readonly rooms?: JsonObject;
  /** All else that happened. */
  readonly extensions?: JsonObject;
}

const slidingSync = endpoint(
  "slidingSync",
  "POST",
  `/_matrix/client/unstable/${SLIDING_SYNC}/sync`,
  fields<SlidingResponse>({ pos: "string", lists: "object?", rooms: "object?", extensions: "object?" }),
  { idempotent: false }, // the caller decides when to poll again
);

/** How long a server may take to collect what there is, in milliseconds. */
const COLLECTING = 600_000;

/** What is asked. */
export interface SlidingRequest extends RequestOptions {
  /** Where to go on; undefined: a new connection. */
  readonly pos: string | undefined;
  /** How long the server waits for something to happen, in milliseconds. */
  readonly timeout: number;
  /** Rooms, and extensions. */
  readonly body: JsonObject;
}

/** Asks once what happened. */
export async function askSliding(
  { http }: Pick<Session, "http">,
  { pos, timeout, body, ...options }: SlidingRequest,
): Promise<SlidingResponse> {
  const requestTimeout = http.limit(timeout, pos === undefined || timeout === 0 ? COLLECTING : undefined);
  return await http[CALL](slidingSync, { path: {}, query: { pos, timeout }, body }, {
    requestTimeout,
    ...options,
    retry: false,
  });
}

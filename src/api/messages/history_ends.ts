/**
 * The ends of a room's history, as tokens: before version 1.3 servers read on from a token alone.
 *
 * @see {@link https://spec.matrix.org/v1.2/client-server-api/#get_matrixclientv3roomsroomidmessages | GET /messages, version 1.2}
 * @module
 */

import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { PaginationDirection, PresenceState } from "../../types/enums.ts";
import type { Filter } from "../../types/api/filter.ts";
import type { RoomID, SyncToken } from "../../types/ids.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { roomExtrasAPI } from "../rooms/room_extras.ts";
import { roomStateAPI } from "../rooms/state_events.ts";
import type { Session } from "../session.ts";
import { syncAPI } from "../server/sync.ts";

/** Lets nothing through but the token. */
const NOTHING: Filter = { account_data: { types: [] }, presence: { types: [] }, room: { rooms: [] } };

/**
 * Where to begin to read a whole history, if the server has to be told.
 *
 * @param session Whose homeserver it is.
 * @param roomId The room.
 * @param direction Which way it will be read: `b` begins at the newest end, `f` at the oldest.
 * @param options Request options.
 * @returns The token; undefined if the server knows by itself.
 */
export async function endOfHistory(
  session: Session,
  roomId: RoomID,
  direction: PaginationDirection,
  options: RequestOptions,
): Promise<SyncToken | undefined> {
  if (await session.supports("v1.3", undefined, options)) return undefined;
  if (direction === PaginationDirection.BACKWARD) {
    const quietly = { timeout: 0, setPresence: PresenceState.OFFLINE, filterId: NOTHING };
    return (await syncAPI(session).sync({ ...options, ...quietly })).next_batch;
  }
  const state = await roomStateAPI(session).getState(roomId, options);
  const create = state.find(({ type }) => type === "m.room.create");
  const around = create &&
    await roomExtrasAPI(session).getEventContext(roomId, create.event_id, { ...options, limit: 1 });
  if (around?.start) return around.start; // Dendrite's is empty where nothing comes before
  throw new ServiceResponseError(
    `Cannot read ${roomId} from its start: the homeserver, older than version 1.3, shows no token of its create event; give fromToken`,
  );
}

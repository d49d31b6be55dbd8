/**
 * Whether users are there.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#presence | Presence}
 * @module
 */

import { CALL } from "../http/http_internals.ts";
import { PresenceState } from "../../types/enums.ts";
import type { UserID } from "../../types/ids.ts";
import type { PresenceInfo } from "../../types/api/profile.ts";
import { endpoint, fields, nothing } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";

const PRESENCE_PATH = "/_matrix/client/v3/presence/{userId}/status";

const get = endpoint("getPresence", "GET", PRESENCE_PATH, fields<PresenceInfo>({ presence: "string" }));
const set = endpoint("setPresence", "PUT", PRESENCE_PATH, nothing);

/** Options of {@link PresenceAPI.setPresence}. */
export interface SetPresenceOptions extends RequestOptions {
  /** Whether the user is there. Default: `online`. */
  presence?: PresenceState;
  /** What the user says about it; the empty text takes it away. Default: not sent. */
  status?: string;
}

/** Operations on presence. */
export interface PresenceAPI {
  /**
   * Asks whether a user is there.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns Whether the user is there, since when, and what the user says about it.
   * @throws {ForbiddenError} If the users share no room.
   * @throws {ValueError} If it is no user ID.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3presenceuseridstatus | GET /presence/{userId}/status}
   */
  getPresence(userId: UserID, options?: RequestOptions): Promise<PresenceInfo>;

  /**
   * Sets whether the acting user is online. The time of the user's last activity is set along with
   * it.
   *
   * A sync sets presence too: online by default.
   *
   * @param options Presence, what to say about it, and request options.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#put_matrixclientv3presenceuseridstatus | PUT /presence/{userId}/status}
   */
  setPresence(options?: SetPresenceOptions): Promise<void>;
}

/** Makes the operations on presence. */
export function presenceAPI(session: Session): PresenceAPI {
  const { http } = session;
  return {
    getPresence: (userId, options) => http[CALL](get, { path: { userId } }, options),
    async setPresence({ presence = PresenceState.ONLINE, status, ...options } = {}) {
      const userId = await session.userId(options);
      await http[CALL](set, { path: { userId }, body: { presence, status_msg: status } }, options);
    },
  };
}

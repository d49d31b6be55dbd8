/**
 * Reports to the server's administration.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#reporting-content | Reporting content}
 * @module
 */

import { CALL, endpoint, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import type { EventID, RoomID, UserID } from "../../types/ids.ts";

const ROOM = "/_matrix/client/v3/rooms/{roomId}/report";
const event = endpoint("reportEvent", "POST", `${ROOM}/{eventId}`, nothing);
const room = endpoint("reportRoom", "POST", ROOM, nothing);
const user = endpoint("reportUser", "POST", "/_matrix/client/v3/users/{userId}/report", nothing);

/** Options of the operations that report. */
export interface ReportOptions extends RequestOptions {
  /** Why. Default: empty. */
  reason?: string;
}

/** Operations that report to the server's administration. */
export interface ReportingAPI {
  /**
   * Reports an event.
   *
   * @param roomId The room, which the caller must be in.
   * @param eventId The event.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such event, or the caller is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreporteventid | POST /rooms/{roomId}/report/{eventId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function reportSpam(client: Client, roomId: RoomID, eventId: EventID): Promise<void> {
   *   await client.reportEvent(roomId, eventId, { reason: "Spam" });
   * }
   * ```
   */
  reportEvent(roomId: RoomID, eventId: EventID, options?: ReportOptions): Promise<void>;

  /**
   * Reports a room.
   *
   * @param roomId The room, which the caller need not be in.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such room; some servers do not say.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreport | POST /rooms/{roomId}/report}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function reportSpamRoom(client: Client, roomId: RoomID): Promise<void> {
   *   await client.reportRoom(roomId, { reason: "Spam" });
   * }
   * ```
   */
  reportRoom(roomId: RoomID, options?: ReportOptions): Promise<void>;

  /**
   * Reports a user.
   *
   * @param userId The user.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such user; some servers do not say.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3usersuseridreport | POST /users/{userId}/report}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function reportSpammer(client: Client, userId: UserID): Promise<void> {
   *   await client.reportUser(userId, { reason: "Spam" });
   * }
   * ```
   */
  reportUser(userId: UserID, options?: ReportOptions): Promise<void>;
}

/** Makes the operations that report. */
export function reportingAPI({ http }: Session): ReportingAPI {
  return {
    reportEvent: (roomId, eventId, { reason = "", ...options } = {}) =>
      http[CALL](event, { path: { roomId, eventId }, body: { reason } }, options),
    reportRoom: (roomId, { reason = "", ...options } = {}) =>
      http[CALL](room, { path: { roomId }, body: { reason } }, options),
    reportUser: (userId, { reason = "", ...options } = {}) =>
      http[CALL](user, { path: { userId }, body: { reason } }, options),
  };
}

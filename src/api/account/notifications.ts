/**
 * What the user was notified of. A file of its own because pushers say where notifications go, and not which there
 * were.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#listing-notifications | Listing notifications}
 * @module
 */

import { CALL, checkInteger, endpoint, type RequestOptions, type Session, shaped } from "../http/mod.ts";
import {
  anything,
  boolean,
  list,
  nullable,
  number,
  object,
  optional,
  roomId,
  type Shape,
  text,
} from "../../types/checks/shape.ts";
import { clientEvent } from "../../types/checks/event_check.ts";
import type { PushAction } from "../../types/content/account_data_content.ts";
import type { Open } from "../../types/enums.ts";
import type { ClientEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** An event that the user was notified of. */
export interface Notification {
  /** Where it was sent. */
  room_id: RoomID;
  /** The event, encrypted if it is. */
  event: ClientEvent;
  /** What the push rules said. */
  actions: PushAction[];
  /** Whether the user has read it. */
  read: boolean;
  /** When the user was notified, in milliseconds since the epoch. */
  ts: number;
  /** Which of a device's push rules applied; absent or `null`: those of the account. */
  profile_tag?: string | null;
}

/** A part of the notifications, the latest first. */
export interface NotificationsResponse {
  /** The notifications of this part. */
  notifications: Notification[];
  /** Where the next part begins; absent or `null` at the end. */
  next_token?: string | null;
}

/** Options of {@link NotificationsAPI.getNotifications}. */
export interface GetNotificationsOptions extends RequestOptions {
  /** Where the part begins: `next_token` of the one before. Default: at the latest. */
  from?: string;
  /** How many at most, at least 1. Default: the server's. */
  limit?: number;
  /** Only those of a kind: `highlight` has those that mention the user. Default: all. */
  only?: Open<"highlight">;
}

const notification = object<Notification>({
  room_id: roomId,
  event: clientEvent,
  actions: list(anything as Shape<PushAction>),
  read: boolean,
  ts: number,
  profile_tag: optional(nullable(text)),
});
/** The event need not say its room. */
const inItsRoom: Shape<Notification> = (value, notes) => {
  const { room_id, event } = isJsonObject(value) ? value : {};
  return notification(
    isJsonObject(event) ? { ...value as JsonObject, event: { ...event, room_id } } : value,
    notes,
  );
};
const get = endpoint(
  "getNotifications",
  "GET",
  "/_matrix/client/v3/notifications",
  shaped(object<NotificationsResponse>({
    notifications: list(inItsRoom),
    next_token: optional(nullable(text)),
  })),
);

/** The operation on notifications. */
export interface NotificationsAPI {
  /**
   * Lists the events that the user was notified of, or would have been, a part at a time.
   *
   * @param options Which, where the part begins, and request options.
   * @see
   * {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3notifications | GET /notifications}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function countMissed(client: Client): Promise<number> {
   *   const { notifications } = await client.getNotifications({ only: "highlight", limit: 100 });
   *   return notifications.filter(({ read }) => !read).length;
   * }
   * ```
   */
  getNotifications(options?: GetNotificationsOptions): Promise<NotificationsResponse>;
}

/** Makes the operation on notifications. */
export function notificationsAPI({ http }: Session): NotificationsAPI {
  return {
    async getNotifications({ from, limit, only, ...options } = {}) {
      checkInteger("limit", limit, 1);
      return await http[CALL](get, { path: {}, query: { from, limit, only } }, options);
    },
  };
}

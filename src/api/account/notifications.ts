/**
 * Notifications: the list of those that the user got, and the pushers that send new ones.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#listing-notifications | Listing notifications}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-notifications | Push notifications}
 *
 * @module
 */

import { clientEvent } from "../../types/checks/event_check.ts";
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
import type { PushAction } from "../../types/content/account_data_content.ts";
import type { Open } from "../../types/enums.ts";
import type { ClientEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import {
  CALL,
  checkInteger,
  endpoint,
  field,
  nothing,
  type RequestOptions,
  type Session,
  shaped,
} from "../http/mod.ts";

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
  const { room_id, event } = objectOf(value);
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
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3notifications | GET /notifications}
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

/** Where notifications of an account go. */
export interface Pusher {
  /** Which of the application's receivers it is, together with `app_id`. At most 512 bytes. */
  pushkey: string;
  /** How notifications go out. */
  kind: Open<"http" | "email">;
  /** The application, by a reversed domain name. At most 64 characters. */
  app_id: string;
  /** The application's name, for users. */
  app_display_name: string;
  /** The device's name, for users. */
  device_display_name: string;
  /** Which of the device's push rules apply. */
  profile_tag?: string;
  /** The language of notifications, such as `en-US`. */
  lang: string;
  /** What the kind needs to know. */
  data: PusherData;
}

/** A pusher, as it is set up. */
export interface PusherSetup extends Pusher {
  /** Whether other users' pushers of the same key and application stay. Default: `false`. */
  append?: boolean;
}

/** Which pusher to remove. */
export interface PusherRemoval {
  /** The pusher's key. */
  pushkey: string;
  /** The pusher's application. */
  app_id: string;
  /** That it is removed. */
  kind: null;
}

/** What a kind of pusher needs to know. */
export interface PusherData {
  /**
   * Of `http`: where to send notifications, an HTTPS URL with the path `/_matrix/push/v1/notify`.
   */
  url?: string;
  /** Of `http`: what to send; everything if absent. */
  format?: Open<"event_id_only">;
  /** Anything else, which goes out with each notification. */
  [key: string]: unknown;
}

const listed = endpoint(
  "getPushers",
  "GET",
  "/_matrix/client/v3/pushers",
  field<Pusher[]>("pushers", "array"),
);
const SET = "/_matrix/client/v3/pushers/set";
const set = endpoint("setPusher", "POST", SET, nothing, { idempotent: true }); // says what is to be
const remove = endpoint("removePusher", "POST", SET, nothing, { idempotent: true });

/** Operations on pushers. */
export interface PushersAPI {
  /**
   * Lists the user's pushers.
   *
   * @param options Request options.
   * @returns The pushers.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushers | GET /pushers}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function pushedApps(client: Client): Promise<string[]> {
   *   return (await client.getPushers()).map(({ app_display_name }) => app_display_name);
   * }
   * ```
   */
  getPushers(options?: RequestOptions): Promise<Pusher[]>;

  /**
   * Makes a pusher, or changes the one of the same key and application.
   *
   * @param pusher The pusher.
   * @param options Request options.
   * @throws {MatrixRequestError} If the server does not take the pusher.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function pushTo(client: Client, url: string, pushkey: string): Promise<void> {
   *   await client.setPusher({
   *     kind: "http",
   *     pushkey,
   *     app_id: "org.example.stage",
   *     app_display_name: "Stage",
   *     device_display_name: "Phone",
   *     lang: "en",
   *     data: { url, format: "event_id_only" },
   *   });
   * }
   * ```
   */
  setPusher(pusher: PusherSetup, options?: RequestOptions): Promise<void>;

  /**
   * Removes a pusher.
   *
   * @param pushkey The pusher's key.
   * @param appId The pusher's application.
   * @param options Request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function removePushers(client: Client): Promise<void> {
   *   for (const { pushkey, app_id } of await client.getPushers()) {
   *     await client.removePusher(pushkey, app_id);
   *   }
   * }
   * ```
   */
  removePusher(pushkey: string, appId: string, options?: RequestOptions): Promise<void>;
}

/** Makes the operations on pushers. */
export function pushersAPI({ http }: Session): PushersAPI {
  return {
    getPushers: (options) => http[CALL](listed, { path: {} }, options),
    setPusher: (pusher, options) => http[CALL](set, { path: {}, body: pusher }, options),
    removePusher: (pushkey, appId, options) =>
      http[CALL](remove, { path: {}, body: { pushkey, app_id: appId, kind: null } }, options),
  };
}

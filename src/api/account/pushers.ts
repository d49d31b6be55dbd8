/**
 * Pushers: where notifications go.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-notifications | Push notifications}
 * @module
 */

import { CALL, endpoint, field, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import type { Open } from "../../types/enums.ts";

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

const list = endpoint("getPushers", "GET", "/_matrix/client/v3/pushers", field<Pusher[]>("pushers", "array"));
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
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3pushers | GET /pushers}
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
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
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
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
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
    getPushers: (options) => http[CALL](list, { path: {} }, options),
    setPusher: (pusher, options) => http[CALL](set, { path: {}, body: pusher }, options),
    removePusher: (pushkey, appId, options) =>
      http[CALL](remove, { path: {}, body: { pushkey, app_id: appId, kind: null } }, options),
  };
}

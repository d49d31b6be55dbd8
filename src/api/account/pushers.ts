/**
 * Pushers: where notifications go.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-notifications | Push notifications}
 * @module
 */

import type { Pusher, PusherSetup } from "../../types/api/pusher.ts";
import { endpoint, field, nothing } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";

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
   */
  getPushers(options?: RequestOptions): Promise<Pusher[]>;

  /**
   * Makes a pusher, or changes the one of the same key and application.
   *
   * @param pusher The pusher.
   * @param options Request options.
   * @throws {MatrixRequestError} If the server does not take the pusher.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
   */
  setPusher(pusher: PusherSetup, options?: RequestOptions): Promise<void>;

  /**
   * Removes a pusher.
   *
   * @param pushkey The pusher's key.
   * @param appId The pusher's application.
   * @param options Request options.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
   */
  removePusher(pushkey: string, appId: string, options?: RequestOptions): Promise<void>;
}

/** Makes the operations on pushers. */
export function pushersAPI({ http }: Session): PushersAPI {
  return {
    getPushers: (options) => http.call(list, { path: {} }, options),
    setPusher: (pusher, options) => http.call(set, { path: {}, body: pusher }, options),
    removePusher: (pushkey, appId, options) =>
      http.call(remove, { path: {}, body: { pushkey, app_id: appId, kind: null } }, options),
  };
}

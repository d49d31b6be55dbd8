/**
 * Who acts: the user and the device that belong to the access token.
 *
 * @module
 */

import { ServiceResponseError } from "../errors/service_response_error.ts";
import { ValueError } from "../errors/value_error.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import { endpoint } from "./endpoint.ts";
import type { HTTPAPI } from "./http_api.ts";
import type { RequestOptions } from "./request_options.ts";
import { shape } from "./shape.ts";
import { isUserId } from "./user_id.ts";
import { atLeast } from "./versions.ts";

/** Who a token belongs to, as `whoami()` tells. */
export interface WhoamiResult {
  /** The user. */
  user_id: UserID;
  /** The device; absent for application services and guests without one. */
  device_id?: DeviceID;
  /** Whether the user is a guest. Default: false. */
  is_guest?: boolean;
}

/** What a homeserver supports, as `versions()` tells. */
export interface VersionsResult {
  /** The versions of the specification, like `v1.11`. */
  versions: string[];
  /** Experimental features by name. */
  unstable_features?: Record<string, boolean>;
}

const whoami = endpoint(
  "whoami",
  "GET",
  "/_matrix/client/v3/account/whoami",
  shape<WhoamiResult>({ user_id: "string", device_id: "string?", is_guest: "boolean?" }),
);

const versions = endpoint(
  "versions",
  "GET",
  "/_matrix/client/versions",
  shape<VersionsResult>({ versions: "array", unstable_features: "object?" }),
);

/** The state that the operations of one client share: who acts, and what the homeserver can do. */
export class Session {
  /** The transport. */
  readonly http: HTTPAPI;
  /** The acting user; empty until it is known. */
  mxid: UserID | "";
  /** The device that the access token belongs to; undefined until it is known. */
  deviceId: DeviceID | undefined;
  #versions: Promise<VersionsResult> | undefined;
  #whoami: Promise<WhoamiResult> | undefined;

  /**
   * @param http The transport.
   * @param mxid The acting user, if known.
   * @param deviceId The device, if known.
   */
  constructor(http: HTTPAPI, mxid: UserID | "" = "", deviceId?: DeviceID) {
    this.http = http;
    this.mxid = mxid;
    this.deviceId = deviceId;
  }

  /** Asks whose the token is. */
  async whoami(options?: RequestOptions): Promise<WhoamiResult> {
    return await this.http.call(whoami, { path: {} }, options);
  }

  /**
   * The acting user: as given, else as the server says, which is asked once.
   *
   * @throws {ServiceResponseError} If the server names no user.
   */
  async userId(): Promise<UserID> {
    if (this.mxid !== "") return this.mxid;
    this.#whoami ??= this.whoami().finally(() => this.#whoami = undefined);
    const { user_id, device_id } = await this.#whoami;
    if (!isUserId(user_id)) {
      throw new ServiceResponseError("Cannot use the answer to whoami: it names no user ID");
    }
    this.mxid = user_id;
    this.deviceId ??= device_id;
    return this.mxid;
  }

  /** What the homeserver supports, asked anew and remembered. */
  async versions(options?: RequestOptions): Promise<VersionsResult> {
    const answer = this.http.call(versions, { path: {} }, options);
    const found = await answer;
    this.#versions = answer;
    return found;
  }

  /** Whether the homeserver supports a version of the specification, like `v1.11`, or a later one; asked once. */
  async supports(version: string, unstableFeature?: string): Promise<boolean> {
    this.#versions ??= this.versions().catch((error) => {
      this.#versions = undefined;
      throw error;
    });
    const found = await this.#versions;
    return atLeast(found.versions, version) ||
      (unstableFeature !== undefined && found.unstable_features?.[unstableFeature] === true);
  }

  /** Forgets what belongs to another homeserver or user. */
  reset(): void {
    this.#versions = undefined;
    this.#whoami = undefined;
  }

  /**
   * The server name of the acting user, for aliases.
   *
   * @throws {ValueError} If the acting user is unknown and there is no token to ask with.
   */
  async serverName(): Promise<string> {
    const mxid = await this.userId();
    const name = mxid.slice(mxid.indexOf(":") + 1);
    if (name === "") {
      throw new ValueError(`Cannot tell the server name of "${mxid}": it has none; set the mxid`);
    }
    return name;
  }
}

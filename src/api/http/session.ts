/**
 * Who acts: the user and the device that belong to the access token.
 *
 * Over 300 lines because who acts, and until when, is asked of one object.
 *
 * @module
 */

import { CALL, IS_ANSWERED } from "./http_options.ts";
import { DeviceConflictError } from "../../errors/encryption_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import {
  HomeserverAddressError,
  RedirectError,
  ServiceResponseError,
  UnsupportedFeatureError,
} from "../../errors/service_response_error.ts";
import { permanent, ValueError } from "../../errors/matrix_error.ts";
import type { VersionsResponse, WhoamiResponse } from "../../types/api/login.ts";
import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
import type { RoomMemberContent } from "../../types/content/room_state_content.ts";
import { endpoint, fields } from "./endpoint.ts";
import type { HTTPAPI } from "./http_api.ts";
import { checkRequestOptions, type RequestOptions, requestOptions } from "./request_options.ts";
import { isMatrixRefusal } from "./tries.ts";
import { isUserId } from "../../types/identifiers.ts";

const whoami = endpoint(
  "whoami",
  "GET",
  "/_matrix/client/v3/account/whoami",
  fields<WhoamiResponse>({ user_id: "string", device_id: "string?", is_guest: "boolean?" }),
);

const versions = endpoint(
  "versions",
  "GET",
  "/_matrix/client/versions",
  fields<VersionsResponse>({ versions: "array", unstable_features: "object?" }),
);

/**
 * Completes the content of a member event that is about to be sent, with a display name and an
 * avatar for example.
 *
 * @param roomId The room it goes to.
 * @param userId The user it is about.
 * @param content The content so far.
 * @returns The content to send; nothing to send it as it is.
 */
export type FillMemberEventCallback = (
  roomId: RoomID,
  userId: UserID,
  content: RoomMemberContent,
) => RoomMemberContent | undefined | Promise<RoomMemberContent | undefined>;

/** The state that the operations of one client share: who acts, and what the homeserver can do. */
export class Session {
  /** Sends the HTTP requests of all operations. */
  readonly http: HTTPAPI;
  /** The acting user; empty until it is known. */
  mxid: UserID | "";
  /** The device that the access token belongs to; undefined until it is known. */
  deviceId: DeviceID | undefined;
  /** What `fillMemberEvent()` calls first. Default: none. */
  fillMemberEventCallback: FillMemberEventCallback | undefined;
  #versions: VersionsResponse | undefined;
  /** Counts the resets, so that an answer from before one is not remembered after it. */
  #epoch = 0;
  #login = new AbortController();
  /** The token of the login that has ended last. */
  #endedToken: string | undefined;

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

  /** Gets the user ID and the device ID that the access token belongs to. */
  async whoami(options?: RequestOptions): Promise<WhoamiResponse> {
    return await this.http[CALL](whoami, { path: {} }, options);
  }

  /**
   * The acting user: the one the request is to act as, else as given, else as the server says,
   * which is remembered.
   *
   * @param options The options of the request that the user ID is needed for.
   * @throws {ServiceResponseError} If the server names no user.
   */
  async userId(options: RequestOptions = {}): Promise<UserID> {
    if (options.asUserId !== undefined) return options.asUserId;
    if (this.mxid !== "") return this.mxid;
    return await this.#identify(options);
  }

  /** The acting user and device: whose a store's records are. */
  async account(options?: RequestOptions): Promise<[UserID, DeviceID]> {
    if (this.mxid === "" || this.deviceId === undefined) await this.#identify(options);
    return [await this.userId(options), this.deviceId ?? ""];
  }

  /**
   * Asks the server who acts, and remembers what was not known.
   *
   * @throws {DeviceConflictError} If the token is that of another user than was given: what it syncs would
   *   get into the records of that one.
   */
  async #identify(options?: RequestOptions): Promise<UserID> {
    const epoch = this.#epoch;
    const { user_id, device_id } = await this.whoami(options && requestOptions(options));
    if (!isUserId(user_id)) {
      throw new ServiceResponseError("Cannot use the answer to whoami: it names no user ID");
    }
    if (epoch === this.#epoch) {
      if (this.mxid !== "" && this.mxid !== user_id) throw permanent(otherUser(this.mxid, user_id));
      this.mxid ||= user_id;
      this.deviceId ??= device_id;
    }
    return user_id;
  }

  /** Requests again what the homeserver supports, and keeps it. */
  async versions(options?: RequestOptions): Promise<VersionsResponse> {
    const epoch = this.#epoch;
    const found = await this.http[CALL](versions, { path: {} }, options);
    if (epoch === this.#epoch) this.#versions = found;
    return found;
  }

  /**
   * Returns whether the homeserver supports a version of the specification, or a later one. Its answer is
   * remembered.
   *
   * @param version The version, like `v1.11`.
   * @param unstableFeature The experimental feature that was the same before.
   * @param options The options of the request that this decides about.
   */
  async supports(version: string, unstableFeature?: string, options?: RequestOptions): Promise<boolean> {
    const found = this.#versions ?? await this.versions(options);
    return atLeast(found.versions, version) || found.versions.includes(version) ||
      (unstableFeature !== undefined && found.unstable_features?.[unstableFeature] === true);
  }

  /**
   * Refuses what the homeserver lacks.
   *
   * @param features The version that has it, and what the experimental feature is called; or that alone.
   * @param action What was to be done, as the error has it.
   * @param options The options of the request that this decides about.
   * @throws {UnsupportedFeatureError} If the homeserver has neither.
   */
  async needs(
    [feature, before = feature]: readonly [feature: string, before?: string],
    action: string,
    options?: RequestOptions,
  ): Promise<void> {
    checkRequestOptions(options ?? {}, action);
    if (await this.supports(feature, before, options && requestOptions(options))) return;
    const lack = before === feature
      ? `does not have ${feature}`
      : `has neither ${feature} of the specification nor ${before}`;
    throw new UnsupportedFeatureError(
      `Cannot ${action}: the homeserver ${lack}; ask who runs it for a newer one`,
    );
  }

  /** Forgets what belongs to another homeserver or user. */
  reset(): void {
    this.#epoch++;
    this.#versions = undefined;
  }

  /**
   * Aborted when the login ends: by a logout, or since another user or device logs in.
   * A token that is set by hand after that begins another.
   */
  get login(): AbortSignal {
    const { accessToken } = this.http;
    const isAnother = accessToken !== "" && accessToken !== this.#endedToken;
    if (this.#login.signal.aborted && isAnother) this.#login = new AbortController();
    return this.#login.signal;
  }

  /** Ends what was begun as the user and device of now. */
  endLogin(): void {
    this.#endedToken = this.http.accessToken;
    this.#login.abort();
  }

  /**
   * Notes a login; what was begun goes on if that was as the same user and device,
   * or waits for a first login.
   *
   * @param user Who has logged in.
   * @param device The device.
   */
  beginLogin(user: UserID, device: DeviceID | undefined): void {
    const isUser = this.mxid === user || (this.mxid === "" && this.http.accessToken === "");
    const isDevice = this.deviceId === device ||
      (this.deviceId === undefined && this.http.accessToken === "");
    if (!isUser || !isDevice) this.endLogin();
    if (this.login.aborted) this.#login = new AbortController();
  }

  /**
   * The server name of the acting user, for aliases.
   *
   * @param options The options of the request that it is needed for.
   * @throws {ValueError} If the acting user is unknown and there is no token to ask with.
   */
  async serverName(options?: RequestOptions): Promise<string> {
    const mxid = await this.userId(options);
    const name = mxid.slice(mxid.indexOf(":") + 1);
    if (name === "") {
      throw new ValueError(`Cannot tell the server name of "${mxid}": it has none; set the mxid`);
    }
    return name;
  }
}

function otherUser(mxid: UserID, owner: UserID): DeviceConflictError {
  return new DeviceConflictError(
    `Cannot act as ${mxid}: the access token is that of ${owner}; give the token of ${mxid}, or another mxid`,
  );
}

// Whether there is a homeserver at all.
//
// What answers wrongly may be a homeserver that is being restarted, behind a proxy that shows a
// page of its own meanwhile. So an address is only found to be wrong by a client that no homeserver
// has answered yet, and by an answer that says so: a redirect, or one to the question for versions
// that is found (2xx) and no Matrix, or not found (404, 405, 410). A failure of the server (5xx), a
// refusal (401, 403, 429) and no answer at all say nothing.

/** Statuses of a place without a homeserver, unless a homeserver sent them. */
const NOT_FOUND = new Set([404, 405, 410]);

/**
 * Says what a failure means for a client that begins.
 *
 * @param error Why a request failed.
 * @param session Who asked.
 * @param signal Ends the question for versions.
 * @returns A {@link HomeserverAddressError} if the address is not one of a homeserver; else what
 *   was given.
 */
export async function firstContact(error: unknown, session: Session, signal?: AbortSignal): Promise<unknown> {
  const { http } = session;
  if (http[IS_ANSWERED] || !isStrange(error)) return error;
  const cause = error instanceof RedirectError ? error : await strangeVersions(session, signal);
  if (cause === undefined) return error;
  const mend = error instanceof RedirectError && error.origin !== undefined
    ? `set it to ${error.origin}`
    : "is baseUrl the address of the homeserver? Client.discover(…) finds it";
  return new HomeserverAddressError(
    `Cannot use ${http.baseUrl}: what answers there is no Matrix homeserver; ${mend}`,
    { cause },
  );
}

/**
 * Says what is strange about the answer to the question that every homeserver answers; undefined if nothing
 * is.
 */
async function strangeVersions(session: Session, signal?: AbortSignal): Promise<unknown> {
  try {
    await session.versions({ retry: false, signal });
    return undefined;
  } catch (error) {
    return isStrange(error) ? error : undefined;
  }
}

/**
 * Returns whether an answer is one that neither a homeserver nor what stands in front of one would give for
 * long.
 */
function isStrange(error: unknown): boolean {
  if (!(error instanceof MatrixRequestError)) return error instanceof ServiceResponseError;
  return NOT_FOUND.has(error.status) && !isMatrixRefusal(error);
}

/**
 * Returns whether any of a server's versions is `wanted` or later. Each `v1` version includes those before
 * it; the `r0` ones of old come before all.
 */
function atLeast(versions: readonly unknown[], wanted: string): boolean {
  const floor = ordinal(wanted);
  return floor >= 0 && versions.some((version) => ordinal(version) >= floor);
}

/**
 * Returns whether a value is a version of the specification: `v1.16`, or `r0.6.1` as the early ones were
 * called.
 */
export function isVersion(version: unknown): version is string {
  return ordinal(version) >= 0 || (typeof version === "string" && /^r0\.\d{1,3}\.\d{1,3}$/.test(version));
}

function ordinal(version: unknown): number {
  const parts = typeof version === "string" ? /^v(\d{1,3})\.(\d{1,4})$/.exec(version) : null;
  return parts === null ? -1 : Number(parts[1]) * 10_000 + Number(parts[2]);
}

/** Completes member events. */
export interface FillMemberEventAPI {
  /**
   * Completes the content of a member event that is about to be sent: the endpoints made for
   * joining and inviting put display name and avatar in, a member event sent by hand has none
   * unless they are put in here.
   *
   * This asks the client's `fillMemberEventCallback`, and nothing else. With a store, the profile
   * of the present member event is used if that returns nothing, and the user's global profile if
   * there is no such event.
   *
   * @param roomId The room the event goes to.
   * @param userId The user it is about.
   * @param content The content so far.
   * @param options Request options, for what has to be looked up.
   * @returns The content to send; nothing if it is to be sent as it is.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function join(client: Client, roomId: RoomID, userId: UserID): Promise<void> {
   *   const content = { membership: "join" } as const;
   *   const filled = await client.fillMemberEvent(roomId, userId, content) ?? content;
   *   await client.sendStateEvent(roomId, "m.room.member", filled, { stateKey: userId });
   * }
   * ```
   */
  fillMemberEvent(
    roomId: RoomID,
    userId: UserID,
    content: RoomMemberContent,
    options?: RequestOptions,
  ): Promise<RoomMemberContent | undefined>;
}

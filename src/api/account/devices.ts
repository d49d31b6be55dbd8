/**
 * The user's devices, and the dehydrated device of an account, as the server keeps it.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#device-management | Device management}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 *
 * Over 300 lines because the dehydrated device is one of them.
 *
 * @module
 */

import type {
  DehydratedDevice,
  DehydratedDeviceEvents,
  DehydratedDeviceUpload,
} from "../../types/api/device_keys.ts";
import type { DeviceID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { CALL, endpoint, field, fields, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import { authenticated, type AuthenticationOptions } from "./uia.ts";

/** A device of the user. */
export interface Device {
  /** Identifies it among the devices of its user. */
  device_id: DeviceID;
  /** The device's name; absent if it has none. */
  display_name?: string | null;
  /** The address that the device was last seen at; may be some minutes old. */
  last_seen_ip?: string | null;
  /** When the device was last seen, in milliseconds since the epoch; may be some minutes old. */
  last_seen_ts?: number | null;
}

const list = endpoint("getDevices", "GET", "/_matrix/client/v3/devices", field<Device[]>("devices", "array"));
const get = endpoint(
  "getDevice",
  "GET",
  "/_matrix/client/v3/devices/{deviceId}",
  fields<Device>({
    device_id: "string",
    display_name: "string?",
    last_seen_ip: "string?",
    last_seen_ts: "number?",
  }),
);
const update = endpoint("updateDevice", "PUT", "/_matrix/client/v3/devices/{deviceId}", nothing);
const remove = endpoint("deleteDevice", "DELETE", "/_matrix/client/v3/devices/{deviceId}", nothing);
const removeMany = endpoint(
  "deleteDevices",
  "POST",
  "/_matrix/client/v3/delete_devices",
  nothing,
  { idempotent: true }, // devices that are gone already are passed over
);

/** Operations on the user's devices. */
export interface DevicesAPI {
  /**
   * Lists the user's devices.
   *
   * @param options Request options.
   * @returns The devices.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3devices | GET /devices}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deviceNames(client: Client): Promise<string[]> {
   *   const devices = await client.getDevices();
   *   return devices.map(({ device_id, display_name }) => display_name ?? device_id);
   * }
   * ```
   */
  getDevices(options?: RequestOptions): Promise<Device[]>;

  /**
   * Gets one of the user's devices.
   *
   * @param deviceId The device.
   * @param options Request options.
   * @returns The device.
   * @throws {NotFoundError} If the user has no such device.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3devicesdeviceid | GET /devices/{deviceId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function lastSeen(client: Client): Promise<Date | undefined> {
   *   if (client.deviceId === undefined) return undefined;
   *   const { last_seen_ts } = await client.getDevice(client.deviceId);
   *   return last_seen_ts ? new Date(last_seen_ts) : undefined;
   * }
   * ```
   */
  getDevice(deviceId: DeviceID, options?: RequestOptions): Promise<Device>;

  /**
   * Renames one of the user's devices.
   *
   * @param deviceId The device.
   * @param displayName The new name. Other users can see it.
   * @param options Request options.
   * @throws {NotFoundError} If the user has no such device.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3devicesdeviceid | PUT /devices/{deviceId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function nameDevice(client: Client): Promise<void> {
   *   if (client.deviceId !== undefined) await client.updateDevice(client.deviceId, "Stage bot");
   * }
   * ```
   */
  updateDevice(deviceId: DeviceID, displayName: string, options?: RequestOptions): Promise<void>;

  /**
   * Deletes one of the user's devices: its token and its keys become void.
   *
   * @param deviceId The device.
   * @param options How to authenticate, and request options.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3devicesdeviceid | DELETE /devices/{deviceId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice", { password: "curtain" });
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const other = await client.login({
   *   identifier: "@alice:localhost",
   *   password: "curtain",
   *   deviceId: "OLD",
   *   storeAccessToken: false,
   * });
   * await client.deleteDevice(other.device_id, { authentication: { password: "curtain" } });
   * console.assert((await client.getDevices()).every(({ device_id }) => device_id !== "OLD"));
   * ```
   */
  deleteDevice(deviceId: DeviceID, options?: AuthenticationOptions): Promise<void>;

  /**
   * Deletes several of the user's devices at once.
   *
   * @param deviceIds The devices; those that do not exist are passed over.
   * @param options How to authenticate, and request options.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3delete_devices | POST /delete_devices}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deleteOthers(client: Client, password: string): Promise<void> {
   *   const ids = (await client.getDevices()).map(({ device_id }) => device_id);
   *   const others = ids.filter((id) => id !== client.deviceId);
   *   await client.deleteDevices(others, { authentication: { password } });
   * }
   * ```
   */
  deleteDevices(deviceIds: readonly DeviceID[], options?: AuthenticationOptions): Promise<void>;
}

/** Makes the operations on the user's devices. */
export function devicesAPI(session: Session): DevicesAPI {
  const { http } = session;
  return {
    getDevices: (options) => http[CALL](list, { path: {} }, options),
    getDevice: (deviceId, options) => http[CALL](get, { path: { deviceId } }, options),
    updateDevice: (deviceId, displayName, options) =>
      http[CALL](update, { path: { deviceId }, body: { display_name: displayName } }, options),
    deleteDevice: (deviceId, options) => authenticated(session, remove, { path: { deviceId } }, options),
    deleteDevices: (deviceIds, options) =>
      authenticated(session, removeMany, { path: {}, body: { devices: deviceIds } }, options),
  };
}

const PATH = "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device";

const getDehydrated = endpoint(
  "getDehydratedDevice",
  "GET",
  PATH,
  fields<DehydratedDevice>({ device_id: "string", device_data: "object" }),
);

const put = endpoint(
  "uploadDehydratedDevice",
  "PUT",
  PATH,
  field<DeviceID>("device_id", "string"),
);

const removeDehydrated = endpoint(
  "deleteDehydratedDevice",
  "DELETE",
  PATH,
  field<DeviceID>("device_id", "string"),
);

const events = endpoint(
  "getDehydratedDeviceEvents",
  "GET",
  `${PATH}/{deviceId}/events`,
  (body, request) => {
    const { events, ...page } = parsePage(body, request);
    return { ...page, events: events.map(bare) };
  },
);

const parsePage = fields<DehydratedDeviceEvents>({ events: "array", next_batch: "string?" });

/** A message with no more than the server has to say of it. */
function bare(event: unknown): unknown {
  if (!isJsonObject(event)) return event;
  const { type, sender, content } = event;
  return { type, sender, content };
}

/**
 * Options of {@link DehydratedDeviceAPI.getDehydratedDeviceEvents}.
 *
 * @experimental It uses the unstable form of MSC3814: a minor version may change it.
 */
export interface GetDehydratedDeviceEventsOptions extends RequestOptions {
  /** Where to begin: `next_batch` of the page before. Default: with the first message. */
  from?: string;
}

/**
 * The dehydrated device of the account: one that no client runs, to which others send room keys. With
 * `encryption.dehydratedDevice` a client makes and reads it; these operations only pass on what they
 * are given, and check nothing of it.
 *
 * The endpoints are those of MSC3814, which is not part of the specification: Synapse has them with
 * `experimental_features: msc3814_enabled`.
 *
 * @experimental It uses the unstable form of MSC3814: a minor version may change it.
 */
export interface DehydratedDeviceAPI {
  /**
   * Asks for the dehydrated device.
   *
   * @experimental It uses the unstable form of MSC3814: a minor version may change it.
   * @param options Request options.
   * @returns The device, of which nothing is proven.
   * @throws {NotFoundError} If the account has none.
   * @throws {UnrecognizedError} If the server has no dehydrated devices.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceID } from "@greenroom/matrix/types";
   *
   * export async function dehydratedDeviceId(client: Client): Promise<DeviceID> {
   *   const { device_id } = await client.raw.getDehydratedDevice();
   *   return device_id;
   * }
   * ```
   */
  getDehydratedDevice(options?: RequestOptions): Promise<DehydratedDevice>;

  /**
   * Makes a dehydrated device, in place of the one that is there, whose messages are lost.
   *
   * @experimental It uses the unstable form of MSC3814: a minor version may change it.
   * @param device The device.
   * @param options Request options.
   * @returns The device's ID.
   * @throws {UnrecognizedError} If the server has no dehydrated devices.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { DehydratedDeviceUpload, DeviceID } from "@greenroom/matrix/types";
   *
   * export async function replace(client: Client, device: DehydratedDeviceUpload): Promise<DeviceID> {
   *   return await client.raw.uploadDehydratedDevice(device);
   * }
   * ```
   */
  uploadDehydratedDevice(device: DehydratedDeviceUpload, options?: RequestOptions): Promise<DeviceID>;

  /**
   * Deletes the dehydrated device, with all messages to it.
   *
   * @experimental It uses the unstable form of MSC3814: a minor version may change it.
   * @param options Request options.
   * @returns The ID that it had.
   * @throws {NotFoundError} If the account has none.
   * @throws {UnrecognizedError} If the server has no dehydrated devices.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deleteIt(client: Client): Promise<void> {
   *   console.log(`Deleted ${await client.raw.deleteDehydratedDevice()}`);
   * }
   * ```
   */
  deleteDehydratedDevice(options?: RequestOptions): Promise<DeviceID>;

  /**
   * Asks for messages to the dehydrated device; they stay on the server.
   *
   * @experimental It uses the unstable form of MSC3814: a minor version may change it.
   * @param deviceId The device, which must be the present one.
   * @param options Where to begin, and request options.
   * @returns A page of messages.
   * @throws {ForbiddenError} If the account has no such dehydrated device.
   * @throws {UnrecognizedError} If the server has no dehydrated devices.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function firstPage(client: Client): Promise<unknown[]> {
   *   const { device_id } = await client.raw.getDehydratedDevice();
   *   const { events } = await client.raw.getDehydratedDeviceEvents(device_id);
   *   return events;
   * }
   * ```
   */
  getDehydratedDeviceEvents(
    deviceId: DeviceID,
    options?: GetDehydratedDeviceEventsOptions,
  ): Promise<DehydratedDeviceEvents>;
}

/** Makes the operations on the dehydrated device. */
export function dehydratedDeviceAPI({ http }: Session): DehydratedDeviceAPI {
  return {
    getDehydratedDevice: (options) => http[CALL](getDehydrated, { path: {} }, options),
    uploadDehydratedDevice: (device, options) => http[CALL](put, { path: {}, body: device }, options),
    deleteDehydratedDevice: (options) => http[CALL](removeDehydrated, { path: {} }, options),
    getDehydratedDeviceEvents: (deviceId, { from, ...options } = {}) =>
      http[CALL](events, { path: { deviceId }, query: { from } }, options),
  };
}

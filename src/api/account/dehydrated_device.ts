/**
 * The dehydrated device of an account, as the server keeps it.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import { CALL, endpoint, field, fields, type RequestOptions, type Session } from "../http/mod.ts";
import type {
  DehydratedDevice,
  DehydratedDeviceEvents,
  DehydratedDeviceUpload,
} from "../../types/api/device_keys.ts";
import type { DeviceID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";

const PATH = "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device";

const get = endpoint(
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

const remove = endpoint(
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
    getDehydratedDevice: (options) => http[CALL](get, { path: {} }, options),
    uploadDehydratedDevice: (device, options) => http[CALL](put, { path: {}, body: device }, options),
    deleteDehydratedDevice: (options) => http[CALL](remove, { path: {} }, options),
    getDehydratedDeviceEvents: (deviceId, { from, ...options } = {}) =>
      http[CALL](events, { path: { deviceId }, query: { from } }, options),
  };
}

/**
 * Messages from device to device, past all rooms.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#send-to-device-messaging | Send-to-device messaging}
 * @module
 */

import {
  CALL,
  calledAs,
  checkedType,
  endpoint,
  identified,
  nothing,
  type SendableContent,
  type Session,
  type TransactionOptions,
} from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { EventType } from "../../types/events/event_type.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

const send = endpoint(
  "sendToDevice",
  "PUT",
  "/_matrix/client/v3/sendToDevice/{eventType}/{txnId}",
  nothing,
);

/** What goes to each device, by user and device; the device `*` means all devices of the user. */
export type ToDeviceMessages<Content extends object = object> = {
  readonly [userId: UserID]: { readonly [deviceId: DeviceID]: Content };
};

/** Options of the operations that send to devices. */
export type SendToDeviceOptions = TransactionOptions;

/**
 * Operations that send to devices. They are repeated, as the retry policy says, under one
 * transaction ID.
 */
export interface ToDeviceAPI {
  /**
   * Sends an event to devices, to each with its own content.
   *
   * @param eventType The type.
   * @param messages The contents by user and device; the device `*` means all devices
   *   of the user.
   * @param options Transaction ID, and request options.
   * @throws {ValueError} If the type is empty or of another class, or `messages` has something else
   *   than user IDs and objects.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3sendtodeviceeventtypetxnid | PUT /sendToDevice/{eventType}/{txnId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.sendToDevice("com.example.cue", { "@bob:localhost": { "*": { line: 12 } } });
   * ```
   */
  sendToDevice<const T extends EventType>(
    eventType: T,
    messages: ToDeviceMessages<SendableContent<T, "to_device">>,
    options?: SendToDeviceOptions,
  ): Promise<void>;

  /**
   * Sends an event to one device.
   *
   * @param eventType The type.
   * @param userId The device's user.
   * @param deviceId The device; `*` means all devices of the user.
   * @param message The content.
   * @param options Transaction ID, and request options.
   * @throws {ValueError} If an argument can't be what it should.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3sendtodeviceeventtypetxnid | PUT /sendToDevice/{eventType}/{txnId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceID, UserID } from "@greenroom/matrix/types";
   *
   * export async function cue(client: Client, userId: UserID, deviceId: DeviceID): Promise<void> {
   *   await client.sendToOneDevice("com.example.cue", userId, deviceId, { line: 12 });
   * }
   * ```
   */
  sendToOneDevice<const T extends EventType>(
    eventType: T,
    userId: UserID,
    deviceId: DeviceID,
    message: SendableContent<T, "to_device">,
    options?: SendToDeviceOptions,
  ): Promise<void>;
}

/** Makes the operations that send to devices. */
export function toDeviceAPI({ http }: Session): ToDeviceAPI {
  const sendAll = async (
    type: EventType,
    messages: ToDeviceMessages,
    given: SendToDeviceOptions = {},
  ): Promise<void> => {
    const eventType = checkedType(type, "to_device");
    checkMessages(messages);
    const outgoing = { type: eventType, content: messages, inClear: true };
    const { txnId, ...options } = await identified(outgoing, given, http);
    return await http[CALL](send, { path: { eventType, txnId }, body: { messages } }, options);
  };
  return {
    sendToDevice: sendAll,
    sendToOneDevice: (type, userId, deviceId, message, options) =>
      sendAll(type, { [userId]: { [deviceId]: message } }, calledAs(options, "sendToOneDevice")),
  };
}

function checkMessages(messages: ToDeviceMessages): void {
  for (const [userId, devices] of Object.entries(messages)) {
    checkIdentifier("userId", userId);
    const entries = Object.entries(devices);
    if (entries.some(([deviceId, message]) => deviceId === "" || !isJsonObject(message))) {
      throw new ValueError(
        `Cannot send to the devices of ${userId}: each needs an ID and an object as its message`,
      );
    }
  }
}

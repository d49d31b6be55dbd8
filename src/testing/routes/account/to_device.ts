/**
 * Messages from device to device.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#send-to-device-messaging | Send-to-Device messaging}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import { isJsonObject } from "../../../types/json.ts";
import { badJson } from "../../http/failure.ts";
import { optionalObject } from "../../http/read.ts";
import { type AuthedRequest, requireKeys } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { oncePerTransaction } from "../route_tools.ts";

/** The routes of this file. */
export const toDeviceRoutes: readonly Route[] = [
  route(
    "PUT",
    "v3/sendToDevice/{eventType}/{txnId}",
    (request) => oncePerTransaction(request, () => send(request)),
  ),
];

function send(request: AuthedRequest): Answer {
  const { server, user: sender, json } = request;
  requireKeys(json, "messages");
  const messages = Object.entries(optionalObject(json, "messages") ?? {}).flatMap(([id, devices]) => {
    const user = server.users.get(id as UserID);
    if (user === undefined) return [];
    if (!isJsonObject(devices) || !Object.values(devices).every(isJsonObject)) {
      throw badJson("'messages' must map users to devices, and these to objects");
    }
    return [{ user, devices }];
  });
  for (const { user, devices } of messages) {
    for (const [deviceId, content] of Object.entries(devices)) {
      const targets = deviceId === "*" ? [...user.devices.values()] : [user.devices.get(deviceId)];
      for (const device of targets) {
        const event = { type: request.param("eventType"), sender: sender.id, content };
        device?.inbox.push({ position: server.stream.advance(), event });
        if (device !== undefined) server.appservices.toDevice(user, device, event);
      }
    }
    server.stream.wake([user.id]);
  }
  return {};
}

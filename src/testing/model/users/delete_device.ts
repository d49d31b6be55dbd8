/**
 * Removing devices.
 *
 * @module
 */

import type { DeviceID } from "../../../types/ids.ts";
import type { ServerState } from "../server_state.ts";
import type { User } from "./user.ts";

/** Removes a device with its keys and sessions. Users who share a room with them are notified. */
export function deleteDevice(server: ServerState, user: User, id: DeviceID): void {
  const device = user.devices.get(id);
  if (device === undefined) return;
  user.devices.delete(id);
  server.sessions.close((session) => session.device === device);
  announceDevices(server, user);
}

/** Notifies all users who share a room with the user that their devices or keys have changed. */
export function announceDevices(server: ServerState, user: User): void {
  server.deviceChanges.add(user.id, server.stream.advance());
  server.stream.wake(server.acquaintancesOf(user));
}

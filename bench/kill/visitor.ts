/**
 * A visitor: a device that is new each time, says something and is gone, so that the victim's
 * one-time keys are used and the devices of its rooms change.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { newDevice } from "../../tests/e2e/support/peer/peer_device.ts";
import type { SynapseServer, TestUser } from "../../tests/e2e/support/synapse.ts";

/** Logs in, says something to a room, logs out, and returns the ID of what was said. */
export async function visit(
  server: SynapseServer,
  user: TestUser,
  { roomId, body }: { roomId: RoomID; body: string },
): Promise<string> {
  const { accessToken } = await newDevice(server, user);
  await using client = new Client({ baseUrl: server.baseUrl, token: accessToken, encryption: true });
  const eventId = await client.sendText(roomId, body);
  await client.logout();
  return eventId;
}

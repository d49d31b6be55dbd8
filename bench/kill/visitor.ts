/**
 * A visitor: a device that is new each time, says something and is gone, so that the victim's one-time keys are used and the
 * devices of its rooms change.
 *
 * @module
 */

import { Client, type RoomID } from "@greenroom/matrix";
import { newDevice } from "../../tests/e2e/support/peer_device.ts";
import type { SynapseServer, TestUser } from "../../tests/e2e/support/synapse.ts";

/** What a visitor has said. */
export interface Visit {
  readonly eventId: string;
  readonly body: string;
}

/** Logs in, says something to a room, and logs out. */
export async function visit(
  server: SynapseServer,
  user: TestUser,
  { roomId, body }: { roomId: RoomID; body: string },
): Promise<Visit> {
  const { accessToken } = await newDevice(server, user);
  await using client = new Client({ baseUrl: server.baseUrl, token: accessToken, encryption: true });
  const eventId = await client.sendText(roomId, body);
  await client.logout();
  return { eventId, body };
}

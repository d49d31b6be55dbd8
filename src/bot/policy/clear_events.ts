/**
 * What of events in clear a bot goes by: the homeserver may have written them, and so may who has a user's token.
 *
 * @module
 */

import { type Client, MatrixRequestError } from "../../../mod.ts";
import type { EncryptionInfo, MatrixEvent, RoomID, SenderInfo } from "../../../types.ts";

/** Whether a room is encrypted. Of a room that nothing is known of, the server is asked. */
export async function isEncryptedRoom(
  client: Pick<Client, "stateStore" | "getStateEvent">,
  room: RoomID,
): Promise<boolean> {
  const known = await client.stateStore.isEncrypted(room);
  if (known !== undefined) return known;
  try {
    await client.getStateEvent(room, "m.room.encryption");
    return true;
  } catch (error) {
    if (error instanceof MatrixRequestError && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}

/** An event, and how it was encrypted; undefined: it was not. */
export interface Received {
  readonly event: Pick<MatrixEvent, "type">;
  readonly encryption: EncryptionInfo | SenderInfo | undefined;
}

/**
 * Whether nobody but its sender's device can have written an event: it was encrypted. Of a reaction that
 * includes what it is to, and with what, which stands in the relation.
 */
export function isSendersWord({ event, encryption }: Received): boolean {
  if (encryption === undefined) return false;
  return event.type !== "m.reaction" || ("relation" in encryption && encryption.relation === "encrypted");
}

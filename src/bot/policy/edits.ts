/**
 * What an edit edits: only who has written an event may change it.
 *
 * @module
 */

import { type Client, MatrixRequestError } from "../../../mod.ts";
import type { ClientEvent, EventID, RoomID, UserID } from "../../../types.ts";

/**
 * The event that an edit changes, if that is its own sender's. Servers hand on edits of others, too; the server is
 * asked for the original, whose sender and thread are in clear in encrypted rooms as well.
 *
 * @returns Undefined also if the server does not show the original.
 */
export async function editedEvent(
  client: Client,
  { room, sender, edits }: {
    readonly room: RoomID;
    readonly sender: UserID;
    /** What it edits; undefined: it does not say so. */
    readonly edits: EventID | undefined;
  },
): Promise<ClientEvent | undefined> {
  if (edits === undefined) return undefined;
  try {
    const original = await client.getEvent(room, edits);
    return original.sender === sender ? original : undefined;
  } catch (error) {
    if (error instanceof MatrixRequestError && (error.status === 404 || error.status === 403)) {
      return undefined;
    }
    throw error;
  }
}

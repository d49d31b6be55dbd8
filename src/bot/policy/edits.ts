/**
 * Whether an edit is one: only who has written a message may change it.
 *
 * @module
 */

import { type Client, MatrixRequestError } from "../../../mod.ts";
import type { EventID, RoomID, UserID } from "../../../types.ts";

/**
 * Whether an edit is of its own sender's event. Servers hand on edits of others, too; the server is
 * asked who sent the original, which is in clear in encrypted rooms as well.
 *
 * @returns False also if the server does not show the original.
 */
export async function isOwnEdit(
  client: Client,
  { room, sender, edits }: {
    readonly room: RoomID;
    readonly sender: UserID;
    /** What it edits; undefined: it does not say so. */
    readonly edits: EventID | undefined;
  },
): Promise<boolean> {
  if (edits === undefined) return false;
  try {
    return (await client.getEvent(room, edits)).sender === sender;
  } catch (error) {
    if (error instanceof MatrixRequestError && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}

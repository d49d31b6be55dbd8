/**
 * What a bot of the kit has handled without committing that, and is never shown again.
 *
 * @module
 */

import type { Surroundings } from "../world/surroundings.ts";
import type { KitLedger } from "./kit_ledger.ts";

/**
 * Whether a message was redacted before it was committed that it was handled: what the process has said by
 * then stays, and the next one knows nothing of it.
 */
export function isTakenBack(
  { sayings, homeserver, reach }: Pick<Surroundings, "sayings" | "homeserver" | "reach">,
  kit: KitLedger,
  number: number,
): boolean {
  const { room, eventId } = sayings.get(number)?.saying ?? {};
  if (room === undefined || eventId === undefined || kit.hasSettled(eventId)) return false;
  const message = homeserver.room(room).messages.find(({ event_id }) => event_id === eventId);
  const isRedacted = message !== undefined && Object.keys(message.content).length === 0;
  if (isRedacted) reach("excused: a message was redacted before it was committed that it was handled");
  return isRedacted;
}

/**
 * What a device need not read: it was not shown it, has lost it, or could not get its key.
 *
 * @module
 */

import type { Setback } from "../setback/setback.ts";
import type { Device } from "../world/device.ts";
import type { LostEvent } from "../disks/loss.ts";
import type { WorldRoom } from "../world/world.ts";

/** Whether a device may miss what another has said in a room. */
export function mayMiss(
  { reader, author, isVouched, setback, known = Infinity }: {
    readonly reader: Device;
    readonly author: Device;
    /** Whether devices count only if their users vouch for them. */
    readonly isVouched: boolean;
    /** That the homeserver was set back, if it was. */
    readonly setback: Setback | undefined;
    /** Up to which moment the author knew the server's state. Default: all. */
    readonly known?: number;
  },
  { id }: WorldRoom,
  message: LostEvent,
): boolean {
  if (reader.spoiled.has(message.event_id) || reader.isHidden) return true;
  if (isVouched && reader.isUnsure && reader.userId === author.userId) return true;
  if (isVouched && reader.userId !== author.userId && setback?.isUnvouched(author) === true) return true;
  if (setback?.mayMiss(id, reader, message) === true) return true;
  if (setback?.isMistaken({ room: id, author, reader, known }) === true) return true;
  if (reader.loss.mayMiss(id, message) || reader.loss.mayLack(id, message)) return true;
  return author.loss.maySendInVain(message) || ((reader.loss.needsHealing || isVouched) && author.isHidden);
}

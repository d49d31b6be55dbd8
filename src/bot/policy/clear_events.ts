/**
 * What of events in clear a bot goes by: the homeserver may have written them, and so may who has a user's token.
 *
 * @module
 */

import type { EncryptionInfo, MatrixEvent, SenderInfo } from "../../../types.ts";

/** An event, and how it was encrypted; undefined: it was not. */
interface Received {
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

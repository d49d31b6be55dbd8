/**
 * What an encrypted event must be from outside.
 *
 * @module
 */

import {
  isOpaqueId,
  looksLikeEventId,
  looksLikeRoomId,
  looksLikeUserId,
} from "../../types/checks/identifiers.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import { isJsonObject } from "../../types/json.ts";
import { type Undecryptable, undecryptable } from "./undecryptable.ts";

const ALGORITHM = "m.megolm.v1.aes-sha2";
/** How much is told of what is not known. */
const MAX_ALGORITHM_LENGTH = 255;
/** Servers let events of 64 KiB through. */
const MAX_CIPHERTEXT_LENGTH = 128 * 1024;

/** Why an event can't be decrypted whatever its key is; undefined: it has all that an encrypted event has. */
export function envelopeProblem(event: MessageEvent): Undecryptable | undefined {
  const { content, event_id, room_id, sender, origin_server_ts } = event;
  const malformed = (state: string) => undecryptable(event, "MALFORMED", state);
  const isNamed = looksLikeEventId(event_id) && looksLikeRoomId(room_id) && looksLikeUserId(sender);
  if (!isNamed || !Number.isSafeInteger(origin_server_ts)) {
    return malformed("it lacks an ID, a room, a sender or a time; do not trust the server with it");
  }
  if (event.state_key !== undefined) return malformed("it is state, which is not encrypted; ignore it");
  if (!isJsonObject(content)) return malformed("it has no content; ignore it");
  const { algorithm, ciphertext, session_id } = content;
  if (algorithm === undefined && isJsonObject(event.unsigned?.redacted_because)) {
    return malformed("it has been redacted; there is nothing left of it to read");
  }
  if (typeof algorithm !== "string") return malformed("it does not say how it is encrypted; ignore it");
  if (algorithm !== ALGORITHM) {
    const state = `it is encrypted with ${
      algorithm.slice(0, MAX_ALGORITHM_LENGTH)
    }; only ${ALGORITHM} is known here`;
    return undecryptable(event, "UNSUPPORTED_ALGORITHM", state);
  }
  if (!isOpaqueId(session_id)) return malformed("it names no session; ignore it");
  if (typeof ciphertext !== "string" || ciphertext.length > MAX_CIPHERTEXT_LENGTH) {
    return malformed("it has no ciphertext that an event could have; ignore it");
  }
  return undefined;
}

/**
 * A session as an entry of a key file.
 *
 * @module
 */

import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import type { ExportedSession, ImportedRoomKey } from "../megolm/room_key.ts";

/** What unstable versions of the specification call `shared_history`, and other clients still do. */
const UNSTABLE_SHARED = "org.matrix.msc3061.shared_history";

/** Writes an entry. */
export function writeEntry({ content, senderEd25519, sharedHistory }: ExportedSession): string {
  return JSON.stringify({
    ...content,
    sender_claimed_keys: senderEd25519 === "" ? {} : { ed25519: senderEd25519 },
    forwarding_curve25519_key_chain: [],
    shared_history: sharedHistory,
    [UNSTABLE_SHARED]: sharedHistory,
  });
}

/**
 * Reads an entry, whose key is checked where it is imported.
 *
 * @returns The key; undefined if it is no entry, or one of another algorithm.
 */
export function readEntry(bytes: Uint8Array): ImportedRoomKey | undefined {
  const entry = parse(bytes);
  if (!isJsonObject(entry) || entry.algorithm !== EncryptionAlgorithm.MEGOLM_V1) return undefined;
  const { room_id, session_id, session_key, sender_key, sender_claimed_keys, shared_history } = entry;
  if (typeof room_id !== "string" || typeof session_id !== "string") return undefined;
  if (typeof session_key !== "string" || typeof sender_key !== "string") return undefined;
  const sharedHistory = shared_history ?? entry[UNSTABLE_SHARED];
  const ed25519 = isJsonObject(sender_claimed_keys) ? sender_claimed_keys.ed25519 : undefined;
  return {
    roomId: room_id as RoomID, // which the import checks
    sessionId: session_id,
    sessionKey: session_key,
    senderKey: sender_key,
    senderEd25519: typeof ed25519 === "string" ? ed25519 : "",
    ...(typeof sharedHistory === "boolean" && { sharedHistory }),
    source: "export",
  };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

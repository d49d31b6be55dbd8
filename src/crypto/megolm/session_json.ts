/**
 * A session as JSON: what files and backups say of it.
 *
 * @module
 */

import { EncryptionAlgorithm } from "../../types/enums.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ExportedSession, ImportedRoomKey } from "./room_key.ts";
import { saidShared, UNSTABLE_SHARED } from "./shared_history.ts";

/** What is said of a session beside its name. */
export type SaidOfSession = Pick<
  ImportedRoomKey,
  "sessionKey" | "senderKey" | "senderEd25519" | "sharedHistory"
>;

/** Writes all that is said of a session, with its name. */
export function sessionJson({ content, senderEd25519, sharedHistory }: ExportedSession): JsonObject {
  return {
    ...content,
    sender_claimed_keys: senderEd25519 === "" ? {} : { ed25519: senderEd25519 },
    forwarding_curve25519_key_chain: [],
    shared_history: sharedHistory,
    [UNSTABLE_SHARED]: sharedHistory,
  };
}

/**
 * Reads what is said of a session, whose key is checked where it is imported.
 *
 * @returns Undefined if it is nothing of the kind, or of another algorithm.
 */
export function readSessionJson(object: JsonObject): SaidOfSession | undefined {
  if (object.algorithm !== EncryptionAlgorithm.MEGOLM_V1) return undefined;
  const { session_key, sender_key, sender_claimed_keys } = object;
  if (typeof session_key !== "string" || typeof sender_key !== "string") return undefined;
  const sharedHistory = saidShared(object);
  const { ed25519 } = isJsonObject(sender_claimed_keys) ? sender_claimed_keys : {};
  return {
    sessionKey: session_key,
    senderKey: sender_key,
    senderEd25519: typeof ed25519 === "string" ? ed25519 : "",
    ...(sharedHistory !== undefined && { sharedHistory }),
  };
}

/**
 * Parses an object that comes as bytes, as strictly as text of JSON is UTF-8.
 *
 * @returns Undefined if it is none.
 */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The form of encrypted events: the envelope that servers see, the payload inside, and the relation
 * that may stand in either; and why an event can't be read, in words.
 *
 * @module
 */

import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import { canBeOfClass } from "../../types/events/event_type.ts";
import {
  isName,
  isOpaqueId,
  isReceivedEventId,
  isReceivedRoomId,
  isReceivedUserId,
} from "../../types/identifiers.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, isShallow, type JsonObject } from "../../types/json.ts";
import { isVerification, type VerificationEvent } from "../../types/content/encryption_content.ts";
import type { Attribution } from "./session_owner.ts";
import type { VodozemacError, VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import { printable } from "../../errors/matrix_error.ts";
import type { UndecryptableCode } from "../../types/events/internal_event.ts";
import type { JudgedEvent } from "./decrypted.ts";
import type { InboundRecord } from "./inbound_record.ts";

/** How much of an unknown algorithm's name an error quotes. */
const MAX_ALGORITHM_LENGTH = 255;
/** Servers accept events of up to 64 KiB. */
const MAX_CIPHERTEXT_LENGTH = 128 * 1024;

/** The reason why no key can decrypt an event; undefined if its envelope is sound. */
export function envelopeProblem(event: MessageEvent): Undecryptable | undefined {
  const { content, event_id, room_id, sender, origin_server_ts } = event;
  const malformed = (state: string) => undecryptable(event, "MALFORMED", state);
  const isNamed = isReceivedEventId(event_id) && isReceivedRoomId(room_id) && isReceivedUserId(sender);
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
  if (algorithm !== EncryptionAlgorithm.MEGOLM_V1) {
    const state = `it is encrypted with ${
      algorithm.slice(0, MAX_ALGORITHM_LENGTH)
    }; only ${EncryptionAlgorithm.MEGOLM_V1} is known here`;
    return undecryptable(event, "UNSUPPORTED_ALGORITHM", state);
  }
  if (!isOpaqueId(session_id)) return malformed("it names no session; ignore it");
  if (typeof ciphertext !== "string" || ciphertext.length > MAX_CIPHERTEXT_LENGTH) {
    return malformed("it has no ciphertext that an event could have; ignore it");
  }
  return undefined;
}

/** The payload of an event: everything else comes from the envelope. */
export interface MegolmPayload {
  /** The event's type. */
  readonly type: string;
  /** The event's content, freshly parsed and not shared. */
  readonly content: JsonObject;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a payload.
 *
 * @param plaintext The decrypted bytes.
 * @param roomId The room that the event came in.
 * @returns The payload, or the problem in words.
 */
export function readMegolmPayload(plaintext: Uint8Array, roomId: RoomID): MegolmPayload | string {
  let payload: unknown;
  try {
    payload = JSON.parse(decoder.decode(plaintext));
  } catch {
    return "its content is not JSON in UTF-8";
  }
  if (!isJsonObject(payload)) return "its content is not a JSON object";
  if (!isShallow(payload)) return "its content is nested too deeply";
  const { type, content, room_id } = payload;
  if (room_id !== roomId) return "it was encrypted for another room";
  if (!isName(type)) return "its content says no type";
  if (!isJsonObject(content)) return "its content says no content";
  if (Object.hasOwn(payload, "state_key")) return "it pretends to be state, which is not encrypted";
  // State and the library's own events would only pretend to be messages, and servers apply
  // redactions.
  if (type === "m.room.encrypted" || type === "m.room.redaction" || !canBeOfClass(type, "message")) {
    return "it has a type that is never encrypted";
  }
  return { type, content };
}

/**
 * What an event that is not accepted says of a verification: that is how its device comes to be
 * trusted. It is for no handler, and from the device that has made the key only.
 */
export function verifying(
  event: MessageEvent,
  { plaintext, attribution }: { readonly plaintext: Uint8Array; readonly attribution: Attribution },
): { readonly verifying?: VerificationEvent } {
  const { trust, source, senderDevice } = attribution;
  if (source !== "direct" || !MAY_VERIFY.includes(trust)) return {};
  const payload = readMegolmPayload(plaintext, event.room_id);
  if (typeof payload === "string" || !isVerification(payload.type, payload.content)) return {};
  const { type, content } = payload;
  relationInto(content, event);
  const { sender, event_id: eventId, room_id: roomId, origin_server_ts: at } = event;
  return { verifying: { type, sender, senderDevice, content, place: { roomId, eventId, at } } };
}

/** How far a device is trusted that can't be heard, but verified. */
const MAY_VERIFY: readonly Attribution["trust"][] = ["unsigned-device", "verification-violation"];

/**
 * Completes a content with the relation of its event; an encrypted one goes first. Returns where it
 * was.
 */
export function relationInto(content: JsonObject, { content: { "m.relates_to": clear } }: MessageEvent) {
  if (Object.hasOwn(content, "m.relates_to")) {
    return isJsonObject(content["m.relates_to"]) ? "encrypted" : undefined;
  }
  if (!isJsonObject(clear)) return undefined;
  content["m.relates_to"] = clear;
  return "clear";
}

/** An event that can't be read, for now at least. */
export type Undecryptable = Extract<JudgedEvent, { readonly code: UndecryptableCode }>;

/** Longer texts of others are cut off in reasons. */
const MAX_QUOTED = 255;

/**
 * Describes an event that can't be decrypted.
 *
 * @param event The event, of which nothing needs to be as it must be.
 * @param code Why.
 * @param state The same in words, and what to do: `<state>; <what to do>`.
 */
export function undecryptable(event: MessageEvent, code: UndecryptableCode, state: string): Undecryptable {
  const { event_id, sender, room_id, content } = event;
  const session = quoted((content as MessageEvent["content"] | undefined)?.session_id);
  const reason =
    `Cannot decrypt event ${quoted(event_id)} of ${quoted(sender)} in room ${quoted(room_id)}, ` +
    `session ${session}: ${state}`;
  return { code, reason };
}

/** What codes of `m.room_key.withheld` mean, and what can be done. */
const WITHHELD: ReadonlyMap<string, string> = new Map([
  ["m.blacklisted", "the sender has blocked this device; ask them to unblock it"],
  [
    "m.unverified",
    "the sender only trusts verified devices; verify this device with them, or have its user cross-sign it",
  ],
  [
    "m.unauthorised",
    "this device may not have the key, as it was not in the room at that time; ask the sender to send the event again",
  ],
  [
    "m.unavailable",
    "the device that was asked does not have the key; ask the sender to send the event again",
  ],
  [
    "m.no_olm",
    "the sender's device found no way to send the key securely; it tries again with what it sends next",
  ],
  ["m.history_not_shared", "who invited the user may not share earlier history; nothing can be done here"],
]);

/** The result for an event whose key is withheld, with the meaning of the code. */
export function withheldFrom(event: MessageEvent, code: string): Undecryptable {
  const meaning = WITHHELD.get(code) ?? "the sender keeps the key from this device; ask them why";
  return { ...undecryptable(event, "WITHHELD", `${meaning} (${quoted(code)})`), withheld: code };
}

/** Errors that show that a ratchet does not fit a message that its session has signed. */
const BAD_RATCHET: ReadonlySet<VodozemacErrorCode> = new Set(["bad_mac", "bad_padding"]);

/** The result for an event that vodozemac refused. */
export function notDecrypted(
  event: MessageEvent,
  error: VodozemacError,
  { firstIndex, signedFrom = Infinity }: Pick<InboundRecord, "firstIndex" | "signedFrom">,
): Undecryptable {
  if (error.code === "unknown_index") {
    const { firstKnownIndex, messageIndex } = error;
    const state = `the key that is there begins at ${firstKnownIndex}, and the event is ${messageIndex}; ` +
      "it is read when an earlier key comes, which the sender's or another own device may have";
    return undecryptable(event, "KEY_TOO_NEW", state);
  }
  if (firstIndex < signedFrom && BAD_RATCHET.has(error.code)) {
    const state =
      "the key that is there came by way of another and does not open it; it is read when its sender's own key comes";
    return undecryptable(event, "MISSING_KEY", state);
  }
  const state = `${error.message}; it may have been altered on its way`;
  return undecryptable(event, "MALFORMED", state);
}

/** The result for an event whose sender is not trusted enough. */
export function untrusted(
  event: MessageEvent,
  { trust, senderDevice, senderKey }: Attribution,
): Undecryptable {
  const device = senderDevice === undefined
    ? `the device with the key ${senderKey}`
    : `the device ${senderDevice}`;
  const state = trust === "mismatched-sender"
    ? "its key came from another user than its sender; do not take it for what the sender said"
    : `${device} is not trusted enough (${trust}); ${mendOf(trust)}`;
  return undecryptable(event, "UNTRUSTED", state);
}

/**
 * The result for an event of now whose key others than its sender have put where it was found. It is read as
 * history, and heard when a key comes that proves more.
 */
export function unproven(event: MessageEvent, { source }: Pick<Attribution, "source">): Undecryptable {
  const state =
    `its key is from a ${source} and does not prove who wrote it; it is heard when the key comes from its sender ` +
    'or a verified device of yours, and crypto.decrypt() reads it; encryption.accept "all" hears such events, too';
  return { ...undecryptable(event, "UNTRUSTED", state), isKeyWanted: true };
}

function mendOf(trust: Attribution["trust"]): string {
  return trust === "verification-violation"
    ? "acknowledgeIdentity() accepts its user's new identity, after you have compared it"
    : 'its user has to verify it with another client, or verify it here; encryption.accept "all" hears such devices, too';
}

function quoted(value: unknown): string {
  return typeof value === "string" ? printable(value, MAX_QUOTED) : "(none)";
}

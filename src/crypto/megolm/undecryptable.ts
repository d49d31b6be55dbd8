/**
 * Why an event can't be read, in words.
 *
 * @module
 */

import type { VodozemacError, VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import { printable } from "../../errors/printable.ts";
import type { UndecryptableCode } from "../../types/events/encryption_info.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { JudgedEvent } from "./decrypted.ts";
import type { InboundRecord } from "./inbound_record.ts";
import type { Attribution } from "./session_owner.ts";

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

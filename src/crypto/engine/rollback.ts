/**
 * What shows that the store was set back to an earlier state, and recovering from it;
 * and answers that contradict what the server has taken, or shown, of the own user before.
 *
 * Anybody who stands in between, or a server at odds with itself, can alter one answer.
 * It does not count, and the server is asked again; what stays so does.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";
import { sameKey } from "../../types/base64.ts";
import type { Transaction } from "../records/mod.ts";
import { rollbackKey } from "../olm/olm.ts";
import { messagesOf, outboundKey } from "../sharing/mod.ts";
import type { OwnDevice } from "../context/context.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { Decryption } from "../megolm/mod.ts";
import type { DeviceAlarm } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import { showsKeys } from "../account/account.ts";
import { type DeviceQuery, readCrossSigningKey, shownKeys, userPart } from "../devices/mod.ts";

/**
 * What own events can't be decrypted with that were encrypted by a later state of the store, or by a
 * copy of it: a key that was made there, or an index that another event has used.
 */
const TELLING: ReadonlySet<string> = new Set(["MISSING_KEY", "REPLAYED"]);
/** After hearsay of a rollback no more hearsay counts for an hour: a server can make it up. */
const HEARSAY_MS = 3_600_000;

/** The encrypted events of a sync, and their results. */
export interface DecryptedEvents {
  readonly encrypted: readonly MessageEvent[];
  /** The result of each, in the same order. */
  readonly decrypted: readonly Decryption[];
}

/**
 * Returns whether own events prove that the store is out of date. An index and a session's key are
 * committed before anything is sent: an own event at a later index, or of an unknown session, was
 * encrypted after the store was written. So was one at an index that another has: by another process
 * on a copy of the store, unless the server shows one event as two.
 */
export async function tellsOfRollback(
  tx: Transaction,
  { context }: EngineParts,
  { encrypted, decrypted }: DecryptedEvents,
): Promise<boolean> {
  const { own, clock } = context;
  for (const [index, result] of decrypted.entries()) {
    const event = encrypted[index];
    if (event?.sender !== own.userId) continue;
    if (!("event" in result)) {
      if (!TELLING.has(result.code) || !claimsToBeOwn(event, own)) continue;
      if (elapsed(clock.now(), await tx.get(rollbackKey())) >= HEARSAY_MS) return true;
      continue;
    }
    const { event: { room_id }, encryption } = result;
    if (encryption?.senderKey !== own.curve25519) continue;
    const messages = messagesOf(await tx.get(outboundKey(room_id)), encryption.sessionId);
    if (messages !== undefined && encryption.messageIndex >= messages) return true;
  }
  return false;
}

/**
 * Runs {@link recoverFromRollback} if a room's session has an old record. If the whole store was
 * set back, own events show it; a single old record shows only by other records.
 */
export async function recoverFromOldSession(
  tx: Transaction,
  parts: EngineParts,
  roomId: RoomID,
): Promise<void> {
  if (await parts.outbound.wasPutBack(tx, roomId)) await recoverFromRollback(tx, parts);
}

/** Returns whether an event that can't be decrypted claims to be of this device. */
function claimsToBeOwn({ content }: MessageEvent, own: OwnDevice): boolean {
  return content.device_id === own.deviceId && sameKey(content.sender_key, own.curve25519);
}

/**
 * Gives up whatever could be used twice: sessions, keys that may have been handed out, messages on
 * their way.
 */
export async function recoverFromRollback(tx: Transaction, parts: EngineParts): Promise<void> {
  const { ownKeys, olm, outbound, devices, outbox, context: { clock, log } } = parts;
  tx.set(rollbackKey(), clock.now());
  const pending = outbox.pending();
  log.warn("The store was set back to an earlier state: beginning new sessions and keys", {
    dropped: pending.length,
  });
  ownKeys.recoverFromRollback(tx);
  olm.sessions.rollback(tx);
  await outbound.rollback(tx);
  devices.tracked.invalidateAll(tx);
  for (const entry of pending) await outbound.takeOut(tx, entry);
}

/**
 * After how many answers with other keys of the device the next one counts:
 * in a minute. The device ends by it.
 */
const MAX_KEYS = 7;
/**
 * After how many answers with another identity the next one counts:
 * at once, since the user may have reset it, and a start waits for it.
 */
const MAX_IDENTITIES = 2;

/** An answer that is not believed. */
export interface OwnDoubt {
  /** What it shows. */
  readonly alarm: DeviceAlarm;
  /** Whether the server is asked again without a delay. */
  readonly again: boolean;
  /** Notes that it was there. */
  readonly noted: () => void;
}

/** Judges answers of the server about the own user. */
export class OwnDoubts {
  readonly #parts: Pick<EngineParts, "ownKeys" | "ownIdentity" | "context">;
  /** How many answers in a row have shown other keys of the device. */
  #keys = 0;
  /** How many answers in a row have shown another identity. */
  #identities = 0;

  /** @param parts The parts of the engine. */
  constructor(parts: Pick<EngineParts, "ownKeys" | "ownIdentity" | "context">) {
    this.#parts = parts;
  }

  /** Returns what is not to be believed of an answer; undefined: nothing. */
  of({ users }: DeviceQuery, response: JsonObject): OwnDoubt | undefined {
    const { userId } = this.#parts.context.own;
    if (!users.includes(userId)) return undefined;
    const { answer } = userPart(response, userId);
    if (typeof answer === "string") return undefined;
    return this.#ofKeys(shownKeys(answer, this.#parts.context.own.deviceId)) ??
      this.#ofIdentity(answer.master);
  }

  /** Notes that an answer was believed. */
  believed(): void {
    this.#keys = 0;
    this.#identities = 0;
  }

  #ofKeys(shown: JsonObject | "missing"): OwnDoubt | undefined {
    const { ownKeys, context: { own } } = this.#parts;
    if (!ownKeys.isPublished || shown === "missing" || showsKeys(own, shown)) return undefined;
    if (this.#keys >= MAX_KEYS) return undefined;
    const { userId, deviceId } = own;
    const alarm = { kind: "keys-changed", userId, deviceId } as const;
    return { alarm, again: this.#keys === 0, noted: () => void this.#keys++ };
  }

  #ofIdentity(shown: unknown): OwnDoubt | undefined {
    const { ownIdentity: { known }, context: { own: { userId }, vodozemac } } = this.#parts;
    if (known?.phase !== "published") return undefined; // nothing has proven that it is the user's
    const current = readCrossSigningKey(vodozemac, shown, { userId, usage: "master" });
    if (current === undefined || current === known.master) return undefined;
    if (this.#identities >= MAX_IDENTITIES) return undefined;
    const alarm = {
      kind: "identity-changed",
      userId,
      previous: known.master,
      current,
      isAccepted: false,
    } as const;
    return { alarm, again: true, noted: () => void this.#identities++ };
  }
}

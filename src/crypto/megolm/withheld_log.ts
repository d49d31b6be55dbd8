/**
 * The reasons that senders gave for withholding keys from this device.
 *
 * They are not signed: they only explain why an event can't be decrypted.
 *
 * @module
 */

import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { MessageEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { isOpaqueId, isReceivedRoomId, isReceivedUserId } from "../../types/identifiers.ts";
import { isKey } from "../../types/base64.ts";
import { FairIndex, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";

/** How many such messages are kept; the limit is shared fairly among senders. */
const LIMIT = 2_000;
/** The code for all sessions of a device: there is no secure channel from it to here. */
const NO_OLM = "m.no_olm";
/**
 * Stands in the place of the sender for what those say who share the history of others: no user is called so.
 */
const SHARED = "shared history";
const CODE = /^[\w.-]{1,64}$/;

interface Withheld {
  readonly code: string;
  /** Who has said it of a session of others; absent: its sender. */
  readonly sharedBy?: UserID;
  /** Their order. */
  readonly order: number;
}

/** Keeps the reasons for withheld keys. */
export class WithheldLog {
  readonly #index = new FairIndex<Withheld>(LIMIT, ({ sharedBy = "" }) => sharedBy);
  #loaded = false;
  #last = 0;

  /** Reads what an earlier process has left; done by itself at the first use. */
  async load(tx: Transaction): Promise<void> {
    this.#index.clear();
    const entries = await tx.list<Withheld>("withheld");
    entries.sort(([, one], [, other]) => one.order - other.order);
    for (const [[sender = "", id = ""], withheld] of entries) {
      this.#index.load(sender, id, withheld);
      this.#last = withheld.order;
    }
    this.#loaded = true;
  }

  /** Receives an `m.room_key.withheld`; ignores malformed ones. */
  async receive(tx: Transaction, { sender, content }: ToDeviceEvent): Promise<void> {
    const { algorithm, room_id, session_id, sender_key, code } = content;
    if (algorithm !== EncryptionAlgorithm.MEGOLM_V1 || !isCode(code) || !isReceivedUserId(sender)) return;
    let id;
    // In the JSON of the name, control characters would take six times their length; no room ID has
    // any.
    if (isReceivedRoomId(room_id) && isOpaqueId(room_id) && isOpaqueId(session_id)) {
      id = sessionName(room_id, session_id);
    } else if (code === NO_OLM && isKey(sender_key)) id = deviceName(sender_key);
    else return;
    if (!this.#loaded) await this.load(tx);
    this.#keep(tx, sender, id, { code });
  }

  /** Receives what a user who shares history leaves out of it. */
  async shared(tx: Transaction, sharedBy: UserID, sessions: readonly SharedReason[]): Promise<void> {
    if (!this.#loaded) await this.load(tx);
    for (const { roomId, sessionId, code } of sessions) {
      this.#keep(tx, SHARED, sessionName(roomId, sessionId), { code, sharedBy });
    }
  }

  /** The code with which the sender of an event withholds its key; undefined: there is none. */
  async codeFor(tx: Transaction, { sender, room_id, content }: MessageEvent): Promise<string | undefined> {
    if (!this.#loaded) await this.load(tx);
    const { session_id, sender_key } = content;
    const ofSession = this.#index.get(sender, sessionName(room_id, String(session_id)));
    const ofDevice = isKey(sender_key) ? this.#index.get(sender, deviceName(sender_key)) : undefined;
    const ofOthers = this.#index.get(SHARED, sessionName(room_id, String(session_id)));
    return (ofSession ?? ofDevice ?? ofOthers)?.code;
  }

  /** Removes the reasons that a device gave for a session: it has sent the key. */
  async arrived(tx: Transaction, sender: string, session: WithheldSession): Promise<void> {
    if (!this.#loaded) await this.load(tx);
    for (const by of [sender, SHARED]) {
      this.#forget(tx, by, sessionName(session.roomId, session.sessionId));
    }
    this.#forget(tx, sender, deviceName(session.senderKey));
  }

  #keep(tx: Transaction, sender: string, id: string, reason: Omit<Withheld, "order">): void {
    const withheld = { ...reason, order: ++this.#last };
    this.#forget(tx, sender, id); // now the newest
    tx.set(withheldKey(sender, id), withheld);
    for (const [group, name] of this.#index.set(tx, [sender, id, withheld])) {
      tx.delete(withheldKey(group, name));
    }
  }

  #forget(tx: Transaction, sender: string, id: string): void {
    if (this.#index.get(sender, id) === undefined) return;
    this.#index.delete(tx, sender, id);
    tx.delete(withheldKey(sender, id));
  }
}

/** Why a session is not shared. */
export interface SharedReason {
  readonly roomId: RoomID;
  readonly sessionId: string;
  readonly code: string;
}

/**
 * Reads the reason for a session that is left out of shared history.
 *
 * @param entry It, unchecked.
 * @param roomId The room that it must be of.
 * @returns The reason; undefined if it can't be used.
 */
export function readSharedReason(entry: unknown, roomId: RoomID): SharedReason | undefined {
  if (!isJsonObject(entry) || entry.algorithm !== EncryptionAlgorithm.MEGOLM_V1) return undefined;
  const { room_id, session_id: sessionId, code } = entry;
  if (room_id !== roomId || !isOpaqueId(roomId) || !isOpaqueId(sessionId) || !isCode(code)) return undefined;
  return { roomId, sessionId, code };
}

function isCode(code: unknown): code is string {
  return typeof code === "string" && CODE.test(code);
}

/** A session that a device has sent the key of. */
export interface WithheldSession {
  readonly roomId: string;
  readonly sessionId: string;
  /** The Curve25519 key of the device. */
  readonly senderKey: string;
}

function sessionName(roomId: string, sessionId: string): string {
  return JSON.stringify([roomId, sessionId]);
}

function deviceName(senderKey: string): string {
  return JSON.stringify([senderKey]);
}

function withheldKey(sender: string, id: string): RecordKey<Withheld> {
  return recordKey("withheld", sender, id);
}

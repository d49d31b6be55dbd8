/**
 * The own Megolm sessions: one for each encrypted room, replaced when it must be, and shared with the devices
 * of the room; and what is encrypted with them.
 *
 * Over 300 lines because the door of the folder is its main class.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import { UnsupportedAlgorithmError } from "../../errors/encryption_error.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { RoomID, TransactionID, UserID } from "../../types/ids.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import { IDLE_ROOM_MS, LONGEST_USE_MS, RECORDS_A_STEP, type Transaction } from "../records/mod.ts";
import type { OutboxEntry } from "../requests/requests.ts";
import type { RoomChanges } from "./encrypted_rooms.ts";
import { draftRoomEvent, encodedRoomEvent, GroupSessions } from "./group_sessions.ts";
import { KeySharing } from "./key_sharing.ts";
import {
  type Encrypted,
  type EncryptInput,
  invalidate,
  OUTBOUND_KIND,
  outboundKey,
  type OutboundRecord,
  type PrepareInput,
  type RoomReadiness,
  type RoomSettings,
  rotationCause,
} from "./outbound_record.ts";
import type { SharingParts } from "./share_plan.ts";
import {
  forgetOldest,
  mayHaveKey,
  readShares,
  replaceShares,
  shareOf,
  sharesOfUser,
} from "./share_records.ts";

export {
  type Encrypted,
  type EncryptInput,
  isHistoryShared,
  messagesOf,
  type NewRecipient,
  outboundKey,
  type PrepareInput,
  type RoomDescription,
  type RoomReadiness,
  type RoomStateInput,
  type ShareReport,
  type StaleInput,
  type WithheldDevice,
} from "./outbound_record.ts";
export { EncryptedRooms } from "./encrypted_rooms.ts";
export { shareDecision } from "./share_plan.ts";

/** Of how many rooms it is remembered when they were last asked about. */
const MAX_ROOMS = 100_000;

type DeviceName = Pick<CryptoDevice, "userId" | "deviceId">;

/** Makes, shares, uses and replaces the own Megolm sessions. */
export class OutboundSessions {
  readonly #parts: SharingParts;
  readonly #groups: GroupSessions;
  readonly #sharing: KeySharing;
  /**
   * Since when all that is known of a room has been asked for, in milliseconds since the epoch, where no sync
   * shows it.
   */
  readonly #known = new RecentMap<RoomID, number>(MAX_ROOMS);

  /** @param parts The parts that it works with. */
  constructor(parts: SharingParts) {
    this.#parts = parts;
    this.#groups = new GroupSessions(parts.context, parts.inbound);
    this.#sharing = new KeySharing(parts, this.#groups);
  }

  /** Reads which rooms have sessions, and their events that are on their way; after the outbox. */
  async load(tx: Transaction): Promise<void> {
    const { rooms, outbox } = this.#parts;
    outbox.restore(await this.#groups.load(tx));
    rooms.restore(tx, this.#groups.rooms());
  }

  /**
   * Ends the session of a room if a user with its key left, or the settings changed; it is not used
   * again, even after a crash.
   */
  async roomChanged(tx: Transaction, { roomId, left, settingsChanged }: RoomChanges): Promise<void> {
    if (left.length === 0 && !settingsChanged) return;
    const record = await tx.get(outboundKey(roomId));
    if (record === undefined || record.invalid !== undefined) return;
    if (settingsChanged) return invalidate(tx, roomId, { record, cause: "settings-changed" });
    // Where history is shared, members may have passed the key on to other members.
    const taken = record.sharedHistory || left.includes(this.#parts.context.own.userId) ||
      [...(await readShares(tx, { roomId, sessionId: record.sessionId }, left)).values()]
        .some(({ devices }) => devices.some(mayHaveKey));
    if (taken) invalidate(tx, roomId, { record, cause: "member-left" });
  }

  /**
   * Ends sessions whose keys removed or blocked devices have; they are not used again, even after a
   * crash.
   */
  async devicesChanged(
    tx: Transaction,
    { removed }: { readonly removed: readonly DeviceName[] },
  ): Promise<void> {
    for (const [userId, devices] of Map.groupBy(removed, (device) => device.userId)) {
      for (const { session: { roomId, sessionId }, record: shares } of await sharesOfUser(tx, userId)) {
        const shared = devices.map(({ deviceId }) => shareOf(shares, deviceId));
        if (!shared.some((share) => share !== undefined && mayHaveKey(share))) continue;
        const record = await tx.get(outboundKey(roomId));
        if (record?.sessionId === sessionId) invalidate(tx, roomId, { record, cause: "device-gone" });
      }
      await this.#endShared(tx, userId);
    }
  }

  /**
   * Where history is shared, members may have passed keys on to a device, whose user may be invited as well.
   */
  async #endShared(tx: Transaction, userId: UserID): Promise<void> {
    const rooms = this.#groups.rooms().filter((roomId) =>
      this.#parts.rooms.recipients(roomId)?.has(userId) ?? true
    );
    for (const roomId of rooms) {
      const record = await tx.get(outboundKey(roomId));
      if (record?.sharedHistory !== true || record.invalid !== undefined) continue;
      invalidate(tx, roomId, { record, cause: "device-gone" });
    }
  }

  /**
   * Returns what a room needs before its next event, and takes a step towards it. It may be called again at
   * any time. Where no sync keeps them up to date, members and devices must be as of a time at the earliest:
   * former members could read the event otherwise, and new ones could not.
   *
   * @throws {UnsupportedAlgorithmError} If nothing can be sent to the room.
   * @throws {IdentityChangedError} If the policy requires that a user's new identity is
   *   acknowledged first.
   */
  async prepare(tx: Transaction, { since, ...input }: PrepareInput): Promise<RoomReadiness> {
    const { context: { own }, rooms, devices } = this.#parts;
    const { roomId } = input;
    if (since === undefined) return await this.#prepare(tx, input);
    let known = rooms.outdate(roomId, since);
    const recipients = rooms.recipients(roomId);
    if (recipients !== undefined) {
      const users = [...recipients, own.userId];
      devices.tracked.track(tx, users);
      known = Math.min(known, devices.outdate(users, since));
      if (!input.tolerate.keysQuery && devices.tracked.isDirty(users)) return { needs: "keysQuery" };
    }
    const readiness = await this.#prepare(tx, input);
    // What had to be done without is asked for before the next event, not again before this one.
    if (readiness.needs === "nothing") this.#known.set(roomId, known);
    return readiness;
  }

  async #prepare(tx: Transaction, input: PrepareInput): Promise<RoomReadiness> {
    const { roomId } = input;
    const { rooms } = this.#parts;
    const settings = this.#settings(roomId);
    const recipients = rooms.recipients(roomId);
    if (settings === undefined || recipients === undefined) {
      rooms.expectDescription(roomId);
      return { needs: "room" };
    }
    return await this.#sharing.prepare(tx, { ...input, settings, recipients });
  }

  /**
   * Encrypts an event. Its exact bytes are then kept under its transaction ID until it has arrived: with the
   * ratchet, unless those of the event before still are.
   *
   * @returns Undefined if the room has to be prepared first.
   * @throws {UnsupportedAlgorithmError} If nothing can be sent to the room.
   * @throws {EventTooLargeError} If no server would take the event.
   * @throws {EncryptionError} If the event is encrypted already.
   */
  async encrypt(tx: Transaction, input: EncryptInput): Promise<Encrypted | undefined> {
    const { context: { own, clock }, outbox } = this.#parts;
    const { roomId, txnId, since } = input;
    const kept = txnId === undefined ? undefined : outbox.roomEvent(roomId, txnId);
    if (kept !== undefined) return { content: kept.content };
    if (since !== undefined && !this.#isKnown(roomId, since)) return undefined;
    const settings = this.#settings(roomId);
    const key = outboundKey(roomId);
    const record = await tx.get(key);
    if (settings === undefined || record === undefined) return undefined;
    if (!this.#sharing.isReady(roomId, record, settings)) return undefined;
    const { plaintext, relatesTo } = draftRoomEvent(input, own);
    const { ciphertext, advanced } = this.#groups.encrypt(tx, { key, record }, plaintext);
    const content = encodedRoomEvent({ sessionId: record.sessionId, ciphertext }, { own, relatesTo });
    if (txnId !== undefined) {
      const event = outbox.enter(tx, { kind: "roomEvent", roomId, content }, { txnId, now: clock.now() });
      if (record.event === undefined) tx.set(key, { ...advanced, event });
      else outbox.store(tx, event);
    }
    return { content };
  }

  /** Forgets an encrypted event: it has arrived, or never will. */
  async roomEventSent(tx: Transaction, roomId: RoomID, txnId: TransactionID): Promise<void> {
    const entry = this.#parts.outbox.roomEvent(roomId, txnId);
    if (entry !== undefined) await this.takeOut(tx, entry);
  }

  /** Takes an entry out of the outbox, wherever it is stored. */
  async takeOut(tx: Transaction, entry: OutboxEntry): Promise<void> {
    const { outbox } = this.#parts;
    const key = entry.kind === "roomEvent" ? outboundKey(entry.roomId) : undefined;
    const record = key && await tx.get(key);
    if (key === undefined || record?.event?.id !== entry.id) return outbox.remove(tx, entry.id);
    const { event: _, ...rest } = record;
    tx.set(key, rest);
    outbox.forget(tx, entry.id);
  }

  /** Has the next event of a room begin a new session. */
  async discard(tx: Transaction, roomId: RoomID): Promise<void> {
    const record = await tx.get(outboundKey(roomId));
    if (record !== undefined) invalidate(tx, roomId, { record, cause: "discarded" });
  }

  /** Returns whether the record of a room's session was set back to an earlier one. */
  async wasPutBack(tx: Transaction, roomId: RoomID): Promise<boolean> {
    return await this.#groups.wasPutBack(tx, roomId);
  }

  /** Ends all sessions: the store was set back, so that their records are out of date. */
  async rollback(tx: Transaction): Promise<void> {
    for (const [[roomId = ""], record] of await tx.list<OutboundRecord>(OUTBOUND_KIND)) {
      invalidate(tx, roomId as RoomID, { record, cause: "rollback" }); // it was written under a room ID
    }
    tx.onCommit(() => this.clear());
  }

  /**
   * The index from which a device was given the key of a session; undefined if it was not, or that
   * is unknown.
   */
  async sharedAt(
    tx: Transaction,
    roomId: RoomID,
    sessionId: string,
    { userId, deviceId, curve25519 }: CryptoDevice,
  ): Promise<number | undefined> {
    const shares = await readShares(tx, { roomId, sessionId }, [userId]);
    const share = shareOf(shares.get(userId), deviceId);
    return share?.kind === "key" && share.curve25519 === curve25519 ? share.index : undefined;
  }

  /** Notes that the server refused a message with keys: its devices do not count as having them. */
  async shareFailed(tx: Transaction, entry: OutboxEntry): Promise<void> {
    if (entry.kind !== "toDevice" || entry.sessionId === undefined) return;
    const { sessionId, messages } = entry;
    const roomId = this.#groups.roomOf(sessionId);
    if (roomId === undefined) return;
    this.#sharing.recheck(tx, roomId);
    const at = this.#parts.context.clock.now();
    const devices = new Map(
      Object.entries(messages).map(([userId, contents]) => {
        return [userId as UserID, new Set(Object.keys(contents))]; // they were put in under user IDs
      }),
    );
    for (const [userId, record] of await readShares(tx, { roomId, sessionId }, [...devices.keys()])) {
      replaceShares(tx, userId, { roomId, sessionId }, {
        devices: record.devices.map((share) =>
          share.kind === "key" && devices.get(userId)?.has(share.deviceId)
            ? { ...share, kind: "failed", at }
            : share
        ),
      });
    }
  }

  /** The rooms that have a session. */
  sessionRooms(): RoomID[] {
    return this.#groups.rooms();
  }

  /**
   * Removes the session of a room that has long been idle, with earlier ones and their recipients.
   *
   * @returns Whether there is `more` to be done now.
   */
  async pruneRoom(tx: Transaction, roomId: RoomID): Promise<"done" | "more"> {
    const { rooms, outbox, context: { clock, policy } } = this.#parts;
    let record = await tx.get(outboundKey(roomId));
    if (record === undefined || record.event !== undefined || outbox.isSharing(record.sessionId)) {
      return "done";
    }
    const now = clock.now();
    const settings = rooms.settings(roomId);
    const isOver = settings === undefined ||
      rotationCause(record, { settings, policy: policy.sendTo, now }) !== undefined;
    const use = Math.min(settings?.rotationPeriodMs ?? 0, LONGEST_USE_MS);
    if (!isOver || now - record.createdAt < use + IDLE_ROOM_MS) return "done";
    // A session that is removed in part must not be used any more.
    record = { ...record, invalid: record.invalid ?? "age" };
    while (tx.changes < RECORDS_A_STEP) {
      const next = await forgetOldest(tx, roomId, record);
      if (next === undefined) {
        this.#groups.forget(tx, { roomId, record });
        return "done";
      }
      record = next;
    }
    tx.set(outboundKey(roomId), record);
    return "more";
  }

  /** Frees all objects; they are restored when they are needed. */
  clear(): void {
    this.#groups.clear();
    this.#sharing.clear();
  }

  #isKnown(roomId: RoomID, since: number): boolean {
    const at = this.#known.get(roomId);
    return at !== undefined && at >= since && at <= this.#parts.context.clock.now();
  }

  #settings(roomId: RoomID): RoomSettings | undefined {
    const settings = this.#parts.rooms.settings(roomId);
    if (settings === undefined || settings.algorithm === EncryptionAlgorithm.MEGOLM_V1) return settings;
    throw new UnsupportedAlgorithmError(
      `Cannot encrypt for room ${roomId}: it asks for the algorithm "${
        settings.algorithm ?? ""
      }", and only ` +
        `${EncryptionAlgorithm.MEGOLM_V1} is known; use another room`,
    );
  }
}

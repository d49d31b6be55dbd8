/**
 * The ratchets of the own group sessions, and the encrypted form of a room's event.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import { LiveObjects, type RecordKey, type Transaction } from "../records/mod.ts";
import type { OutboundGroupSession } from "@greenroom/vodozemac-wasm";
import { type InboundSessions, ReplayLog } from "../megolm/mod.ts";
import { pruneShares } from "./share_records.ts";
import {
  type EncryptInput,
  isHistoryShared,
  OUTBOUND_KIND,
  outboundCheckpointKey,
  outboundKey,
  type OutboundRecord,
  type RoomSettings,
} from "./outbound_record.ts";
import { EncryptionError, EventTooLargeError } from "../../errors/encryption_error.ts";
import { permanent } from "../../errors/matrix_error.ts";
import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { RelatesTo } from "../../types/content/message_content.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { CryptoContext, OwnDevice } from "../context/context.ts";
import type { RoomEventEntry } from "../requests/requests.ts";

/** A room that gets a new session. */
export interface NewSession {
  readonly roomId: RoomID;
  readonly settings: RoomSettings;
  /** The session that the new one replaces. */
  readonly previous: OutboundRecord | undefined;
}

export interface RoomSession {
  readonly roomId: RoomID;
  /** Its session. */
  readonly record: OutboundRecord;
}

/**
 * How many sessions are kept ready for use, so that a bot in 10,000 rooms need not restore one for
 * each message, which takes as long as to encrypt it. One takes 1 kB.
 */
const LIVE_SESSIONS = 12_000;

/**
 * Makes group sessions and advances their ratchets. Each change is written together with its cause.
 */
export class GroupSessions {
  readonly #context: CryptoContext;
  /** The inbound copies of the sessions. */
  readonly #inbound: InboundSessions;
  readonly #live = new LiveObjects<OutboundGroupSession>(LIVE_SESSIONS);
  /** The rooms of the sessions that are in use. */
  readonly #rooms = new Map<string, RoomID>();
  /** The rooms whose session has been checked to be the latest one. */
  readonly #proven = new Set<RoomID>();

  /**
   * @param context What all parts share.
   * @param inbound The inbound copies of the sessions.
   */
  constructor(context: CryptoContext, inbound: InboundSessions) {
    this.#context = context;
    this.#inbound = inbound;
  }

  /**
   * Reads which sessions are in use.
   *
   * @returns The events that are on their way.
   */
  async load(tx: Transaction): Promise<RoomEventEntry[]> {
    this.#rooms.clear();
    const records = await tx.list<OutboundRecord>(OUTBOUND_KIND);
    for (const [[roomId = ""], { sessionId }] of records) {
      this.#rooms.set(sessionId, roomId as RoomID); // it was written under a room ID
    }
    return records.flatMap(([, { event }]) => event ?? []);
  }

  /** The room of a session that is in use. */
  roomOf(sessionId: string): RoomID | undefined {
    return this.#rooms.get(sessionId);
  }

  /** Makes a session, with a copy that decrypts; both become durable in one commit. */
  async create(tx: Transaction, { roomId, settings, previous }: NewSession): Promise<OutboundRecord> {
    const { vodozemac, clock, policy } = this.#context;
    const session = vodozemac.megolm.createOutbound();
    this.#live.add(tx, liveId(roomId), session);
    const sharedHistory = isHistoryShared(settings);
    const made: OutboundRecord = {
      sessionId: session.sessionId,
      state: session.state(),
      createdAt: clock.now(),
      messages: 0,
      sharedHistory,
      policy: policy.sendTo,
      rosterPieces: 0,
      retired: previous === undefined ? [] : [
        { sessionId: previous.sessionId, rosterPieces: previous.rosterPieces, messages: previous.messages },
        ...previous.retired,
      ],
    };
    await this.#inbound.addOwn(tx, { roomId, sessionKey: session.sessionKey(), sharedHistory });
    const record = await pruneShares(tx, roomId, made);
    tx.set(outboundKey(roomId), record);
    tx.set(outboundCheckpointKey(roomId), { sessionId: record.sessionId, isOver: false });
    tx.onCommit(() => {
      if (previous !== undefined) this.#rooms.delete(previous.sessionId);
      this.#rooms.set(record.sessionId, roomId);
    });
    return record;
  }

  /**
   * The key for the messages from an index on, or from the next one if that comes first; secret.
   *
   * @returns Undefined if the inbound copy, which alone has the earlier ratchet, is damaged.
   */
  async key(tx: Transaction, { roomId, record }: RoomSession, index: number): Promise<string | undefined> {
    if (index >= record.messages) return this.#session(tx, liveId(roomId), record).sessionKey();
    const copy = await this.#inbound.exportSession(tx, { roomId, sessionId: record.sessionId }, index);
    return copy && this.#session(tx, liveId(roomId), record).signKey(copy.content.session_key);
  }

  /**
   * Encrypts a message, and writes how far the ratchet is then.
   *
   * @returns The message, and what was written.
   */
  encrypt(
    tx: Transaction,
    { key, record }: { readonly key: RecordKey<OutboundRecord>; readonly record: OutboundRecord },
    plaintext: string,
  ): { readonly ciphertext: string; readonly advanced: OutboundRecord } {
    const session = this.#session(tx, key.id, record);
    this.#live.changing(tx, key.id);
    const ciphertext = session.encrypt(plaintext);
    const advanced = { ...record, state: session.state(), messages: record.messages + 1 };
    tx.set(key, advanced);
    return { ciphertext, advanced };
  }

  /**
   * Returns whether the record of a room's session is an old one, checked once per process: the room has
   * had another session since, or gave it up, or an own event has come from an index that the
   * ratchet has not reached.
   */
  async wasPutBack(tx: Transaction, roomId: RoomID): Promise<boolean> {
    if (this.#proven.has(roomId)) return false;
    const record = await tx.get(outboundKey(roomId));
    if (record === undefined || record.invalid !== undefined) return false;
    const { sessionId, messages } = record;
    const { userId } = this.#context.own;
    const log = new ReplayLog();
    const replays = log.session(roomId, sessionId);
    replays.want(messages, userId);
    const [mark] = await Promise.all([tx.get(outboundCheckpointKey(roomId)), log.open(tx)]);
    if (mark !== undefined && (mark.isOver || mark.sessionId !== sessionId)) return true;
    if (replays.has(messages, userId)) return true;
    tx.onCommit(() => this.#proven.add(roomId));
    return false;
  }

  /** The rooms that have a session. */
  rooms(): RoomID[] {
    return [...this.#rooms.values()];
  }

  /** Forgets the session of a room. */
  forget(tx: Transaction, { roomId, record }: RoomSession): void {
    tx.delete(outboundKey(roomId));
    tx.delete(outboundCheckpointKey(roomId));
    tx.onCommit(() => {
      this.#live.evict(liveId(roomId));
      this.#rooms.delete(record.sessionId);
    });
  }

  /** Frees all sessions; they are restored when they are needed. */
  clear(): void {
    this.#live.clear();
  }

  #session(tx: Transaction, id: string, record: OutboundRecord): OutboundGroupSession {
    const restore = () => this.#context.vodozemac.megolm.restoreOutbound(record.state);
    const session = this.#live.get(tx, id, restore);
    if (session.sessionId === record.sessionId) return session;
    this.#live.evict(id);
    return this.#live.get(tx, id, restore);
  }
}

function liveId(roomId: RoomID): string {
  return outboundKey(roomId).id;
}

/** A draft, checked and ready to encrypt. */
export interface RoomEventDraft {
  /** What to encrypt. */
  readonly plaintext: string;
  /** What stays readable for the server. */
  readonly relatesTo: RelatesTo | undefined;
}

/** How large an event may be, in bytes, as servers send it to each other. */
const MAX_EVENT = 65_536;

/** What servers add at least: sender, room, time, hashes, signatures and previous events. */
const ENVELOPE = 1_024;

/** What Megolm adds at most: version, index, lengths, padding, MAC and signature. */
const MEGOLM_OVERHEAD = 1 + 6 + 6 + 16 + 8 + 64;

const encoder = new TextEncoder();

/**
 * Drafts the payload of an event.
 *
 * @throws {EncryptionError} If the event would be encrypted twice.
 * @throws {EventTooLargeError} If no server would take it.
 */
export function draftRoomEvent({ roomId, eventType, content }: EncryptInput, own: OwnDevice): RoomEventDraft {
  if (eventType === "" || eventType === "m.room.encrypted") {
    throw permanent(
      new EncryptionError(
        `Cannot encrypt event of type "${eventType}" for room ${roomId}: it is not one that is said in a room; ` +
          "use the type that the event has in plain text",
      ),
    );
  }
  const [type, room] = [JSON.stringify(eventType), JSON.stringify(roomId)];
  const plaintext = `{"type":${type},"content":${content},"room_id":${room}}`;
  // Most have none, and are not parsed.
  const relatesTo = content.includes('"m.relates_to"') ? JSON.parse(content)["m.relates_to"] : undefined;
  if (mayBeTooLarge(plaintext, own)) {
    const size = sizeOf(plaintext, { own, relatesTo });
    if (size > MAX_EVENT) {
      throw new EventTooLargeError(
        `Cannot encrypt event of type "${eventType}" for room ${roomId}: it would be ${size} bytes long, ` +
          `more than the ${MAX_EVENT} that servers take; send less, or send it as a file`,
      );
    }
  }
  return { plaintext, relatesTo };
}

/**
 * Returns whether the size has to be checked, which texts need not. A UTF-16 unit is at most three bytes,
 * which are four in Base64, and three more in a relation; one of the device ID may be six, as JSON
 * escapes it.
 */
function mayBeTooLarge(plaintext: string, { deviceId }: OwnDevice): boolean {
  return 7 * (plaintext.length + deviceId.length) + 2 * ENVELOPE > MAX_EVENT;
}

/** Returns the least size of the event, in bytes, as servers send it to each other. */
function sizeOf(
  plaintext: string,
  around: { readonly own: OwnDevice; readonly relatesTo: RelatesTo | undefined },
): number {
  const ciphertext = Math.ceil((encoder.encode(plaintext).length + MEGOLM_OVERHEAD) * 4 / 3);
  const rest = JSON.stringify(encodedRoomEvent({ sessionId: "", ciphertext: "" }, around));
  return ciphertext + ENVELOPE + 43 + encoder.encode(rest).length; // 43: the session's ID
}

/** The content of the encrypted event. */
export function encodedRoomEvent(
  { sessionId, ciphertext }: { readonly sessionId: string; readonly ciphertext: string },
  { own, relatesTo }: { readonly own: OwnDevice; readonly relatesTo: RelatesTo | undefined },
): RoomEncryptedContent {
  return {
    algorithm: EncryptionAlgorithm.MEGOLM_V1,
    ciphertext,
    session_id: sessionId,
    sender_key: own.curve25519,
    device_id: own.deviceId,
    ...(relatesTo === undefined ? {} : { "m.relates_to": relatesTo }),
  };
}

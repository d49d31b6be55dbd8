/**
 * Which devices have the key of which own group session, and from which message on;
 * and which recipients of rooms the application has approved, where it approves them.
 *
 * @module
 */

import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
import type { CryptoDevice, UserIdentity } from "../devices/mod.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { NewRecipient, OutboundRecord, WithheldDevice } from "./outbound_record.ts";

/** Returns what a device got of a session. */
export type DeviceShare =
  | {
    readonly deviceId: DeviceID;
    /** It got the key, or would have: the server did not take the message. */
    readonly kind: "key" | "failed";
    /** The Curve25519 key that it was encrypted for. */
    readonly curve25519: string;
    /** The index from which on it can decrypt. */
    readonly index: number;
    /** Its wedging index at that time: how often it may have lost messages. */
    readonly wedging: number;
    /** When it was sent, or failed to be, in milliseconds since the epoch. */
    readonly at: number;
  }
  | {
    readonly deviceId: DeviceID;
    /** It got a notice that it does not get the key, or silence. */
    readonly kind: "withheld";
    /** Why. */
    readonly code: WithheldDevice["code"];
  };

/** What a user's devices got of a session. */
export interface ShareRecord {
  /** Each device once. */
  readonly devices: readonly DeviceShare[];
}

/** For how many earlier sessions of a room the recipients are kept. */
const KEPT_SESSIONS = 5;
/** How many devices of a user are recorded at most: twice as many as a user may have at a time. */
const MAX_SHARES = 2_000;

/** Reads what the users' devices got of a session; users without a record are missing. */
export async function readShares(
  tx: Transaction,
  session: MegolmSessionRef,
  users: readonly UserID[],
): Promise<Map<UserID, ShareRecord>> {
  const records = await tx.getMany(users.map((userId) => shareKey(userId, session)));
  const found = new Map<UserID, ShareRecord>();
  for (const [index, userId] of users.entries()) {
    const record = records[index];
    if (record !== undefined) found.set(userId, record);
  }
  return found;
}

/** Returns what a device got of a session. */
export function shareOf(record: ShareRecord | undefined, deviceId: DeviceID): DeviceShare | undefined {
  return record?.devices.find((share) => share.deviceId === deviceId);
}

/** Returns whether a device has the key, or may have: a refused message may have arrived all the same. */
export function mayHaveKey(share: DeviceShare): boolean {
  return share.kind !== "withheld";
}

/** Reads all sessions of which a user's devices got something, without changes of this step. */
export async function sharesOfUser(
  tx: Transaction,
  userId: UserID,
): Promise<{ readonly session: MegolmSessionRef; readonly record: ShareRecord }[]> {
  const found = await tx.list<ShareRecord>(SHARE_KIND, userId);
  return found.map(([[roomId = "", sessionId = ""], record]) => {
    return { session: { roomId: roomId as RoomID, sessionId }, record }; // it was written under a room ID
  });
}

/**
 * Writes what devices got of a room's session.
 *
 * @returns The session's record with the new recipients.
 */
export async function writeShares(
  tx: Transaction,
  { roomId, record }: { readonly roomId: RoomID; readonly record: OutboundRecord },
  shares: readonly { readonly device: CryptoDevice; readonly share: DeviceShare }[],
): Promise<OutboundRecord> {
  const session = { roomId, sessionId: record.sessionId };
  const perUser = Map.groupBy(shares, ({ device }) => device.userId);
  const before = await readShares(tx, session, [...perUser.keys()]);
  for (const [userId, written] of perUser) {
    const devices = new Map(before.get(userId)?.devices.map((share) => [share.deviceId, share]));
    for (const { share } of written) devices.set(share.deviceId, share);
    tx.set(shareKey(userId, session), { devices: bounded([...devices.values()]) });
  }
  const added = [...perUser.keys()].filter((userId) => !before.has(userId));
  if (added.length === 0) return record;
  tx.set(rosterKey(session, record.rosterPieces), added);
  return { ...record, rosterPieces: record.rosterPieces + 1 };
}

/** Reads which users got something of a session; undefined: records that say so are missing. */
export async function readRecipients(
  tx: Transaction,
  { sessionId, rosterPieces }: { readonly sessionId: string; readonly rosterPieces: number },
  roomId: RoomID,
): Promise<UserID[] | undefined> {
  const keys = Array.from({ length: rosterPieces }, (_, piece) => rosterKey({ roomId, sessionId }, piece));
  const pieces = await tx.getMany(keys);
  const users = pieces.flatMap((piece) => piece ?? []);
  return pieces.includes(undefined) ? undefined : users;
}

/**
 * Removes a piece of the recipients of the oldest session, if there are more sessions than are
 * kept.
 *
 * @param keep How many earlier sessions are kept. Default: 5.
 * @returns The room's record without that piece.
 */
export async function pruneShares(
  tx: Transaction,
  roomId: RoomID,
  record: OutboundRecord,
  keep = KEPT_SESSIONS,
): Promise<OutboundRecord> {
  const oldest = record.retired.at(-1);
  if (oldest === undefined || record.retired.length <= keep) return record;
  const kept = record.retired.slice(0, -1);
  if (oldest.rosterPieces === 0) return { ...record, retired: kept };
  await forgetPiece(tx, { roomId, sessionId: oldest.sessionId }, oldest.rosterPieces - 1);
  return { ...record, retired: [...kept, { ...oldest, rosterPieces: oldest.rosterPieces - 1 }] };
}

/**
 * Removes a piece of the recipients of a room's sessions, those of the present one last.
 *
 * @returns The room's record without that piece; undefined: no piece is left.
 */
export async function forgetOldest(
  tx: Transaction,
  roomId: RoomID,
  record: OutboundRecord,
): Promise<OutboundRecord | undefined> {
  if (record.retired.length > 0) return await pruneShares(tx, roomId, record, 0);
  if (record.rosterPieces === 0) return undefined;
  await forgetPiece(tx, { roomId, sessionId: record.sessionId }, record.rosterPieces - 1);
  return { ...record, rosterPieces: record.rosterPieces - 1 };
}

/** Replaces what a user's devices got of a session. */
export function replaceShares(
  tx: Transaction,
  userId: UserID,
  session: MegolmSessionRef,
  record: ShareRecord,
): void {
  tx.set(shareKey(userId, session), record);
}

async function forgetPiece(tx: Transaction, session: MegolmSessionRef, piece: number): Promise<void> {
  const key = rosterKey(session, piece);
  for (const userId of await tx.get(key) ?? []) tx.delete(shareKey(userId, session));
  tx.delete(key);
}

/**
 * Devices that may have the key are always kept, and the last of the others, which may be any
 * number.
 */
function bounded(shares: readonly DeviceShare[]): readonly DeviceShare[] {
  let surplus = shares.length - MAX_SHARES;
  return surplus <= 0 ? shares : shares.filter((share) => mayHaveKey(share) || surplus-- <= 0);
}

const SHARE_KIND = "outbound_share";

/** The user comes first, so that a device's end finds the sessions that it concerns. */
function shareKey(userId: UserID, { roomId, sessionId }: MegolmSessionRef): RecordKey<ShareRecord> {
  return recordKey(SHARE_KIND, userId, roomId, sessionId);
}

function rosterKey({ roomId, sessionId }: MegolmSessionRef, piece: number): RecordKey<readonly UserID[]> {
  return recordKey("outbound_roster", roomId, sessionId, String(piece));
}

/** The room and the users to approve. */
export interface ApprovalInput {
  readonly roomId: RoomID;
  /** Its session. */
  readonly record: OutboundRecord;
  readonly users: readonly UserID[];
  /** Gives the identities of users. */
  readonly devices: { identityOf(tx: Transaction, userId: UserID): Promise<UserIdentity | undefined> };
}

/** Approves users with the identities that they were shown with, permanently. */
export function approve(tx: Transaction, roomId: RoomID, recipients: readonly NewRecipient[]): void {
  for (const { userId, master = "" } of recipients) tx.set(approvalKey(roomId, userId), master);
}

/**
 * The users who were never approved in a room with their present identity, nor got a key there
 * before approval was asked for.
 */
export async function unapproved(
  tx: Transaction,
  { roomId, record, users, devices }: ApprovalInput,
): Promise<NewRecipient[]> {
  const approvals = await tx.getMany(users.map((userId) => approvalKey(roomId, userId)));
  const known = new Map(users.map((userId, index) => [userId, approvals[index]]));
  const recipients: NewRecipient[] = [];
  for (const userId of users) {
    recipients.push({ userId, master: (await devices.identityOf(tx, userId))?.master });
  }
  let left = recipients.filter(({ userId, master = "" }) => known.get(userId) !== master);
  for (const { sessionId } of [record, ...record.retired]) {
    const unasked = left.map(({ userId }) => userId).filter((userId) => known.get(userId) === undefined);
    if (unasked.length === 0) break;
    const shares = await readShares(tx, { roomId, sessionId }, unasked);
    const had = (userId: UserID) => shares.get(userId)?.devices.some(({ kind }) => kind === "key") === true;
    approve(tx, roomId, left.filter(({ userId }) => had(userId)));
    left = left.filter(({ userId }) => !had(userId));
  }
  return left;
}

/** The master key that a user was approved with; empty: the user had none. */
function approvalKey(roomId: RoomID, userId: UserID): RecordKey<string> {
  return recordKey("outbound_approval", roomId, userId);
}

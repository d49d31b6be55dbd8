/**
 * What sharing keys needs of the other parts.
 *
 * @module
 */

import type { RoomID, TransactionID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { CryptoContext } from "../engine/context.ts";
import type { Device } from "../devices/device.ts";
import type { ExportedSession, SessionRef } from "../megolm/inbound_sessions.ts";
import type { Outbox } from "../requests/outbox.ts";
import type { Rooms } from "./rooms.ts";
import type { Transaction } from "../records/transaction.ts";
import type { UserIdentity } from "../devices/user_record.ts";

/** Others' devices, as sharing keys needs them. */
export interface RecipientDevices {
  /** Changes whenever a user's devices, or their trust, do. */
  readonly version: number;
  /** Whose devices, or their trust, have changed since a version; undefined: nobody knows any more. */
  changedSince(version: number): ReadonlySet<UserID> | undefined;
  /** Changes whenever a user's devices may have become out of date, or are not kept up to date any more. */
  readonly dirtyVersion: number;
  /** Has the users' devices kept up to date. */
  track(tx: Transaction, users: readonly UserID[]): Promise<void>;
  /** The users' devices that have keys. */
  devicesOf(tx: Transaction, users: readonly UserID[]): Promise<ReadonlyMap<UserID, readonly Device[]>>;
  /** By which keys a user vouches for devices; undefined if none were ever seen. */
  identityOf(tx: Transaction, userId: UserID): Promise<UserIdentity | undefined>;
  /** Whether the devices of one of the users may be out of date. */
  isDirty(users: readonly UserID[]): boolean;
}

/** Olm, as sharing keys needs it. */
export interface SharingChannels {
  /** Changes when a device can be reached, or may have lost what it was sent, once that is durable. */
  readonly version: number;
  /** Whose devices that concerned since a version; undefined: nobody knows any more. */
  changedSince(version: number): ReadonlySet<UserID> | undefined;
  /** Encrypts for a device; undefined if there is no session with it. */
  encrypt(
    tx: Transaction,
    device: Device,
    type: string,
    content: JsonObject,
  ): Promise<JsonObject | undefined>;
  /** Reads what encrypting for the devices will need, in one go. */
  prefetch(tx: Transaction, devices: readonly Device[]): Promise<void>;
  /** Those of the devices with which there is no session. */
  withoutSession(tx: Transaction, devices: readonly Device[]): Promise<readonly Device[]>;
  /** Has sessions begun with devices. */
  want(tx: Transaction, devices: readonly Device[]): Promise<void>;
  /** Whether it makes sense to wait for a session with a device. */
  isPromising(device: Device, now: number): boolean;
  /** How often a device may have lost what it was sent. */
  wedgingIndex(tx: Transaction, device: Device): Promise<number>;
  /** Whether a device has not been told yet that there is no session with it. */
  shouldTellNoOlm(tx: Transaction, device: Device): Promise<boolean>;
  /** Says that it has been told. */
  toldNoOlm(tx: Transaction, device: Device): Promise<void>;
}

/** Where the own copies of group sessions are. */
export interface OwnCopies {
  /** Keeps a copy of an own session that decrypts. */
  addOwn(
    tx: Transaction,
    session: { readonly roomId: RoomID; readonly sessionKey: string; readonly sharedHistory: boolean },
  ): Promise<void>;
  /** Exports a session from an index on; undefined if there is none. */
  exportSession(tx: Transaction, session: SessionRef, index: number): Promise<ExportedSession | undefined>;
}

/** What own group sessions need of the other parts. */
export interface SharingParts {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** Encrypted rooms. */
  readonly rooms: Rooms;
  /** Others' devices. */
  readonly devices: RecipientDevices;
  /** Olm. */
  readonly olm: SharingChannels;
  /** What is on its way. */
  readonly outbox: Outbox;
  /** Group sessions that decrypt. */
  readonly inbound: OwnCopies;
}

/** A name for a request, and the time: what the outbox wants to know. */
export function postmark({ uniqueId, clock }: CryptoContext): { txnId: TransactionID; now: number } {
  return { txnId: uniqueId(), now: clock.now() };
}

/**
 * What goes into the engine and what comes out: plain data.
 *
 * @module
 */

import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { Membership } from "../../types/enums.ts";
import type { MessageEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { DeviceKeys, KeysUploadRequest } from "../../types/api/device_keys.ts";
import type { DeviceID, RoomID, SyncToken, TransactionID, UserID } from "../../types/ids.ts";
import type { JudgedEvent, RecoveredEvent, ToDeviceMessage } from "../megolm/mod.ts";
import type { ComparedDevice, LocalTrust } from "../devices/mod.ts";
import type { BackupRequest } from "../backup/mod.ts";
import type { BundleRequest } from "../history/mod.ts";
import type { DeviceMessages } from "../requests/mod.ts";
import type { RoomStateInput } from "../sharing/mod.ts";
import type { SignaturesUpload } from "../identity/mod.ts";

/** The parts of a sync response that concern encryption. */
export interface CryptoInput {
  /** The token that the response ends with. */
  readonly nextBatch: SyncToken;
  /** Whether the request had no token: what is known of others' devices may be out of date. */
  readonly initial: boolean;
  /** All messages to this device, in order. */
  readonly toDevice: readonly ToDeviceEvent[];
  /** Users whose devices have to be looked up again. */
  readonly deviceLists: { readonly changed: readonly UserID[]; readonly left: readonly UserID[] };
  /** How many one-time keys the server has left, by algorithm; one that is missing has none. */
  readonly oneTimeKeyCounts: Readonly<Record<string, number>>;
  /** Algorithms whose fallback key is unused; undefined if the server has no fallback keys. */
  readonly unusedFallbackTypes: readonly string[] | undefined;
  /** State that changes, by room, in order: members come and go, rooms become encrypted. */
  readonly state: readonly RoomStateInput[];
  /** Encrypted events of timelines, in order. */
  readonly encrypted: readonly MessageEvent[];
  /** Events of verifications that came in clear through rooms, in order. Default: none. */
  readonly verifying?: readonly MessageEvent[];
  /** Whether earlier responses are handled: then events that come again are not handled again. */
  readonly handledBefore: boolean;
  /** Whether nobody handles its events: those that can't be read are not kept for later. Default: no. */
  readonly isIgnored?: boolean;
}

/** What the engine returns for a sync response. */
export interface CryptoOutput {
  /** The messages to this device that are left for handlers, decrypted. */
  readonly toDevice: readonly ToDeviceMessage[];
  /** For each of {@link CryptoInput.encrypted}, in the same order, what became of it. */
  readonly decrypted: readonly JudgedEvent[];
  /** Indices of {@link CryptoInput.encrypted} that are being handled, or have been. */
  readonly underway: readonly number[];
  /** Earlier events that can be decrypted now, in the order in which they came. */
  readonly recovered: readonly RecoveredEvent[];
  /** The response's rooms that were known to be encrypted before it. */
  readonly encryptedRooms: ReadonlySet<RoomID>;
}

/** The same, from the engine. */
export interface EngineOutput extends CryptoOutput {
  /** Whether there may be requests to make; if not, it takes another step to change that. */
  readonly mayRequest: boolean;
}

/** A request to the server that the engine asks for. */
export type EngineRequest =
  | BackupRequest
  | BundleRequest
  | {
    /** Its unique ID. */
    readonly id: string;
    readonly kind: "keysUpload";
    readonly body: KeysUploadRequest;
  }
  | { readonly id: string; readonly kind: "keysQuery"; readonly users: readonly UserID[] }
  | { readonly id: string; readonly kind: "signaturesUpload"; readonly signatures: SignaturesUpload }
  | {
    readonly id: string;
    readonly kind: "keysClaim";
    readonly oneTimeKeys: Readonly<Record<UserID, Readonly<Record<DeviceID, string>>>>;
  }
  | {
    readonly id: string;
    readonly kind: "toDevice";
    readonly eventType: string;
    readonly txnId: TransactionID;
    readonly messages: DeviceMessages;
    /** The group session that it is about, if it is about one. */
    readonly sessionId?: string;
  }
  | {
    /** An event that an earlier process did not send. */
    readonly id: string;
    readonly kind: "roomEvent";
    readonly roomId: RoomID;
    readonly txnId: TransactionID;
    readonly content: RoomEncryptedContent;
    /** When it was encrypted, in milliseconds since the epoch. */
    readonly createdAt: number;
  };

/** A membership that this client has just changed. */
export interface MemberChange {
  readonly roomId: RoomID;
  readonly userId: UserID;
  readonly membership: Membership;
}

/** An encrypted event that need not be sent any more. */
export interface SentRoomEvent {
  /** Where it was sent. */
  readonly roomId: RoomID;
  /** The transaction ID that it was encrypted for. */
  readonly txnId: TransactionID;
  /** Whether it has arrived; if not, it never will. */
  readonly arrived: boolean;
}

/** What the application says of a device. */
export interface TrustInput extends ComparedDevice {
  /** The trust; undefined removes it. */
  readonly trust: LocalTrust | undefined;
}

/** The own device's public keys. */
export interface OwnIdentity {
  /** The device's keys as they are published. */
  readonly deviceKeys: DeviceKeys;
  /** The Ed25519 key, by which users compare devices. */
  readonly ed25519: string;
  /** The Curve25519 key. */
  readonly curve25519: string;
}

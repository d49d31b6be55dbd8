/**
 * What goes into the engine and what comes out: plain data. Over 300 lines because most of it says what each
 * member means.
 *
 * @module
 */

import type { VerificationEvent } from "../verification/verification_message.ts";
import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { Membership } from "../../types/enums.ts";
import type { MessageEvent, StateEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { CrossSigningKey, DeviceKeys, KeysUploadRequest } from "../../types/api/device_keys.ts";
import type { DeviceID, RoomID, SyncToken, TransactionID, UserID } from "../../types/ids.ts";
import type { UndecryptableCode } from "../../types/events/encryption_info.ts";
import type { JsonObject } from "../../types/json.ts";
import type { DecryptedEvent, ToDeviceMessage, UndecryptableEventRef } from "../megolm/decrypted.ts";
import type { NewRecipient } from "../sharing/approvals.ts";
import type { ComparedDevice, Device, LocalTrust } from "../devices/device.ts";
import type { BackupRequest } from "../backup/backup_protocol.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import type { BundleRequest } from "../history/history_protocol.ts";
import type { DeviceMessages } from "../requests/outbox.ts";
import type { WithheldDevice } from "../sharing/share_policy.ts";

/** Whose engine it is. */
export interface EngineAccount {
  /** The user. */
  readonly userId: UserID;
  /** The device. */
  readonly deviceId: DeviceID;
}

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

/** State of a room that changes. */
export interface RoomStateInput {
  /** The room. */
  readonly roomId: RoomID;
  /** The state events, in the order in which they take effect. */
  readonly events: readonly StateEvent[];
  /** Whether the timeline has a gap, in which members may have changed. */
  readonly limited: boolean;
  /** Whether members may have changed that are not in `events`: the server lazy-loads them. */
  readonly lossy: boolean;
}

/** What became of an encrypted event. */
export type Decryption =
  | DecryptedEvent
  | {
    /** Why it can't be decrypted, for now at least. */
    readonly code: UndecryptableCode;
    /** The same in words: which event, session and room, and what to do. */
    readonly reason: string;
    /** The code of the reason that the sender gave for withholding the key, if it did. */
    readonly withheld?: string;
  };

/** The same, within the client. */
export type JudgedEvent = Decryption & {
  /** Whether a better key of its session would have it heard, and is to be asked for. */
  readonly isKeyWanted?: true;
  /** What it says of a verification, if its device is not trusted enough for anything else. */
  readonly verifying?: VerificationEvent;
};

/** An event that waited for its key and can be decrypted now. */
export interface RecoveredEvent extends DecryptedEvent {
  /** The record that it waits under; it is kept until the event has been handled. */
  readonly ref: UndecryptableEventRef;
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
}

/** The same, from the engine. */
export interface EngineOutput extends CryptoOutput {
  /** Whether there may be requests to make; if not, it takes another step to change that. */
  readonly mayRequest: boolean;
}

/** What was signed, with the signatures, by user and by device or master key. */
export type SignaturesUpload = Readonly<
  Record<UserID, Readonly<Record<string, DeviceKeys | CrossSigningKey>>>
>;

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

/** What follows from an answer of the server. */
export interface AnswerOutput {
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
  /** Keys that are not what they should be. */
  readonly alarms: readonly DeviceAlarm[];
}

/** How a request failed. */
export interface RequestFailure {
  /** The HTTP status; 0 if the server could not be reached. */
  readonly status: number;
  /** The server's errcode, if it said one. */
  readonly errcode: string | undefined;
  /** The error in words. */
  readonly message: string;
}

/** Whether a failed request is `settled`: it is made in another way, or not again. */
export type FailureOutput = Readonly<Record<"settled", boolean>>;

/** What a room needs before its next event. */
export type RoomReadiness =
  | {
    /** The room's encryption, history visibility and members: call `describeRoom`. */
    readonly needs: "room";
  }
  | { /** Devices have to be looked up: a `keysQuery` is among the requests. */ readonly needs: "keysQuery" }
  | {
    /** One-time keys have to be claimed: a `keysClaim` is among the requests. */
    readonly needs: "keysClaim";
  }
  | {
    /** The keys of the own device have to be published: a `keysUpload` is among the requests. */
    readonly needs: "keysUpload";
  }
  | {
    /** Keys are on their way: the `toDevice` requests about a session have to arrive. */
    readonly needs: "toDevice";
    /** The session. */
    readonly sessionId: string;
  }
  | {
    /** Approval of users who would get a key of this room for the first time. */
    readonly needs: "approval";
    readonly users: readonly NewRecipient[];
  }
  | {
    /** Nothing: an event can be encrypted. */
    readonly needs: "nothing";
    readonly share: ShareReport;
  };

/** Asks what a room needs before its next event. */
export interface PrepareInput {
  /** The room. */
  readonly roomId: RoomID;
  /** What has failed too often, and is not waited for any more. */
  readonly tolerate: {
    /** Lookups of devices. */
    readonly keysQuery: boolean;
    /** Claims of one-time keys. */
    readonly keysClaim: boolean;
  };
  /** Users who may get a key of this room for the first time, with the identities shown. */
  readonly approved?: readonly NewRecipient[];
  /** Whether the caller has waited since a claim failed, so that it is made again at once. Default: false. */
  readonly hasWaited?: boolean;
  /** How old members and devices may be, as ms since the epoch; undefined: syncs show them. */
  readonly since?: number;
}

/** The devices that have the key of a room's group session, and those that do not. */
export interface ShareReport {
  /** The session. */
  readonly sessionId: string;
  /** Devices that have it. */
  readonly shared: readonly Device[];
  /** Devices that do not get it, and why: a code of `m.room_key.withheld`. */
  readonly withheld: readonly WithheldDevice[];
}

/** The description of a room that the engine needs before it encrypts for it. */
export interface RoomDescription {
  /** The room. */
  readonly roomId: RoomID;
  /** The content of `m.room.encryption`. */
  readonly encryption: JsonObject;
  /** The content of `m.room.history_visibility`; undefined if there is none. */
  readonly historyVisibility: JsonObject | undefined;
  /** All users who have joined or are invited. */
  readonly members: readonly { readonly userId: UserID; readonly membership: "join" | "invite" }[];
}

/** A membership that this client has just changed. */
export interface MemberChange {
  /** The room. */
  readonly roomId: RoomID;
  /** The user. */
  readonly userId: UserID;
  /** The membership. */
  readonly membership: Membership;
}

/** What to encrypt. */
export interface EncryptInput {
  /** The room. */
  readonly roomId: RoomID;
  /** The event's type. */
  readonly eventType: string;
  /** The event's content. */
  readonly content: JsonObject;
  /** The transaction ID to send it with; the result stays the same until `roomEventSent`. */
  readonly txnId?: TransactionID;
  /** The same as {@link PrepareInput.since}. */
  readonly since?: number;
}

/** Asks whether users' devices have to be looked up. */
export interface StaleInput {
  /** The users, who are tracked from now on. */
  readonly users: readonly UserID[];
  /** The same as {@link PrepareInput.since}. */
  readonly since?: number;
}

/** An encrypted event that need not be sent any more. */
export interface SentRoomEvent {
  /** The room. */
  readonly roomId: RoomID;
  /** The transaction ID that it was encrypted for. */
  readonly txnId: TransactionID;
  /** Whether it has arrived; if not, it never will. */
  readonly arrived: boolean;
}

/** An encrypted event. */
export interface Encrypted {
  /** The content of the `m.room.encrypted` event. */
  readonly content: RoomEncryptedContent;
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

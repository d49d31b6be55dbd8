/**
 * What goes into the engine and what comes out: plain data.
 *
 * @module
 */

import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { Membership } from "../../types/enums.ts";
import type { MessageEvent, StateEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { DeviceKeys, KeysUploadRequest } from "../../types/api/device_keys.ts";
import type { DeviceID, RoomID, SyncToken, TransactionID, UserID } from "../../types/ids.ts";
import type { UndecryptableCode } from "../../types/events/encryption_info.ts";
import type { JsonObject } from "../../types/json.ts";
import type { DecryptedEvent, ParkedEventRef, ToDeviceMessage } from "../megolm/decrypted.ts";
import type { NewRecipient } from "../sharing/approvals.ts";
import type { ComparedDevice, Device, LocalTrust } from "../devices/device.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import type { DeviceMessages } from "../requests/outbox.ts";
import type { WithheldDevice } from "../sharing/share_policy.ts";

/** Whose engine it is. */
export interface EngineAccount {
  /** The user. */
  readonly userId: UserID;
  /** The device. */
  readonly deviceId: DeviceID;
}

/** What of one sync response concerns encryption. */
export interface CryptoInput {
  /** The token that the response ends with. */
  readonly nextBatch: SyncToken;
  /** Whether the request had no token: whatever was known of others' devices may be out of date. */
  readonly initial: boolean;
  /** All messages to this device, in order. */
  readonly toDevice: readonly ToDeviceEvent[];
  /** Users whose devices need another look. */
  readonly deviceLists: { readonly changed: readonly UserID[]; readonly left: readonly UserID[] };
  /** How many one-time keys the server has left, by algorithm; one that is missing has none. */
  readonly oneTimeKeyCounts: Readonly<Record<string, number>>;
  /** Algorithms whose fallback key nobody has used; absent if the server has no fallback keys. */
  readonly unusedFallbackTypes: readonly string[] | undefined;
  /** State that changes, by room, in order: members come and go, rooms become encrypted. */
  readonly state: readonly RoomStateInput[];
  /** Encrypted events of timelines, in order. */
  readonly encrypted: readonly MessageEvent[];
  /** Whether what came with the responses before has been handled, or will be, so that events that come again are not to be. */
  readonly handledBefore: boolean;
}

/** State of a room that changes. */
export interface RoomStateInput {
  /** The room. */
  readonly roomId: RoomID;
  /** The state events, in the order in which they take effect. */
  readonly events: readonly StateEvent[];
  /** Whether the timeline left something out, so that members may have come and gone unseen. */
  readonly limited: boolean;
  /** Whether members may have changed without being in `events`: the server was asked for some members only. */
  readonly lossy: boolean;
}

/** What became of an encrypted event. */
export type Decryption =
  | DecryptedEvent
  | {
    /** Why it can't be read, for now at least. */
    readonly code: UndecryptableCode;
    /** The same in words: which event, session and room, and what to do. */
    readonly reason: string;
    /** What the sender said of why it keeps the key, if it did: its code. */
    readonly withheld?: string;
  };

/** An event that waited for its key, and can be read now. */
export interface RecoveredEvent extends DecryptedEvent {
  /** Under which name it waited; it is kept until it has been handled. */
  readonly parked: ParkedEventRef;
}

/** What encryption makes of a sync response. */
export interface CryptoOutput {
  /** The messages to this device that are left for handlers, decrypted. */
  readonly toDevice: readonly ToDeviceMessage[];
  /** For each of {@link CryptoInput.encrypted}, in the same order, what became of it. */
  readonly decrypted: readonly Decryption[];
  /** Those of {@link CryptoInput.encrypted}, by their index, that are not to be handled: they are being, or have been. */
  readonly underway: readonly number[];
  /** Earlier events that can be read now, in the order in which they came. */
  readonly recovered: readonly RecoveredEvent[];
}

/** A request to the server that the engine wants to have made. */
export type EngineRequest =
  | {
    /** Tells it from all others. */
    readonly id: string;
    readonly kind: "keysUpload";
    readonly body: KeysUploadRequest;
  }
  | { readonly id: string; readonly kind: "keysQuery"; readonly users: readonly UserID[] }
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
    /** An event that an earlier process has left; the events of this process are sent by who asked for them. */
    readonly id: string;
    readonly kind: "roomEvent";
    readonly roomId: RoomID;
    readonly txnId: TransactionID;
    readonly content: RoomEncryptedContent;
    /** When it was encrypted, in milliseconds since the epoch. */
    readonly createdAt: number;
  };

/** What an answer of the server led to. */
export interface AnswerOutput {
  /** Events that can be read now. */
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

/** Whether a failure is `settled`, over and done with: what was refused is sent in another way, or not at all. */
export type FailureOutput = Readonly<Record<"settled", boolean>>;

/** What stands between a room and its next event. */
export type RoomReadiness =
  | {
    /** The room's encryption, history visibility and members have to be told: `describeRoom`. */
    readonly needs: "room";
  }
  | { /** Devices have to be looked up: a `keysQuery` is among the requests. */ readonly needs: "keysQuery" }
  | {
    /** One-time keys have to be claimed: a `keysClaim` is among the requests. */ readonly needs: "keysClaim";
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
    /** Users are about to get a key of this room for the first time, with the identity that they have: `approveRecipients`. */
    readonly needs: "approval";
    readonly users: readonly NewRecipient[];
  }
  | {
    /** Nothing: an event can be encrypted. */
    readonly needs: "nothing";
    readonly share: ShareReport;
  };

/** Asks what stands between a room and its next event. */
export interface PrepareInput {
  /** The room. */
  readonly roomId: RoomID;
  /** What has been tried in vain, and is not to be waited for any more. */
  readonly tolerate: {
    /** Devices that can't be looked up. */
    readonly keysQuery: boolean;
    /** Devices of which no one-time key can be had. */
    readonly keysClaim: boolean;
  };
  /** Users who may get a key of this room for the first time, with the identities that they were shown with. */
  readonly approved?: readonly NewRecipient[];
  /** When members and devices must have been asked for, since no sync tells of them, in milliseconds since the epoch. */
  readonly since?: number;
}

/** Who has the key of a room's group session, and who does not. */
export interface ShareReport {
  /** The session. */
  readonly sessionId: string;
  /** Devices that have it. */
  readonly shared: readonly Device[];
  /** Devices that do not get it, and why: a code of `m.room_key.withheld`. */
  readonly withheld: readonly WithheldDevice[];
}

/** What the engine has to know of a room before it encrypts for it. */
export interface RoomDescription {
  /** The room. */
  readonly roomId: RoomID;
  /** The content of `m.room.encryption`. */
  readonly encryption: JsonObject;
  /** The content of `m.room.history_visibility`; undefined if there is none. */
  readonly historyVisibility: JsonObject | undefined;
  /** All users who are in the room or invited, with what they are to it. */
  readonly members: readonly { readonly userId: UserID; readonly membership: "join" | "invite" }[];
}

/** What a user is to a room since a moment ago. */
export interface MemberChange {
  /** The room. */
  readonly roomId: RoomID;
  /** The user. */
  readonly userId: UserID;
  /** What the user is to it. */
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
  /** Under which it will be sent: the result is then kept until `roomEventSent`, and is the same if asked for again. */
  readonly txnId?: TransactionID;
  /** The same as {@link PrepareInput.since}. */
  readonly since?: number;
}

/** Asks whether something about users' devices is out of date. */
export interface StaleInput {
  /** The users; those who were not of interest are from now on. */
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

/** What became of it: undefined if the room is not ready, or not any more. */
export interface Encrypted {
  /** The content of the `m.room.encrypted` event. */
  readonly content: RoomEncryptedContent;
}

/** Asks for one step of letting go of what need not be kept any more. */
export interface PruneOptions {
  /** Whether to begin even if less than a day has gone by since it was done last. Default: false. */
  readonly force?: boolean;
}

/** What a step of letting go has come to. */
export interface PruneReport {
  /** Whether there is nothing left to do for today; else it is to be asked for again. */
  readonly done: boolean;
  /** How many records the step has removed, by their kind. */
  readonly removed: Readonly<Record<string, number>>;
}

/** What the application says of a device. */
export interface TrustInput extends ComparedDevice {
  /** What is said; undefined: nothing any more. */
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

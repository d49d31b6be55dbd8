/**
 * What the sharing of keys takes and returns: plain data.
 *
 * @module
 */

import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { StateEvent } from "../../types/events/event.ts";
import type { RoomID, TransactionID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import type { WithheldCode } from "../../types/content/to_device_content.ts";

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
  /** Identifies the outbound Megolm session. */
  readonly sessionId: string;
  /** Devices that have it. */
  readonly shared: readonly CryptoDevice[];
  /** Devices that do not get it, and why: a code of `m.room_key.withheld`. */
  readonly withheld: readonly WithheldDevice[];
}

/** The description of a room that the engine needs before it encrypts for it. */
export interface RoomDescription {
  readonly roomId: RoomID;
  /** The content of `m.room.encryption`; undefined if the server shows none. */
  readonly encryption: JsonObject | undefined;
  /** The content of `m.room.history_visibility`; undefined if there is none. */
  readonly historyVisibility: JsonObject | undefined;
  /** All users who have joined or are invited. */
  readonly members: readonly { readonly userId: UserID; readonly membership: "join" | "invite" }[];
}

export interface EncryptInput {
  readonly roomId: RoomID;
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

/** An encrypted event. */
export interface Encrypted {
  /** The content of the `m.room.encrypted` event. */
  readonly content: RoomEncryptedContent;
}

/** State of a room that changes. */
export interface RoomStateInput {
  readonly roomId: RoomID;
  /** The state events, in the order in which they take effect. */
  readonly events: readonly StateEvent[];
  /** Whether the timeline has a gap, in which members may have changed. */
  readonly limited: boolean;
  /** Whether members may have changed that are not in `events`: the server lazy-loads them. */
  readonly lossy: boolean;
}

/** A device that does not get the key, and why. */
export interface WithheldDevice {
  /** Which device gets no key. */
  readonly device: CryptoDevice;
  /** A code of `m.room_key.withheld`. */
  readonly code: Exclude<WithheldCode, "m.history_not_shared">;
}

/**
 * A user who is to get a key of a room for the first time, or for the first time with this
 * identity.
 */
export interface NewRecipient {
  /** Who gets keys for the first time. */
  readonly userId: UserID;
  /**
   * The master key of the user's identity, in unpadded base64; undefined: none, so that the server
   * can add devices.
   */
  readonly master: string | undefined;
}

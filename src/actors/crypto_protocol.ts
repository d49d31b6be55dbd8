/**
 * What the pipeline asks of end-to-end encryption.
 *
 * @module
 */

import type { MessageEvent, StateEvent, ToDeviceEvent } from "../types/event.ts";
import type { RoomID, SyncToken, UserID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";
import type { ActorRef } from "./actor.ts";

/** What of one sync response concerns encryption. */
export interface CryptoInput {
  /** The token that the response ends with. */
  readonly nextBatch: SyncToken;
  /** All messages to this device, in order. */
  readonly toDevice: readonly ToDeviceEvent[];
  /** Users whose devices need another look. */
  readonly deviceLists: { readonly changed: readonly UserID[]; readonly left: readonly UserID[] };
  /** How many one-time keys the server has left, by algorithm; one that is missing has none. */
  readonly oneTimeKeyCounts: Readonly<Record<string, number>>;
  /** Algorithms whose fallback key nobody has used; absent if the server has no fallback keys. */
  readonly unusedFallbackTypes: readonly string[] | undefined;
  /** State that changes, by room, in order: members come and go, rooms become encrypted. */
  readonly state: readonly {
    readonly roomId: RoomID;
    readonly events: readonly StateEvent[];
    readonly limited: boolean;
  }[];
  /** Encrypted events of timelines, in order. */
  readonly encrypted: readonly MessageEvent[];
}

/** What became of an encrypted event. */
export type Decryption =
  | { /** The event in plain text, with the envelope of the encrypted one. */ readonly event: MessageEvent }
  | {
    /** Why it can't be read, for now at least: an error's code. */ readonly code: string;
    readonly reason: string;
  };

/** What encryption makes of a sync response. */
export interface CryptoOutput {
  /** The messages to this device that are left for handlers, decrypted. */
  readonly toDevice: readonly ToDeviceEvent[];
  /** For each of {@link CryptoInput.encrypted}, in the same order, what became of it. */
  readonly decrypted: readonly Decryption[];
}

/** The messages of the Crypto actor. */
export interface CryptoProtocol {
  /** Takes in a sync response; its effects are durable, or repeatable, when the reply comes. A failure is fatal. */
  receiveSync(input: CryptoInput): CryptoOutput;
}

/** End-to-end encryption, as a client uses it. */
export interface Crypto {
  /** The actor that stands in the way of every sync response, between Syncer and Store. */
  readonly actor: ActorRef<CryptoProtocol>;
  /**
   * Encrypts an event, creating and sharing a group session first if need be.
   *
   * @returns The content of the `m.room.encrypted` event.
   * @throws {EncryptionError} If it can't be done; nothing was sent to the room.
   */
  encrypt(roomId: RoomID, eventType: string, content: object): Promise<JsonObject>;
  /**
   * Creates a group session for a room and shares it with its members' devices.
   *
   * @throws {EncryptionError} If it can't be done.
   */
  shareGroupSession(roomId: RoomID): Promise<void>;
}

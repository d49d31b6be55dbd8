/**
 * The operations of a client: they store what they learn of a room's state, and encrypt for
 * encrypted rooms.
 *
 * @module
 */

import type { OpenStore } from "../actors/store/opener.ts";
import type { CryptoHolder } from "../actors/crypto/sync_crypto.ts";
import type { CryptoMachine } from "../encryption/crypto.ts";
import { encryptingAPI, type Hold } from "./encrypting_api.ts";
import { EncryptionSends } from "./encryption_sends.ts";
import { notingEncryption } from "./noting.ts";
import type { StateStore } from "../actors/store/state_store.ts";
import type { ClearRooms } from "../actors/syncer/clear_rooms.ts";
import type { SyncRequests } from "../actors/syncer/syncer_options.ts";
import { storeUpdatingAPI } from "./store_updating_api.ts";
import { type ClientAPI, clientAPI } from "../api/api.ts";
import { profileAPI } from "../api/account/account.ts";
import { firstContact, type Session } from "../api/http/mod.ts";
import { attachmentCipher } from "../crypto/attachments/attachments.ts";
import type { Logger } from "../base/log.ts";

/** What of a client its operations need. */
export interface ClientOperationsParts {
  /** Has what encrypts. */
  readonly encryption: CryptoHolder<CryptoMachine>;
  /** Stores the state of rooms. */
  readonly stateStore: StateStore;
  /** Says which rooms are known not to be encrypted. */
  readonly clearRooms: ClearRooms;
  /** Types of event that are never encrypted. */
  readonly blacklist: ReadonlySet<string>;
  /** Holds the device for the time of some work. */
  readonly hold: Hold;
  /** Opens the store, by new actors if others have failed. */
  readonly ready: OpenStore;
  /** Logs what goes on. */
  readonly log: Logger;
}

/** Makes a client's operations. */
export function clientOperations(
  session: Session,
  { encryption, stateStore, clearRooms, blacklist, hold, ready, log }: ClientOperationsParts,
): ClientAPI {
  const { getProfile } = profileAPI(session);
  const { nextTransactionId, asUserId } = session.http;
  const encryptionSends = new EncryptionSends();
  const api = clientAPI(session, (core) => {
    const updating = storeUpdatingAPI(core, { stateStore, encryptionSends, getProfile, log });
    return encryptingAPI(updating, {
      encryption,
      stateStore,
      encryptionSends,
      clearRooms,
      blacklist,
      hold,
      ready,
      nextTransactionId,
      asUserId,
    });
  }, attachmentCipher);
  return { ...api, ...notingEncryption(api, { stateStore, log }) };
}

/** What of a client's operations its Syncer needs. */
export function syncRequests(session: Session, api: ClientAPI): SyncRequests {
  return {
    ...api,
    firstContact: (error, signal) => firstContact(error, session, signal),
  };
}

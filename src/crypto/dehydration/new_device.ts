/**
 * A dehydrated device: made, signed and encrypted; decrypted again, with what was sent to it;
 * and what is said of one: plain data.
 *
 * @module
 */

import {
  type Account,
  type DehydratedAccount,
  type Vodozemac,
  VodozemacError,
} from "@greenroom/vodozemac-wasm";
import type {
  DehydratedDevice,
  DehydratedDeviceData,
  DehydratedDeviceUpload,
  DeviceKeys,
} from "../../types/api/device_keys.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { newDeviceKeys, newUpload, OwnKeys } from "../account/account.ts";
import { signableJson, withSignature } from "../encoding/encoding.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import type { CryptoContext, OwnDevice } from "../context/context.ts";
import { isAboutMessage, type OlmPeer, readOlmMessage } from "../olm/olm.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { RateLimit } from "../requests/requests.ts";
import type { RecoveredEvent } from "../megolm/mod.ts";

const KEY_BYTES = 32;

/** The secret that holds it in secret storage: the name that clients write, and the one to come. */
export const PICKLE_KEY_SECRETS = ["org.matrix.msc3814", "m.dehydrated_device"] as const;

/** Makes a random key. */
export function newPickleKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** The name that clients write, and the one to come. */
const ALGORITHMS = ["org.matrix.msc3814.v2", "m.dehydration.v2"] as const;

/** Longer ones are not looked at: an account with all the keys it may have takes less. */
const MAX_PICKLE = 524_288;
const MAX_NONCE = 64;

/** Encrypts the private keys. */
function writeDeviceData(account: Account, key: Uint8Array): DehydratedDeviceData {
  const { ciphertext, nonce } = account.dehydrate(key);
  return { algorithm: ALGORITHMS[0], device_pickle: ciphertext, nonce };
}

/**
 * Decrypts the private keys.
 *
 * @param data What the server shows.
 * @returns The account, which the caller disposes of; undefined if it is of another algorithm, or the
 *   key is another one, or it was changed.
 */
export function readDeviceData(
  vodozemac: Vodozemac,
  data: DehydratedDeviceData,
  key: Uint8Array,
): Account | undefined {
  const encrypted = encryptedIn(data);
  if (encrypted === undefined) return undefined;
  try {
    return vodozemac.olm.rehydrateAccount(encrypted, key);
  } catch (error) {
    if (error instanceof VodozemacError && error.code !== "instance_dead") return undefined;
    throw error;
  }
}

function encryptedIn(data: DehydratedDeviceData): DehydratedAccount | undefined {
  const { algorithm, device_pickle: ciphertext, nonce } = data;
  if (typeof ciphertext !== "string" || typeof nonce !== "string") return undefined;
  if (ciphertext.length > MAX_PICKLE || nonce.length > MAX_NONCE) return undefined;
  return ALGORITHMS.some((known) => known === algorithm) ? { ciphertext, nonce } : undefined;
}

/** What the user's other clients call it. */
const DISPLAY_NAME = "Dehydrated device";

/** What a new device needs. */
export interface NewDeviceInput {
  /** Whose it is. */
  readonly userId: UserID;
  /** The key that encrypts its private keys. */
  readonly key: Uint8Array;
  /** Signs with the own self-signing key; undefined: that is not at hand. */
  readonly crossSign: (object: JsonObject) => Promise<JsonObject | undefined>;
}

/**
 * Makes a device. Its private keys are in the result only, encrypted.
 *
 * @returns The device; undefined if it can't be signed: nobody would send anything to it.
 */
export async function newDehydratedDevice(
  { olm }: Vodozemac,
  { userId, key, crossSign }: NewDeviceInput,
): Promise<DehydratedDeviceUpload | undefined> {
  using account = olm.createAccount();
  account.generateOneTimeKeys(OwnKeys.onServer);
  account.generateFallbackKey();
  const { curve25519Key: curve25519, ed25519Key: ed25519 } = account;
  const deviceId = curve25519;
  const sign = (object: JsonObject): JsonObject => {
    const signature = account.sign(signableJson(object));
    return withSignature(object, { userId, keyId: `ed25519:${deviceId}`, signature });
  };
  const bare = newDeviceKeys({ userId, deviceId, curve25519, ed25519 });
  const signed = await crossSign(sign({ ...bare, dehydrated: true }));
  if (signed === undefined) return undefined;
  const keys = newUpload({
    deviceKeys: signed as unknown as DeviceKeys, // the same members, and signatures
    oneTimeKeys: account.oneTimeKeys(),
    fallbackKey: account.fallbackKey(),
    sign,
  });
  account.markKeysAsPublished();
  return {
    device_id: deviceId,
    device_data: writeDeviceData(account, key),
    device_keys: signed as unknown as DeviceKeys, // likewise
    initial_device_display_name: DISPLAY_NAME,
    one_time_keys: keys?.one_time_keys,
    fallback_keys: keys?.fallback_keys,
  };
}

/** The kind of its sessions' records. */
export const SESSION_KIND = "rehydrated_session";

/** A session of the device, under its ID, which depends on the identity key of the other side. */
interface SessionRecord {
  /** Its state; secret. */
  readonly state: Uint8Array;
}

/** Decrypts messages in one step. */
export class RehydratedDevice implements Disposable {
  readonly #options;

  /** @param options What it is made with. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    readonly own: OwnDevice;
    /** Its account, which it disposes of. */
    readonly account: Account;
    /** Limits with how many sessions a user may begin. */
    readonly newSessions: RateLimit;
  }) {
    this.#options = options;
  }

  /** The state of its account, without the one-time keys that were used; secret. */
  get state(): Uint8Array {
    return this.#options.account.state();
  }

  /** Decrypts a message, with who sent it, as the server says; returns the reason if it can't be read. */
  async open(
    tx: Transaction,
    event: ToDeviceEvent,
  ): Promise<{ readonly peer: OlmPeer; readonly plaintext: Uint8Array } | string> {
    const { own } = this.#options;
    const received = readOlmMessage(event, own);
    if (typeof received === "string") return received;
    const { peer, message } = received;
    // Who has never got an answer begins the session with each message.
    if (message.type !== 0) return "it belongs to a session of another device";
    try {
      const plaintext = await this.#decrypt(tx, peer, message.body);
      return typeof plaintext === "string" ? plaintext : { peer, plaintext };
    } catch (error) {
      if (error instanceof VodozemacError && isAboutMessage(error)) return error.message;
      throw error;
    }
  }

  /** Frees its account. */
  [Symbol.dispose](): void {
    this.#options.account[Symbol.dispose]();
  }

  async #decrypt(tx: Transaction, peer: OlmPeer, body: Uint8Array): Promise<Uint8Array | string> {
    const { context: { vodozemac }, account, newSessions } = this.#options;
    const { sessionId, identityKey } = vodozemac.olm.readPreKeyMessage(body);
    if (identityKey !== peer.curve25519) return "it names two different senders";
    const key = sessionKey(sessionId);
    const record = await tx.get(key);
    if (record !== undefined) {
      using known = vodozemac.olm.restoreSession(record.state);
      const plaintext = known.decrypt({ type: 0, body });
      tx.set(key, { state: known.state() });
      return plaintext;
    }
    if (!newSessions.take(peer.userId)) return "its user begins too many sessions";
    const { session, plaintext } = account.createInboundSession(peer.curve25519, { type: 0, body });
    using begun = session;
    tx.set(key, { state: begun.state() });
    return plaintext;
  }
}

function sessionKey(sessionId: string): RecordKey<SessionRecord> {
  return { ...recordKey<SessionRecord>(SESSION_KIND, sessionId), held: true, passing: true };
}

/** A dehydrated device that this device has made. */
export interface MadeDevice {
  readonly deviceId: DeviceID;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether the server has said that it has it. */
  readonly isUploaded: boolean;
}

/** A dehydrated device whose messages are being read. */
export interface ReadingState {
  readonly deviceId: DeviceID;
  /** Where the next page begins; undefined: with the first message. */
  readonly from?: string;
  /** Whether all was read. */
  readonly isRead: boolean;
  /** How many messages were read so far. */
  readonly messages: number;
  /** How many keys were in them that were not here before. */
  readonly keys: number;
}

/** How it is with dehydrated devices. */
export interface DehydrationState {
  /** Whether the key that encrypts them is here. */
  readonly hasKey: boolean;
  /** Whether another key is to take its place before the next device is made. */
  readonly isKeyOld: boolean;
  /** Whether this device can sign one. */
  readonly canSign: boolean;
  /** The one that was made last; undefined: none was. */
  readonly made: MadeDevice | undefined;
  /** The one that is being read; undefined: none is. */
  readonly reading: ReadingState | undefined;
}

/**
 * What becomes of a device that is to be read: `reading`: its messages are to be received, from where
 * they were left; `unreadable`: its private keys can't be decrypted with the key that is here;
 * `busy`: what is left of another one has to be cleared first.
 */
export type ReadingOutcome = "reading" | "unreadable" | "busy";

/** Messages to a dehydrated device, in the order in which they came. */
export interface RehydratedPage {
  readonly deviceId: DehydratedDevice["device_id"];
  /** Some messages, unchecked. */
  readonly events: readonly unknown[];
  /**
   * Where the next page begins; undefined: there is none. Absent: more of this page follows.
   */
  readonly next?: { readonly from: string | undefined };
}

/** What has come of a page. */
export interface RehydratedOutput {
  /** How far it is now; undefined: the device is not being read. */
  readonly reading: ReadingState | undefined;
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
}

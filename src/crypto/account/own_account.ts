/**
 * The own account: vodozemac's object together with its record; and whether the server shows its keys.
 *
 * @module
 */

import {
  type Account,
  type InboundOlmSession,
  type OlmMessage,
  type OlmSession,
  type Vodozemac,
  VodozemacError,
} from "@greenroom/vodozemac-wasm";
import { EncryptionError } from "../../errors/encryption_error.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { decodeBase64, sameKey } from "../../types/base64.ts";
import { signableJson, withSignature } from "../encoding/encoding.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import {
  type CountedKeys,
  crossSigned,
  newDeviceKeys,
  oldestKey,
  type SelfSigningKey,
  withKeys,
  withoutKey,
} from "./key_upload.ts";
import type { OwnDevice } from "../context/context.ts";

/** The record of the own account. */
export interface AccountRecord {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  /** The state of vodozemac's account. */
  readonly state: Uint8Array;
  /**
   * The device's keys as they are published, with their signatures. Reading them does not restore the
   * account, which takes longer the more one-time keys there are.
   */
  readonly deviceKeys: DeviceKeys;
  /** The public halves of the one-time keys that are kept, 32 bytes each, the oldest first. */
  readonly oneTimeKeys: Uint8Array;
  /**
   * Whether there are keys that the server may not have; no more are generated before it has them.
   */
  readonly unpublished: boolean;
  /** Whether the server has the identity keys. */
  readonly identityPublished: boolean;
  /** When the server got the fallback key, in milliseconds since the epoch; undefined: not yet. */
  readonly fallbackPublishedAt: number | undefined;
  /** Whether the private half of the previous fallback key is still kept. */
  readonly previousFallback: boolean;
  /**
   * When the server got the previous fallback key, in milliseconds since the epoch; undefined:
   * unknown.
   */
  readonly previousPublishedAt?: number;
  /** How many one-time keys the server had after the last upload, by its answer, less those used since. */
  readonly counted?: CountedKeys;
  /** How often the store turned out to be older than what the server has seen. */
  readonly rollbacks: number;
}

export function accountKey(): RecordKey<AccountRecord> {
  return recordKey("account");
}

/**
 * How many private halves of one-time keys are kept. The server has at most 50; the others were
 * handed out, and their messages have not come yet, or never will.
 */
const MAX_KEPT = 500;

/** The part of the record that {@link OwnAccount.change} may set. */
export type AccountFacts = Omit<AccountRecord, "state" | "oneTimeKeys" | "deviceKeys">;

/** The owner of an account. */
interface Owner {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
}

/** The record of the account can't be used: the message that needed it is not at fault. */
export class DamagedAccountError extends EncryptionError {}

/** Keeps the object and the record in step: a change is in both or in neither. */
export class OwnAccount {
  readonly #vodozemac: () => Vodozemac;
  /** As this step has it. */
  #record: AccountRecord;
  /** As it was committed; undefined before the first commit. */
  #committed: AccountRecord | undefined;
  #live: Account | undefined;

  private constructor(vodozemac: () => Vodozemac, record: AccountRecord, live?: Account) {
    this.#vodozemac = vodozemac;
    this.#live = live;
    this.#record = record;
  }

  /** Reads the account; undefined if there is none. */
  static async open(tx: Transaction, vodozemac: () => Vodozemac): Promise<OwnAccount | undefined> {
    const record = await tx.get(accountKey());
    if (record === undefined) return undefined;
    const account = new OwnAccount(vodozemac, record);
    account.#committed = record;
    return account;
  }

  /** Creates an account, with identity keys only. */
  static create(tx: Transaction, vodozemac: () => Vodozemac, { userId, deviceId }: Owner): OwnAccount {
    const live = vodozemac().olm.createAccount();
    const { curve25519Key: curve25519, ed25519Key: ed25519 } = live;
    const keys = newDeviceKeys({ userId, deviceId, curve25519, ed25519 });
    const account = new OwnAccount(vodozemac, {
      userId,
      deviceId,
      state: live.state(),
      // The signed object has the same members, and a signature.
      deviceKeys: signed({ ...keys }, { userId, deviceId }, live) as unknown as DeviceKeys,
      oneTimeKeys: new Uint8Array(),
      unpublished: false,
      identityPublished: false,
      fallbackPublishedAt: undefined,
      previousFallback: false,
      rollbacks: 0,
    }, live);
    account.change(tx, {});
    return account;
  }

  /**
   * The device's keys as they are published: with its own signature, and that of the user's
   * self-signing key once that is at hand. The same object until that changes.
   */
  get deviceKeys(): DeviceKeys {
    return this.#record.deviceKeys;
  }

  /** The record, as this step has it. */
  get facts(): AccountFacts {
    return this.#record;
  }

  /** The durable record; undefined while a step is changing it. */
  get durable(): AccountFacts | undefined {
    return this.#committed === this.#record ? this.#record : undefined;
  }

  /** The object, for reading, or for changing it within {@link change}. */
  get account(): Account {
    this.#live ??= this.#restore();
    return this.#live;
  }

  /**
   * Changes the account.
   *
   * @param facts The changed facts.
   * @param work Changes the object.
   */
  change(tx: Transaction, facts: Partial<AccountFacts>, work?: (account: Account) => void): void {
    tx.onAbort(() => this.#reset());
    let { state } = this.#record;
    if (work !== undefined) {
      work(this.account);
      state = this.account.state();
    }
    this.#write(tx, { ...this.#record, ...facts, state });
  }

  /** Has a self-signing key sign the device's keys, in place of any before; undefined: none does. */
  crossSign(tx: Transaction, key: SelfSigningKey | undefined): void {
    tx.onAbort(() => this.#reset());
    this.#write(tx, { ...this.#record, deviceKeys: crossSigned(this.deviceKeys, key) });
  }

  /** Generates one-time keys, and drops the oldest if there are too many. */
  generateOneTimeKeys(tx: Transaction, count: number): void {
    let { oneTimeKeys } = this.#record;
    this.change(tx, { unpublished: true }, (account) => {
      const created = account.generateOneTimeKeys(count).created.map((key) => decodeBase64(key) ?? noKey());
      oneTimeKeys = withKeys(oneTimeKeys, created);
      while (account.storedOneTimeKeyCount > MAX_KEPT) {
        const oldest = oldestKey(oneTimeKeys);
        if (oldest === undefined) break;
        account.removeOneTimeKey(oldest.key);
        oneTimeKeys = oldest.rest;
      }
    });
    this.#write(tx, { ...this.#record, oneTimeKeys });
  }

  /**
   * Starts the session of a pre-key message, and decrypts the message. The private half of the one-time
   * key is removed in the same step, and only if the message could be decrypted. The server has given
   * that key away, so it has one less.
   *
   * @param senderKey The Curve25519 key of the sender's device.
   * @param message The message, of type 0.
   * @throws {VodozemacError} If it can't; then nothing has changed.
   */
  createInbound(tx: Transaction, senderKey: string, message: OlmMessage): InboundOlmSession {
    const inbound = this.account.createInboundSession(senderKey, message);
    tx.onAbort(() => this.#reset());
    const used = decodeBase64(inbound.session.keys.oneTimeKey) ?? noKey();
    const { counted } = this.#record;
    const oneTimeKeys = withoutKey(this.#record.oneTimeKeys, used);
    if (oneTimeKeys !== this.#record.oneTimeKeys) { // else it was the fallback key, which stays
      const left = counted && { counted: { ...counted, count: Math.max(0, counted.count - 1) } };
      this.#write(tx, { ...this.#record, ...left, oneTimeKeys, state: this.account.state() });
    }
    return inbound;
  }

  /**
   * Starts a session with another device.
   *
   * @param identityKey The Curve25519 key of the device.
   * @param oneTimeKey A one-time key of the device, whose signature has been verified.
   * @throws {VodozemacError} If the key is one that only an attacker would make.
   */
  createOutbound(identityKey: string, oneTimeKey: string): OlmSession {
    return this.account.createOutboundSession(identityKey, oneTimeKey);
  }

  /** Frees the object; the next use restores it. */
  clear(): void {
    this.#live?.[Symbol.dispose]();
    this.#live = undefined;
  }

  /**
   * Signs with the device's key.
   *
   * @returns A copy with the signature.
   * @throws {ValueError} If the object has no canonical form.
   */
  sign(object: JsonObject): JsonObject {
    return signed(object, this.#record, this.account);
  }

  #write(tx: Transaction, record: AccountRecord): void {
    this.#record = record;
    tx.set(accountKey(), record);
    tx.leadsToRequest = true;
    tx.onCommit(() => this.#committed = record);
  }

  #reset(): void {
    this.clear();
    this.#record = this.#committed ?? this.#record;
  }

  #restore(): Account {
    try {
      return this.#vodozemac().olm.restoreAccount(this.#record.state);
    } catch (error) {
      if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
      const { userId, deviceId } = this.#record;
      const what = `Cannot restore the account of ${userId}, device ${deviceId}`;
      throw new DamagedAccountError(
        `${what}: the store is damaged; log in again with an empty store`,
        { cause: error },
      );
    }
  }
}

function signed(object: JsonObject, { userId, deviceId }: Owner, account: Account): JsonObject {
  const signature = account.sign(signableJson(object));
  return withSignature(object, { userId, keyId: `ed25519:${deviceId}`, signature });
}

function noKey(): never {
  throw new EncryptionError("Cannot read a one-time key: it is not base64; this is a bug of the binding");
}

/** Returns whether what a server shows of a device, unchecked, has the keys of the own one. */
export function showsKeys({ deviceId, curve25519, ed25519 }: OwnDevice, shown: { keys?: unknown }): boolean {
  const { keys } = shown;
  return isJsonObject(keys) && sameKey(keys[`ed25519:${deviceId}`], ed25519) &&
    sameKey(keys[`curve25519:${deviceId}`], curve25519);
}

/** Describes the conflict, its possible causes, and what to do. */
export function deviceConflict({ userId, deviceId }: OwnDevice): string {
  return `Cannot use the device ${deviceId} of ${userId}: the server has keys of it that are not in this store, and they were ` +
    "not overwritten; perhaps the store is new each time (a container without a volume), or this is a second store of the " +
    "device, or the access token is that of another program (copied from Element, for one); run it with the store that has the " +
    "device's keys, or as a new device, with a store that is empty or belongs to the new one: log in again, or, in an " +
    "application service, give another deviceId";
}

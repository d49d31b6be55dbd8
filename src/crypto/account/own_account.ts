/**
 * The own account in use: vodozemac's object together with what is kept of it.
 *
 * @module
 */

import type {
  Account,
  InboundOlmSession,
  OlmMessage,
  OlmSession,
  Vodozemac,
} from "@greenroom/vodozemac-wasm";
import { VodozemacError } from "@greenroom/vodozemac-wasm";
import { EncryptionError } from "../../errors/crypto_error.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { accountKey, type AccountRecord, oldestKey, withKeys, withoutKey } from "./account_record.ts";
import { decodeBase64 } from "../encoding/base64.ts";
import { newDeviceKeys } from "./key_upload.ts";
import { signableJson, withSignature } from "../encoding/signed_json.ts";
import type { Transaction } from "../records/transaction.ts";

/**
 * How many private halves of one-time keys are kept. On the server lie at most 50; the others were handed out, and their messages
 * have not come, or never will.
 */
const MAX_KEPT = 500;

/** The facts of the record that its owner decides on. */
export type AccountFacts = Omit<AccountRecord, "state" | "oneTimeKeys" | "deviceKeys">;

/** Whose account it is. */
interface Owner {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
}

/** What is kept of the account can't be used: no message is at fault that needs it. */
export class DamagedAccountError extends EncryptionError {}

/** Keeps the object and the record in step: what a step changes in one is in the other, or in neither. */
export class OwnAccount {
  /** The device's keys as they are published, with its signature; always the same object. */
  readonly deviceKeys: DeviceKeys;
  readonly #vodozemac: () => Vodozemac;
  /** As this step has it. */
  #record: AccountRecord;
  /** As it is kept; undefined until the first commit. */
  #committed: AccountRecord | undefined;
  #live: Account | undefined;

  private constructor(vodozemac: () => Vodozemac, record: AccountRecord, live?: Account) {
    this.#vodozemac = vodozemac;
    this.#live = live;
    this.#record = record;
    this.deviceKeys = record.deviceKeys ?? this.#signedKeys();
    if (record.deviceKeys === undefined) this.#record = { ...record, deviceKeys: this.deviceKeys };
  }

  /** Reads the account; undefined if there is none. */
  static async open(tx: Transaction, vodozemac: () => Vodozemac): Promise<OwnAccount | undefined> {
    const record = await tx.get(accountKey());
    if (record === undefined) return undefined;
    const account = new OwnAccount(vodozemac, record);
    account.#committed = record;
    if (record.deviceKeys === undefined) account.change(tx, {});
    return account;
  }

  /** Makes a new account, without any keys but those of identity. */
  static create(tx: Transaction, vodozemac: () => Vodozemac, { userId, deviceId }: Owner): OwnAccount {
    const live = vodozemac().olm.createAccount();
    const account = new OwnAccount(vodozemac, {
      userId,
      deviceId,
      state: live.state(),
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

  /** What is kept, as this step has it. */
  get facts(): AccountFacts {
    return this.#record;
  }

  /** What is durable; undefined while a step is changing it. */
  get durable(): AccountFacts | undefined {
    return this.#committed === this.#record ? this.#record : undefined;
  }

  /** The object: for reading, or within {@link change}. */
  get account(): Account {
    this.#live ??= this.#restore();
    return this.#live;
  }

  /**
   * Changes the account.
   *
   * @param facts The facts that change.
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

  /** Makes one-time keys, and drops the oldest if more are kept than should be. */
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

  /** Starts the session that a pre-key message announces; the one-time key goes only if the message could be decrypted. */
  createInbound(tx: Transaction, senderKey: string, message: OlmMessage): InboundOlmSession {
    const inbound = this.account.createInboundSession(senderKey, message);
    tx.onAbort(() => this.#reset());
    const used = decodeBase64(inbound.session.keys.oneTimeKey) ?? noKey();
    const oneTimeKeys = withoutKey(this.#record.oneTimeKeys, used);
    if (oneTimeKeys !== this.#record.oneTimeKeys) { // else it was the fallback key, which stays
      this.#write(tx, { ...this.#record, oneTimeKeys, state: this.account.state() });
    }
    return inbound;
  }

  /** Starts a session with another device. */
  createOutbound(identityKey: string, oneTimeKey: string): OlmSession {
    return this.account.createOutboundSession(identityKey, oneTimeKey);
  }

  /** Lets go of the object; the next use makes it anew. */
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
    const { userId, deviceId } = this.#record;
    const signature = this.account.sign(signableJson(object));
    return withSignature(object, { userId, keyId: `ed25519:${deviceId}`, signature });
  }

  #signedKeys(): DeviceKeys {
    const { userId, deviceId } = this.#record;
    const { curve25519Key: curve25519, ed25519Key: ed25519 } = this.account;
    const keys = newDeviceKeys({ userId, deviceId, curve25519, ed25519 });
    return this.sign({ ...keys }) as unknown as DeviceKeys; // signed, it is what it was, and has a signature more
  }

  #write(tx: Transaction, record: AccountRecord): void {
    this.#record = record;
    tx.set(accountKey(), record);
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
        `${what}: the store is damaged; log in anew with an empty store`,
        { cause: error },
      );
    }
  }
}

function noKey(): never {
  throw new EncryptionError("Cannot read a one-time key: it is not base64; this is a bug of the binding");
}

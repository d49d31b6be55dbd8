/**
 * The upload of the own keys, and how many one-time keys the server has: what syncs say of it,
 * and its answers to uploads. The public halves of those that are kept are packed into one value.
 *
 * @module
 */

import type { Account, PublishableKey } from "@greenroom/vodozemac-wasm";
import type { DeviceKeys, KeysUploadRequest, OneTimeKeys, SignedKey } from "../../types/api/device_keys.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { signableJson, withSignature } from "../encoding/encoding.ts";
import type { OwnDevice } from "../context/context.ts";
import { type Clock, elapsed } from "../../base/clock.ts";
import type { Transaction } from "../records/mod.ts";
import { concat } from "@std/bytes/concat";

/** The algorithm of one-time and fallback keys. */
export const SIGNED_CURVE25519 = "signed_curve25519";

/** The keys to upload. */
interface UploadParts {
  /** The device's keys, if the server does not have them. */
  readonly deviceKeys: DeviceKeys | undefined;
  /** One-time keys that the server may not have. */
  readonly oneTimeKeys: readonly PublishableKey[];
  /** The fallback key, if the server may not have it. */
  readonly fallbackKey: PublishableKey | undefined;
  /** Signs with the device's key. */
  readonly sign: (object: JsonObject) => JsonObject;
}

/**
 * The keys of a device, without signatures. The record keeps them signed: another member needs a
 * step of the schema.
 */
export function newDeviceKeys(
  { userId, deviceId, curve25519, ed25519 }: OwnDevice,
): Omit<DeviceKeys, "signatures"> {
  return {
    user_id: userId,
    device_id: deviceId,
    algorithms: [EncryptionAlgorithm.OLM_V1, EncryptionAlgorithm.MEGOLM_V1],
    keys: { [`curve25519:${deviceId}`]: curve25519, [`ed25519:${deviceId}`]: ed25519 },
  };
}

/** The key with which a user signs own devices. */
export interface SelfSigningKey {
  /** Its public half, in unpadded base64. */
  readonly publicKey: string;
  /** Signs a text; the signature in unpadded base64. */
  sign(text: string): string;
}

/** The keys of a device with its own signature, and that of a self-signing key if there is one. */
export function crossSigned(
  { signatures, ...bare }: DeviceKeys,
  key: SelfSigningKey | undefined,
): DeviceKeys {
  const { user_id: userId, device_id } = bare;
  const keyId = `ed25519:${device_id}`;
  const own = withSignature(bare, { userId, keyId, signature: signatures[userId]?.[keyId] ?? "" });
  const signed = key === undefined ? own : withSignature(own, {
    userId,
    keyId: `ed25519:${key.publicKey}`,
    signature: key.sign(signableJson({ ...bare })),
  });
  return signed as DeviceKeys; // the same members
}

/**
 * The body of an upload; undefined if there are no keys to upload. The same parts make the same
 * bytes.
 */
export function newUpload(
  { deviceKeys, oneTimeKeys, fallbackKey, sign }: UploadParts,
): KeysUploadRequest | undefined {
  const request: KeysUploadRequest = {};
  if (deviceKeys !== undefined) request.device_keys = deviceKeys;
  if (oneTimeKeys.length > 0) {
    request.one_time_keys = Object.fromEntries(oneTimeKeys.map((key) => signedKey(key, sign)));
  }
  if (fallbackKey !== undefined) {
    request.fallback_keys = Object.fromEntries([signedKey(fallbackKey, sign, { fallback: true })]);
  }
  return Object.keys(request).length === 0 ? undefined : request;
}

/** Returns whether two uploads bring the same one-time and fallback keys. */
export function sameKeys(one: KeysUploadRequest | undefined, other: KeysUploadRequest | undefined): boolean {
  return namesOf(one?.one_time_keys) === namesOf(other?.one_time_keys) &&
    namesOf(one?.fallback_keys) === namesOf(other?.fallback_keys);
}

/** Skips the IDs of as many one-time keys: those with them may have been handed out. */
export function skipIds(account: Account, count: number): void {
  // Not all at once: with the kept keys they stay below vodozemac's limit.
  for (let left = count; left > 0; left -= 500) {
    const { created } = account.generateOneTimeKeys(Math.min(left, 500));
    for (const key of created) account.removeOneTimeKey(key);
  }
}

function signedKey(
  { keyId, key }: PublishableKey,
  sign: UploadParts["sign"],
  more: { fallback?: true } = {},
): [string, SignedKey] {
  // The signed object has the members of the key and a signature.
  return [`${SIGNED_CURVE25519}:${keyId}`, sign({ key, ...more }) as unknown as SignedKey];
}

function namesOf(keys: OneTimeKeys | undefined): string {
  const named = Object.entries(keys ?? {}).map(([name, key]) =>
    `${name} ${typeof key === "string" ? key : key.key}`
  );
  return named.sort().join();
}

/** How many one-time keys a server has said that it has. */
export interface CountedKeys {
  /** How many. */
  readonly count: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether a sync has said as many since, so that a later one may be right with fewer. Absent: none has. */
  readonly isShown?: true;
}

/** How long the answer to an upload counts more than what syncs say, in milliseconds, where they disagree. */
const PATIENCE = 20 * 60_000;

/** Decides what to believe of a server that may say nothing, or anything. */
export class KeyCounts {
  readonly #clock: Clock;
  readonly #most: number;
  #isToAsk = false;
  #askedAt = -Infinity;

  /**
   * @param clock The wall clock.
   * @param most How many there should be.
   */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Whether the server is to be asked, by an upload of no keys. */
  get isToAsk(): boolean {
    return this.#isToAsk;
  }

  /**
   * How many the server is taken to have. It has more than there should be only if a sync said too few, or
   * nothing: then what it answered to the last upload counts. That is asked for again after a while, or at
   * once where syncs have come as far since: then they are not wrong each time.
   *
   * @param count What a sync says.
   * @param answered What the last upload was answered.
   */
  believed(tx: Transaction, count: number, answered: CountedKeys | undefined): number {
    if (answered === undefined || answered.count <= this.#most || count >= answered.count) return count;
    const now = this.#clock.now();
    const isToDoubt = answered.isShown === true || elapsed(now, answered.at) >= PATIENCE;
    if (isToDoubt && elapsed(now, this.#askedAt) >= PATIENCE) {
      this.#isToAsk = tx.leadsToRequest = true;
      this.#askedAt = now;
    }
    return answered.count;
  }

  /** What the last upload was answered, now that a sync says as many; undefined: that changes nothing. */
  shown(count: number, answered: CountedKeys | undefined): CountedKeys | undefined {
    if (answered === undefined || answered.isShown || answered.count <= this.#most) return undefined;
    return count >= answered.count ? { ...answered, isShown: true } : undefined;
  }

  /** Notes that an upload has failed: a server that refuses to be asked is not asked all the time. */
  failed(): void {
    this.#isToAsk = false;
  }

  /** Reads the answer to an upload; undefined: it says nothing of it. */
  answered(tx: Transaction, { one_time_key_counts: counts }: JsonObject): CountedKeys | undefined {
    if (!isJsonObject(counts)) return undefined;
    tx.onCommit(() => [this.#isToAsk, this.#askedAt] = [false, -Infinity]);
    return { count: countOf(counts), at: this.#clock.now() };
  }
}

/** Reads how many one-time keys the server has, by its own count; one that is missing has none. */
export function countOf(counts: Readonly<Record<string, unknown>>): number {
  const count = counts[SIGNED_CURVE25519];
  return typeof count === "number" && count > 0 ? Math.floor(count) : 0;
}

/** How many bytes a public key has. */
const KEY_BYTES = 32;

/** Appends keys to packed ones. */
export function withKeys(packed: Uint8Array, keys: readonly Uint8Array[]): Uint8Array {
  return concat([packed, ...keys]);
}

/** Removes a key from packed ones; returns the same array if it is not among them. */
export function withoutKey(packed: Uint8Array, key: Uint8Array): Uint8Array {
  for (let start = 0; start < packed.length; start += KEY_BYTES) {
    const end = start + KEY_BYTES;
    if (!packed.subarray(start, end).every((byte, index) => byte === key[index])) continue;
    return concat([packed.subarray(0, start), packed.subarray(end)]);
  }
  return packed;
}

/** Splits off the oldest of packed keys. */
export function oldestKey(packed: Uint8Array): { key: Uint8Array; rest: Uint8Array } | undefined {
  if (packed.length === 0) return undefined;
  return { key: packed.slice(0, KEY_BYTES), rest: packed.slice(KEY_BYTES) };
}

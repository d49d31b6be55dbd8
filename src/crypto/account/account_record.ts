/**
 * What is kept of the own account.
 *
 * @module
 */

import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey } from "../records/record_key.ts";

/** The own account, as it is kept. */
export interface AccountRecord {
  /** Whose account it is. */
  readonly userId: UserID;
  /** Of which device. */
  readonly deviceId: DeviceID;
  /** The state of vodozemac's account. */
  readonly state: Uint8Array;
  /**
   * The device's keys as they are published, with its signature: who only wants to know them need not restore the account, which
   * takes longer the more one-time keys there are. Undefined: a version wrote the record that did not keep them.
   */
  readonly deviceKeys?: DeviceKeys;
  /** The public halves of the one-time keys that are kept, 32 bytes each, the oldest first. */
  readonly oneTimeKeys: Uint8Array;
  /** Whether there are keys that the server may not have; until it has them no more are made. */
  readonly unpublished: boolean;
  /** Whether the server has the identity keys. */
  readonly identityPublished: boolean;
  /** When the server got the fallback key, in milliseconds since the epoch; undefined: not yet. */
  readonly fallbackPublishedAt: number | undefined;
  /** Whether the private half of the fallback key before is still there. */
  readonly previousFallback: boolean;
  /** When the server got that, in milliseconds since the epoch; undefined: nobody knows. */
  readonly previousPublishedAt?: number;
  /** How often the store turned out to be older than what the server has seen. */
  readonly rollbacks: number;
}

/** How many bytes a public key has. */
const KEY_BYTES = 32;

/** Where the account is. */
export function accountKey(): RecordKey<AccountRecord> {
  return recordKey("account");
}

/** Public keys of 32 bytes with others behind them. */
export function withKeys(packed: Uint8Array, keys: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(packed.length + keys.length * KEY_BYTES);
  all.set(packed);
  for (const [index, key] of keys.entries()) all.set(key, packed.length + index * KEY_BYTES);
  return all;
}

/** Public keys of 32 bytes without one of them. */
export function withoutKey(packed: Uint8Array, key: Uint8Array): Uint8Array {
  for (let start = 0; start < packed.length; start += KEY_BYTES) {
    const end = start + KEY_BYTES;
    if (!packed.subarray(start, end).every((byte, index) => byte === key[index])) continue;
    const rest = new Uint8Array(packed.length - KEY_BYTES);
    rest.set(packed.subarray(0, start));
    rest.set(packed.subarray(end), start);
    return rest;
  }
  return packed;
}

/** Takes the oldest public key of 32 bytes. */
export function oldestKey(packed: Uint8Array): { key: Uint8Array; rest: Uint8Array } | undefined {
  if (packed.length === 0) return undefined;
  return { key: packed.slice(0, KEY_BYTES), rest: packed.slice(KEY_BYTES) };
}

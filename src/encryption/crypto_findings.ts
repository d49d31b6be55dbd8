/**
 * What `client.crypto.doctor()` finds.
 *
 * @module
 */

import type { RequestOptions } from "../api/http/mod.ts";

/**
 * What was found:
 *
 * - `device-signed`: the device's keys are published, and signed by the own identity;
 * - `device-unsigned`: they are published without that signature;
 * - `device-missing`: the server does not show the device;
 * - `device-conflict`: it shows other keys of the device;
 * - `identity-verified`: the own identity is there and proven;
 * - `identity-absent`: the account has none;
 * - `identity-unproven`: the server shows one, and nothing proves that it is the user's;
 * - `identity-changed`: the server shows another than the one that was accepted;
 * - `private-keys-here`: the private keys of the own identity are at hand, and are those of it;
 * - `private-keys-missing`: they are not at hand;
 * - `private-keys-unpublished`: they are of an identity that is still to be published;
 * - `dehydrated-device-on`: the server has a dehydrated device, signed by the own identity;
 * - `dehydrated-device-missing`: this device has made one, and the server shows none;
 * - `secret-storage-opens`: the secret that was given opens the secret storage;
 * - `secret-storage-locked`: there is one, and no secret was given;
 * - `secret-storage-absent`: there is none;
 * - `secret-storage-unusable`: it does not open, or something in it is damaged;
 * - `stored-keys-match`: the private keys in it are those of the own identity;
 * - `stored-keys-incomplete`: some are missing in it;
 * - `stored-keys-mismatch`: some in it are of another identity;
 * - `backup-on`: the backup of room keys is in use, can be read, and has all keys;
 * - `backup-behind`: the same, but keys are still on their way into it;
 * - `backup-unreadable`: it is in use, and its private key is not at hand;
 * - `backup-untrusted`: there is one that is not used, since nothing shows that it is the user's;
 * - `backup-unusable`: there is one of an unknown kind;
 * - `backup-absent`: there is none;
 * - `backup-unwanted`: there is none, and the user wants none;
 * - `one-time-keys-left`: others find one-time keys of this device;
 * - `one-time-keys-few`: they find few or none;
 * - `fallback-key-published`: they find a fallback key when those are used up;
 * - `fallback-key-missing`: they do not;
 * - `clock-right`, `clock-wrong`: whether the clocks of this machine and the server agree;
 * - `store-kept`: what is learned is kept, and this process may write it;
 * - `store-volatile`: it is lost with the process;
 * - `store-lost`: this process may not write any more, or can't;
 * - `not-checked`: something could not be checked.
 */
export type CryptoFindingCode =
  | "device-signed"
  | "device-unsigned"
  | "device-missing"
  | "device-conflict"
  | "identity-verified"
  | "identity-absent"
  | "identity-unproven"
  | "identity-changed"
  | "private-keys-here"
  | "private-keys-missing"
  | "private-keys-unpublished"
  | "dehydrated-device-on"
  | "dehydrated-device-missing"
  | "secret-storage-opens"
  | "secret-storage-locked"
  | "secret-storage-absent"
  | "secret-storage-unusable"
  | "stored-keys-match"
  | "stored-keys-incomplete"
  | "stored-keys-mismatch"
  | "backup-on"
  | "backup-behind"
  | "backup-unreadable"
  | "backup-untrusted"
  | "backup-unusable"
  | "backup-absent"
  | "backup-unwanted"
  | "one-time-keys-left"
  | "one-time-keys-few"
  | "fallback-key-published"
  | "fallback-key-missing"
  | "clock-right"
  | "clock-wrong"
  | "store-kept"
  | "store-volatile"
  | "store-lost"
  | "not-checked";

/** One finding. It holds no secret. */
export interface CryptoFinding {
  /** What was found; programs decide by it. */
  readonly code: CryptoFindingCode;
  /**
   * `ok`: all is well; `warning`: something does not work as it could; `error`: this device can't be
   * used, or not trusted, before it is mended.
   */
  readonly level: "ok" | "warning" | "error";
  /** The same in a sentence. */
  readonly message: string;
  /** What to do; absent if there is nothing to do. */
  readonly mend?: string;
  /** Counts, versions and public keys, for dashboards. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** Options of {@linkcode Crypto.doctor}. */
export interface CryptoDoctorOptions extends RequestOptions {
  /**
   * The recovery key of the secret storage, which is opened to look whether all is there. Default:
   * what the client was made with, if no options are given.
   */
  recoveryKey?: string;
  /** Its passphrase, likewise; it takes a second or so. Default: likewise. */
  passphrase?: string;
}

/**
 * The public keys of devices and users.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-management | Key management}
 * @module
 */

import {
  CALL,
  checkInteger,
  endpoint,
  field,
  fields,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import type {
  CrossSigningKey,
  DeviceKeys,
  KeysChangesResponse,
  KeysClaimResponse,
  KeysQueryResponse,
  OneTimeKeys,
  SignaturesUploadResponse,
} from "../../types/api/device_keys.ts";
import type { DeviceID, SyncToken, UserID } from "../../types/ids.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import { isList } from "../../types/json.ts";
import { authenticated, type AuthenticationOptions } from "./uia.ts";

const upload = endpoint(
  "uploadKeys",
  "POST",
  "/_matrix/client/v3/keys/upload",
  field<{ [algorithm: string]: number }>("one_time_key_counts", "object"),
);

const query = endpoint(
  "queryKeys",
  "POST",
  "/_matrix/client/v3/keys/query",
  fields<KeysQueryResponse>({
    failures: "object?",
    device_keys: "object?",
    master_keys: "object?",
    self_signing_keys: "object?",
    user_signing_keys: "object?",
  }),
  { idempotent: true },
);

const claim = endpoint(
  "claimKeys",
  "POST",
  "/_matrix/client/v3/keys/claim",
  fields<KeysClaimResponse>({ failures: "object?", one_time_keys: "object" }),
);

const changes = endpoint(
  "getKeyChanges",
  "GET",
  "/_matrix/client/v3/keys/changes",
  fields<KeysChangesResponse>({ changed: "array?", left: "array?" }),
);

const uploadCrossSigning = endpoint(
  "uploadCrossSigningKeys",
  "POST",
  "/_matrix/client/v3/keys/device_signing/upload",
  nothing,
);

const uploadSignatures = endpoint(
  "uploadSignatures",
  "POST",
  "/_matrix/client/v3/keys/signatures/upload",
  fields<SignaturesUploadResponse>({ failures: "object?" }),
  { idempotent: true },
);

/** Options of {@link DeviceKeysAPI.uploadKeys}. */
export interface UploadKeysOptions extends RequestOptions {
  /** New one-time keys, by `<algorithm>:<key ID>`. Default: none. */
  oneTimeKeys?: OneTimeKeys;
  /** The device's identity keys. Default: none, for a device that has uploaded them before. */
  deviceKeys?: DeviceKeys;
  /**
   * New fallback keys, one for each algorithm, which serve when there is no one-time key left.
   * Default: none.
   */
  fallbackKeys?: OneTimeKeys;
}

/** Options of {@link DeviceKeysAPI.queryKeys}. */
export interface QueryKeysOptions extends RequestOptions {
  /**
   * The token of the sync that announced the change, or a later one. It left the specification with
   * version 1.7, since no server uses it. Default: empty, not sent.
   */
  token?: SyncToken;
  /** How long the server waits for other servers, in milliseconds. Default: 10,000. */
  timeout?: number;
}

/** Options of {@link DeviceKeysAPI.claimKeys}. */
export interface ClaimKeysOptions extends RequestOptions {
  /** How long the server waits for other servers, in milliseconds. Default: 10,000. */
  timeout?: number;
}

/** Options of {@link DeviceKeysAPI.uploadCrossSigningKeys}. */
export interface UploadCrossSigningKeysOptions extends AuthenticationOptions {
  /**
   * The key that signs the other two, signed by a device at least. Default: none, if the server has
   * it.
   */
  masterKey?: CrossSigningKey;
  /** The key that vouches for the user's own devices, signed by the master key. Default: none. */
  selfSigningKey?: CrossSigningKey;
  /** The key that vouches for other users, signed by the master key. Default: none. */
  userSigningKey?: CrossSigningKey;
}

/** The algorithm of the key to claim, by user and device. */
export type KeysToClaim = { readonly [userId: UserID]: { readonly [deviceId: DeviceID]: string } };

/** Devices by user; an empty list means all devices of the user. */
export type DevicesToQuery = { readonly [userId: UserID]: readonly DeviceID[] };

/** What was signed, with the new signatures, by user and device ID or public key. */
export type SignedObjects = {
  readonly [userId: UserID]: { readonly [keyId: string]: DeviceKeys | CrossSigningKey };
};

/**
 * Operations on public keys. A server that can't be reached is listed in `failures`; the operation
 * does not fail.
 */
export interface DeviceKeysAPI {
  /**
   * Uploads keys of this device. Without any, it returns how many one-time keys are left.
   *
   * @param options The keys, and request options.
   * @returns How many unclaimed one-time keys the server has of this device, by algorithm.
   * @throws {MatrixRequestError} If the server has another key of the same ID.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysupload | POST /keys/upload}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function keysLeft(client: Client): Promise<number> {
   *   const { signed_curve25519 = 0 } = await client.uploadKeys();
   *   return signed_curve25519;
   * }
   * ```
   */
  uploadKeys(options?: UploadKeysOptions): Promise<{ [algorithm: string]: number }>;

  /**
   * Asks for the keys of devices and users.
   *
   * @param deviceKeys Users, or the devices of users; an empty list of devices means all of the
   *   user's.
   * @param options How long the server may ask other servers, and request options.
   * @returns The keys, and the servers that could not be reached.
   * @throws {ValueError} If a user ID can't be one, or `timeout` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysquery | POST /keys/query}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const { device_keys = {} } = await client.queryKeys(["@bob:localhost"]);
   * console.assert(Object.keys(device_keys["@bob:localhost"] ?? {}).length === 0, "Bob has uploaded no keys");
   * ```
   */
  queryKeys(
    deviceKeys: readonly UserID[] | DevicesToQuery,
    options?: QueryKeysOptions,
  ): Promise<KeysQueryResponse>;

  /**
   * Claims one-time keys; the server gives each of them out once.
   *
   * @param oneTimeKeys The algorithm by user and device, such as `signed_curve25519`.
   * @param options How long the server may ask other servers, and request options.
   * @returns A key of each device that has one, and the servers that could not be reached.
   * @throws {ValueError} If a user ID can't be one, or `timeout` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysclaim | POST /keys/claim}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceID, OneTimeKeys, UserID } from "@greenroom/matrix/types";
   *
   * export async function claim(client: Client, userId: UserID, deviceId: DeviceID): Promise<OneTimeKeys> {
   *   const { one_time_keys } = await client.claimKeys({ [userId]: { [deviceId]: "signed_curve25519" } });
   *   return one_time_keys[userId]?.[deviceId] ?? {};
   * }
   * ```
   */
  claimKeys(oneTimeKeys: KeysToClaim, options?: ClaimKeysOptions): Promise<KeysClaimResponse>;

  /**
   * Asks whose keys changed between two syncs.
   *
   * @param from The token to begin at.
   * @param to The token to end at.
   * @param options Request options.
   * @returns Who changed, and who shares no encrypted room with the user any more.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3keyschanges | GET /keys/changes}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { SyncToken, UserID } from "@greenroom/matrix/types";
   *
   * export async function changedSince(client: Client, from: SyncToken): Promise<UserID[]> {
   *   const to = await client.syncStore.getNextBatch() ?? from;
   *   const { changed = [] } = await client.raw.getKeyChanges(from, to);
   *   return changed;
   * }
   * ```
   */
  getKeyChanges(from: SyncToken, to: SyncToken, options?: RequestOptions): Promise<KeysChangesResponse>;

  /**
   * Uploads the user's cross-signing keys. If the server has others already, it wants to know again
   * who is asking.
   *
   * @param options The keys, how to authenticate, and request options.
   * @throws {InvalidSignatureError} If a signature does not verify.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysdevice_signingupload | POST /keys/device_signing/upload}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { CrossSigningKey } from "@greenroom/matrix/types";
   *
   * export async function publish(client: Client, masterKey: CrossSigningKey, password: string): Promise<void> {
   *   await client.raw.uploadCrossSigningKeys({ masterKey, authentication: { password } });
   * }
   * ```
   */
  uploadCrossSigningKeys(options?: UploadCrossSigningKeysOptions): Promise<void>;

  /**
   * Uploads signatures of devices and users.
   *
   * @param signatures What was signed, with the signatures, by user and device ID or public key.
   * @param options Request options.
   * @returns The signatures that were refused.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keyssignaturesupload | POST /keys/signatures/upload}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceKeys } from "@greenroom/matrix/types";
   *
   * export async function publish(client: Client, signed: DeviceKeys): Promise<boolean> {
   *   const { user_id, device_id } = signed;
   *   const { failures = {} } = await client.raw.uploadSignatures({ [user_id]: { [device_id]: signed } });
   *   return Object.keys(failures).length === 0;
   * }
   * ```
   */
  uploadSignatures(signatures: SignedObjects, options?: RequestOptions): Promise<SignaturesUploadResponse>;
}

/** Makes the operations on public keys. */
export function deviceKeysAPI(session: Session): DeviceKeysAPI {
  const { http } = session;
  return {
    uploadKeys({ oneTimeKeys, deviceKeys, fallbackKeys, ...options } = {}) {
      const body = { device_keys: deviceKeys, one_time_keys: oneTimeKeys, fallback_keys: fallbackKeys };
      return http[CALL](upload, { path: {}, body }, options);
    },
    async queryKeys(deviceKeys, { token = "", timeout = 10_000, ...options } = {}) {
      checkInteger("timeout", timeout);
      const users = isList(deviceKeys)
        ? Object.fromEntries(deviceKeys.map((userId) => [userId, []]))
        : deviceKeys;
      Object.keys(users).forEach((userId) => checkIdentifier("userId", userId));
      const body = { device_keys: users, timeout, token: token || undefined };
      return await http[CALL](query, { path: {}, body }, { requestTimeout: http.limit(timeout), ...options });
    },
    async claimKeys(oneTimeKeys, { timeout = 10_000, ...options } = {}) {
      checkInteger("timeout", timeout);
      Object.keys(oneTimeKeys).forEach((userId) => checkIdentifier("userId", userId));
      const body = { one_time_keys: oneTimeKeys, timeout };
      return await http[CALL](claim, { path: {}, body }, { requestTimeout: http.limit(timeout), ...options });
    },
    getKeyChanges: (from, to, options) => http[CALL](changes, { path: {}, query: { from, to } }, options),
    uploadCrossSigningKeys({ masterKey, selfSigningKey, userSigningKey, ...options } = {}) {
      const body = {
        master_key: masterKey,
        self_signing_key: selfSigningKey,
        user_signing_key: userSigningKey,
      };
      return authenticated(session, uploadCrossSigning, { path: {}, body }, options);
    },
    uploadSignatures: async (signatures, options) =>
      await http[CALL](uploadSignatures, { path: {}, body: signatures }, options),
  };
}

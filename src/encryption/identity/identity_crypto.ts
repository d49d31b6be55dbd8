/**
 * The identities of users, as a client has them in `client.crypto`.
 *
 * Over 300 lines because most of it is documentation with examples.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { Authentication } from "../../api/account/account.ts";
import type { DehydrationOutcome } from "../dehydration.ts";
import type { KeyBackupOutcome } from "../backup/backup.ts";
import type { ComparedDevice, ComparedIdentity, UserIdentity } from "../../crypto/devices/mod.ts";
import type { AskedSecrets } from "../../crypto/secret_requests/secret_requests.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";

/** What {@linkcode IdentityCrypto.ensureVerified} may use: at most one of the first two. */
export interface EnsureVerifiedOptions {
  /**
   * The recovery key of the secret storage, which has the private keys of the own identity. If the
   * account has no storage and no identity, both are made with this key. Default: none.
   */
  recoveryKey?: string;
  /** The passphrase of the secret storage, likewise. Default: none. */
  passphrase?: string;
  /**
   * Is given the recovery key of a secret storage that is made for an account without one, and
   * awaited, before anything is published that only this key opens. Write it where it outlasts the
   * process; after a crash the same key is handed out again. If this throws, nothing is published.
   * Default: none; then an account without an identity needs `recoveryKey` or `passphrase`.
   */
  onRecoveryKey?: (recoveryKey: string) => void | Promise<void>;
  /**
   * The password of the account, if the server wants it before it takes a new identity. Most want
   * nothing for the first one. Default: none.
   */
  password?: string;
  /** Other ways to authenticate, such as OAuth's page of approval. Default: `password` alone. */
  authentication?: Authentication;
  /**
   * Whether the backup of room keys is taken into use, if its key is in the secret storage, and made
   * if there is none, unless a client has noted that the user wants none. With it a device that has
   * nothing but its recovery key reads history. Default: true.
   */
  backup?: boolean;
  /**
   * Whether the account has a dehydrated device (MSC3814): one that is nowhere but on the server, and
   * gets room keys while no other device is there. When this device is new, it reads what was sent to
   * the one that is there; then it replaces it, and from then on once a week. Who has the key of the
   * secret storage can read what was sent to it. The server must support it: Synapse does with
   * `experimental_features: msc3814_enabled`. To end it, leave the option out, and call
   * `client.raw.deleteDehydratedDevice()`. Default: false.
   */
  dehydratedDevice?: boolean;
}

/** What is lost when an identity is replaced. */
export interface IdentityLoss {
  /** The public master key of the identity that is replaced: users who compared it have to again. */
  readonly master: string;
  /** The user's other devices that it has signed: each has to be verified again. */
  readonly devices: readonly DeviceID[];
  /**
   * `kept`: the secret storage is opened, and keeps its key and all other secrets. `replaced`: it gets
   * a new key, which opens nothing of what is in it now.
   */
  readonly secretStorage: "kept" | "replaced";
}

/** How an identity is replaced: {@linkcode IdentityCrypto.resetIdentity}. */
export interface ResetIdentityOptions extends EnsureVerifiedOptions {
  /**
   * Is told what will be lost, before anything is changed, and awaited: `true` goes on. Users whom
   * the identity has signed have to be verified again as well.
   */
  confirm: (loss: IdentityLoss) => boolean | Promise<boolean>;
}

/** What is to be said of the own identity and this device. */
export interface VerificationReport {
  /**
   * - `verified`: this device is signed by the own identity, whose private keys are at hand;
   * - `bootstrapped`: the same; the identity was made, or an earlier try completed;
   * - `reset`: the same; the identity has replaced another;
   * - `unconfirmed`: the same, but the server does not show the signature, whatever it has answered to it:
   *   others do not trust this device until it does. It is uploaded again, after growing waits;
   * - `needs-secret`: the account has an identity or a secret storage, and nothing was given that
   *   opens it: give `recoveryKey` or `passphrase`. Nothing was changed;
   * - `absent`: the account has no identity, and nothing was given with which to make one;
   * - `declined`: `confirm` did not let the identity be replaced. Nothing was changed.
   */
  readonly state:
    | "verified"
    | "bootstrapped"
    | "reset"
    | "unconfirmed"
    | "needs-secret"
    | "absent"
    | "declined";
  /** The public master key of the identity, in unpadded base64, by which users compare it. */
  readonly master: string | undefined;
  /**
   * What has become of the backup of room keys; undefined: it was not looked for, since this device
   * is not verified, or nothing was given that opens the secret storage, or `backup` is false.
   */
  readonly backup: KeyBackupOutcome | undefined;
  /** What has become of the dehydrated device; absent: it was not wanted, or this device is not verified. */
  readonly dehydratedDevice?: DehydrationOutcome;
}

/** The part of `client.crypto` about identities. */
export interface IdentityCrypto {
  /**
   * Has this device signed by its user's identity, so that others trust it: since 2026 Element's
   * clients neither show its messages nor give it keys otherwise.
   *
   * If the account has an identity, its private keys are read from the secret storage, compared with
   * what the server shows, and kept in the store. If it has none, one is made: its private keys are
   * stored in the secret storage before it is published. An identity that is there is never
   * replaced. Then the backup of room keys is taken into use, or made; what goes wrong with that is
   * in the report and the log, and no error. A client with `encryption.recoveryKey` or `passphrase` does it
   * when it starts, before the device's keys are published. What is done is not done again, but looked up:
   * another client may have replaced the identity, the backup, or the key of the secret storage since. A
   * recovery key that has opened that and does not any more is warned of.
   *
   * @param options What may be used. Default: what the client was made with.
   * @returns What there is now.
   * @throws {SecretStorageError} If the secret storage does not open, or a secret in it is damaged.
   * @throws {OwnIdentityError} If the private keys are not those of the identity that the server
   *   shows, or it can't be made; `problem` says why.
   * @throws {AuthenticationNeededError} If the server wants another authentication.
   * @throws {ValueError} If the options contradict one another.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const report = await bot.crypto?.ensureVerified({
   *   onRecoveryKey: (key) => sessionStorage.setItem("key", key), // where your secrets are
   * });
   * console.assert(report?.state === "bootstrapped");
   * ```
   */
  ensureVerified(options?: EnsureVerifiedOptions): Promise<VerificationReport>;
  /**
   * Replaces the user's identity by a new one, of which this device has the private keys. For an
   * identity whose private keys are lost or known to others: nothing else needs it.
   *
   * With `recoveryKey` or `passphrase` the secret storage is opened, and stays. With `onRecoveryKey`
   * alone it gets a new key, which is handed out before anything is published. If the server refuses
   * the new identity, the old one counts as before; if the call is cut off after that, the next
   * `ensureVerified()` completes it.
   *
   * @param options How to authenticate, what keeps the private keys, and who is told what is lost.
   * @returns The new identity, or that `confirm` did not let it go on.
   * @throws {AuthenticationNeededError} If the server wants another authentication; nothing was
   *   changed.
   * @throws {SecretStorageError} If the secret storage does not open; nothing was changed.
   * @throws {ValueError} If the options contradict one another, or nothing would keep the keys.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken, password } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const onRecoveryKey = (key: string) => sessionStorage.setItem("key", key);
   * await bot.crypto?.ensureVerified({ onRecoveryKey });
   * const report = await bot.crypto?.resetIdentity({
   *   onRecoveryKey,
   *   password,
   *   confirm: ({ devices }) => devices.length === 0 || confirm(`Verify ${devices} again after that?`),
   * });
   * console.assert(report?.state === "reset");
   * ```
   */
  resetIdentity(options: ResetIdentityOptions): Promise<VerificationReport>;
  /**
   * Asks the user's other devices for what this one does not have: the private keys of the own identity,
   * and the key of the backup. Only devices that the own identity has verified are asked, and may
   * answer, within 15 minutes; what they send is used if it belongs to the public key that is known.
   * `ensureVerified()` does it too, if nothing was given that opens the secret storage.
   *
   * In the same way this device gives what it has to the user's other devices, once they are
   * verified, and to nobody else.
   *
   * @returns What was asked for, and which devices. Nothing if there is none that may be asked: the own
   *   identity has to be verified first, by `verifyUser()` or with another device.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken, userId } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const own = await bot.crypto?.getIdentity(userId);
   * if (own !== undefined && confirm(`Does your other client show ${own.master}?`)) {
   *   await bot.crypto?.verifyUser(own);
   *   await bot.crypto?.requestSecrets();
   * }
   * ```
   */
  requestSecrets(): Promise<AskedSecrets>;
  /**
   * The identity of a user: the cross-signing keys by which the user vouches for devices, as far as
   * the server shows them, looked up with the devices.
   *
   * @param userId The user, who may be the own one.
   * @returns The identity; undefined if none was ever seen.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isVerified(client: Client, userId: UserID): Promise<boolean> {
   *   return (await client.crypto?.getIdentity(userId))?.isVerified ?? false;
   * }
   * ```
   */
  getIdentity(userId: UserID): Promise<UserIdentity | undefined>;
  /**
   * Accepts a user's identity: the devices that it vouches for are `cross-signed` from now on.
   *
   * That is needed for the own identity: the server could show one that it has made. So own devices
   * count as `unsigned` until its key was compared with what the user's other client shows, and are in
   * `violation` once it has changed. An identity that another has replaced needs it too when the server
   * shows it again. Another one of a user who was never verified counts without it. A user who was verified
   * stays in `violation`: see {@link IdentityCrypto.withdrawVerification}.
   *
   * @param identity The identity whose master key was compared: that of {@link Crypto.getIdentity},
   *   or of an alarm.
   * @throws {IdentityChangedError} If the user has another one by now: look it up and compare it
   *   again.
   * @throws {ValueError} If none is known.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken, userId } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const own = await bot.crypto?.getIdentity(userId);
   * const isNew = own?.hasChanged || own?.pinned === undefined;
   * if (own !== undefined && isNew && confirm(`Does your other client show ${own.master}?`)) {
   *   await bot.crypto?.acknowledgeIdentity(own);
   * }
   * bot.on("DEVICE_ALARM", async ({ alarm }) => {
   *   if (alarm.kind !== "identity-changed" || alarm.isAccepted) return;
   *   const { userId, current: master } = alarm;
   *   if (confirm(`Does ${userId} show ${master} now?`)) await bot.crypto?.acknowledgeIdentity({ userId, master });
   * });
   * ```
   */
  acknowledgeIdentity(identity: ComparedIdentity): Promise<void>;
  /**
   * Verifies a user: signs the identity whose master key was compared with the own user-signing key,
   * as interactive verification does in the end. The user's devices are `verified` from then on, here
   * and on all own devices that see the signature. It ends a `violation`, too. Compare the key over a
   * channel that the homeserver does not control.
   *
   * The signature is durable before it is uploaded: it is uploaded again until the server shows it or
   * refuses it, which may be later. For the own user this device signs, which proves the own identity without
   * its private keys.
   *
   * @param identity The user, and the master key that was compared.
   * @throws {IdentityChangedError} If the user has another one: look it up and compare it again.
   * @throws {OwnIdentityError} `no-key`: the private user-signing key is not at hand, and nothing was
   *   changed. `refused`: the server does not take the signature; the user is verified on this device
   *   only.
   * @throws {ValueError} If the user has no identity.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const alice = await bot.crypto?.getIdentity("@alice:localhost");
   * if (alice !== undefined && confirm(`Did Alice read ${alice.master} to you?`)) await bot.crypto?.verifyUser(alice);
   * ```
   */
  verifyUser(identity: ComparedIdentity): Promise<void>;
  /**
   * Verifies another device of the own user: signs it with the own self-signing key, so that all who
   * trust the user trust the device. If it has asked for secrets, it gets them.
   *
   * @param device The device, and the key that was compared with what the device itself shows.
   * @throws {OwnIdentityError} As {@link IdentityCrypto.verifyUser}.
   * @throws {ValueError} If it is not the own user's, is this one, is not known, or has another key.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken, userId } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * for (const device of await bot.crypto?.getDevices(userId) ?? []) {
   *   if (device.trust === "verified" || !confirm(`Does ${device.deviceId} show ${device.ed25519}?`)) continue;
   *   await bot.crypto?.verifyDevice(device);
   * }
   * ```
   */
  verifyDevice(device: ComparedDevice): Promise<void>;
  /**
   * Accepts the present identity of a user who was verified once and is not any more, since it was
   * replaced, or the own one was. Its devices are `cross-signed` from then on, in place of in
   * `violation`. To verify the user again is the other way.
   *
   * @param identity The identity, by its master key: that of {@link IdentityCrypto.getIdentity}.
   * @throws {IdentityChangedError} If the user has another one by now: look it up and compare it
   *   again.
   * @throws {ValueError} If none is known, or it is verified: signatures can't be taken back.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const alice = await bot.crypto?.getIdentity("@alice:localhost");
   * if (alice?.wasVerified && !alice.isVerified && confirm("Go on with Alice without verifying her again?")) {
   *   await bot.crypto?.withdrawVerification(alice);
   * }
   * ```
   */
  withdrawVerification(identity: ComparedIdentity): Promise<void>;
}

/**
 * The steps of the engine about identities, keys of sessions, dehydrated devices and shared history,
 * by their names. They do not overlap with other steps.
 *
 * @module
 */

import {
  acceptedIdentity,
  type ComparedDevice,
  type ComparedIdentity,
  type LocalTrust,
  type UserIdentity,
  withdrawnIdentity,
} from "../devices/mod.ts";
import type { AdoptInput, NewBackupInput, RestoredKeys } from "../backup/backup.ts";
import type { RehydratedPage } from "../dehydration/dehydration.ts";
import type { HistoryOffer } from "../history/history.ts";
import type {
  IdentitySeeds,
  KnownIdentity,
  NewIdentityInput,
  OfferOutcome,
  SignedName,
  SigningOutcome,
} from "../identity/identity.ts";
import { receiveKeys } from "../key_requests/key_requests.ts";
import type { ImportedRoomKey, RecoveredEvent, SessionQuery } from "../megolm/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type { WantedSecrets } from "../secret_requests/secret_requests.ts";
import type { DehydratedDevice, DeviceKeys } from "../../types/api/device_keys.ts";
import type { MegolmSessionRef, ShownVersion } from "../../types/identifiers.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { type EngineParts, ownKeysOf } from "./engine_parts.ts";
import { verificationSteps } from "./verification_steps.ts";
import { STORAGE_OPENER, type StorageOpener } from "../secrets/secrets.ts";

/** The own identity as this device has it. */
export interface OwnIdentityState {
  /** What the server has shown of it; undefined: nothing yet. */
  readonly shown: UserIdentity | undefined;
  /** The private keys at hand, without them; undefined: none. */
  readonly keys: KnownIdentity | undefined;
  /** Whether the server has to be asked before `offerIdentity`. */
  readonly isBehind: boolean;
  /** What has opened the secret storage last; undefined: nothing has. */
  readonly opener: StorageOpener | undefined;
}

/** What is known of the own device and identity. */
export interface OwnHealth {
  /** The device's keys, with the signatures that they have. */
  readonly device: DeviceKeys;
  /** Whether the server has shown the device last as one that the identity has signed which it shows. */
  readonly isSigned: boolean;
  /** Whether the server has shown it last without the signature of the private keys at hand. */
  readonly isSignatureDue: boolean;
  /** Whether the server has a fallback key. */
  readonly hasFallback: boolean;
  readonly state: OwnIdentityState;
  /** Whether this device has made a dehydrated device. */
  readonly hasDehydrated: boolean;
}

/** What has become of offered keys. */
export interface OfferReply {
  readonly outcome: OfferOutcome;
  /** Events that can be read now, since their devices are trusted. */
  readonly recovered: readonly RecoveredEvent[];
}

/** What has become of something that was to be signed. */
export interface SigningReply {
  readonly outcome: SigningOutcome;
  /** Events that can be read now, since their devices are trusted. */
  readonly recovered: readonly RecoveredEvent[];
}

const STEPS = {
  /** Sets what the application says of a device. A blacklisted one gets no more keys. */
  setDeviceTrust: async (
    tx,
    { devices, outbound, undecryptable, secretAnswers },
    { trust, ...device }: TrustInput,
  ) => {
    await devices.setTrust(tx, device, trust);
    if (trust === "verified") await secretAnswers.retry(tx); // it may have asked
    if (trust === "blacklisted") await outbound.devicesChanged(tx, { removed: [device] });
    return await undecryptable.retry(tx, "all");
  },
  /** Returns by which keys a user vouches for devices; undefined if none were ever seen. */
  identityOf: (tx, { devices }, userId: UserID) => devices.identityOf(tx, userId),
  /** Accepts a user's identity: its devices get keys, and their events are accepted. */
  acknowledgeIdentity: async (tx, { devices, undecryptable }, compared: ComparedIdentity) => {
    await devices.changeIdentity(tx, compared.userId, (before) => acceptedIdentity(before, compared));
    return await undecryptable.retry(tx, "all");
  },
  /** Accepts a user's identity, which need not be verified any more although it once was. */
  withdrawVerification: async (tx, { devices, undecryptable }, compared: ComparedIdentity) => {
    await devices.changeIdentity(
      tx,
      compared.userId,
      (before, verifier) => withdrawnIdentity(before, compared, verifier),
    );
    return await undecryptable.retry(tx, "all");
  },
  /** Returns the own device's public keys, with the signatures that they have now. */
  ownDevice: (_, { ownKeys }) => ownKeysOf(ownKeys),
  ownIdentity: (tx, parts) => identityState(tx, parts),
  /** Returns what the doctor looks at. */
  health: async (tx, parts): Promise<OwnHealth> => ({
    device: parts.ownKeys.deviceKeys(),
    isSigned: parts.ownIdentity.isSeenSigned,
    isSignatureDue: parts.ownIdentity.isSignatureDue,
    hasFallback: parts.ownKeys.hasFallback,
    state: await identityState(tx, parts),
    hasDehydrated: (await parts.dehydration.state(tx)).made?.isUploaded === true,
  }),
  /** Compares private keys with the identity that the server has shown; undefined: none. */
  compareIdentity: (tx, { ownIdentity }, seeds: Partial<IdentitySeeds>) => ownIdentity.compared(tx, seeds),
  /** Has the server asked what it shows of the own user, even if that is known. */
  askForIdentity: (tx, { devices, context: { own } }) => devices.tracked.changed(tx, [own.userId]),
  /**
   * Offers private keys of the own identity. Those that fit what the server has shown since it was
   * asked are kept, and prove that identity; others change nothing.
   */
  offerIdentity: (tx, parts, seeds: Partial<IdentitySeeds>) =>
    offered(tx, parts, parts.ownIdentity.offer(tx, seeds)),
  /** Makes a new identity, or returns the one that was made and is not published yet. */
  createIdentity: async (tx, { ownIdentity, dehydration }, input: NewIdentityInput) => {
    if (input.replaces === true) await dehydration.outdate(tx);
    return await ownIdentity.create(tx, input);
  },
  /** Offers the new identity, once it is published. */
  confirmIdentity: (tx, parts) => offered(tx, parts, parts.ownIdentity.confirm(tx)),
  /** Gives up a new identity that was not published. */
  abandonIdentity: (tx, { ownIdentity }) => ownIdentity.abandon(tx),
  /** Keeps what has opened the secret storage. */
  keepOpener: (tx, _, opener: StorageOpener) => tx.set(STORAGE_OPENER, opener),
  /** Signs the identity of a user, whose master key was compared. */
  signIdentity: (tx, parts, compared: ComparedIdentity) =>
    signed(tx, parts, parts.signing.signIdentity(tx, compared)),
  /** Signs another own device, whose key was compared. */
  signDevice: (tx, parts, compared: ComparedDevice) =>
    signed(tx, parts, parts.signing.signDevice(tx, compared)),
  /** Asks the own verified devices for the secrets that are not here. */
  requestSecrets: (tx, { secretRequests }, wanted: WantedSecrets) => secretRequests.want(tx, wanted),
  /** Returns whether the server has a signature that was made. */
  signatureFate: (_, { signatures }, name: SignedName) => signatures.fateOf(name),
  /** Lets the keys of the own device be uploaded, with the signature that they have now or none. */
  releaseUpload: (tx, { ownIdentity }) => tx.onCommit(() => ownIdentity.isAwaited = false),

  /** Exports a page of the sessions of others, and of the copies of the own. */
  exportSessions: (tx, { inbound }, query: SessionQuery) => inbound.export.page(tx, query),
  /** Imports keys: some hundreds, so that other steps need not wait long. */
  importKeys: (tx, parts, keys: readonly ImportedRoomKey[]) => receiveKeys(tx, parts, keys),
  /** Returns the backup that is in use; undefined: none is. */
  backupState: (_, { backup }) => backup.state,
  /** Makes the key of a new backup, the same until it is adopted or forgotten. */
  newBackup: (tx, { backup }, input: NewBackupInput) => backup.create(tx, input),
  /** Uses a version of the backup from now on, if its private key is there. */
  adoptBackup: (tx, { backup }, input: AdoptInput) => backup.adopt(tx, input),
  /** Follows the server to the version that it shows now. */
  followBackup: (tx, { backup }, shown: ShownVersion | undefined) => backup.follow(tx, shown),
  /** Forgets the backup and its keys. */
  forgetBackup: (tx, { backup }) => backup.forget(tx),
  /** Returns the version of the backup to ask for a session; undefined: it is not to be asked for now. */
  versionFor: (_, { backupRestore }, session: MegolmSessionRef) => backupRestore.versionFor(session),
  /** Receives keys of the backup: some hundreds, so that other steps need not wait long. */
  restoreKeys: (tx, { backupRestore }, restored: RestoredKeys) => backupRestore.receive(tx, restored),

  dehydrationState: (tx, { dehydration }) => dehydration.state(tx),
  /** Keeps the key that secret storage has; returns whether it is one. */
  keepPickleKey: (tx, { dehydration }, secret: string) => dehydration.keepKey(tx, secret),
  /** Returns the key for secret storage, which has none. */
  pickleKeyToStore: (tx, { dehydration }) => dehydration.keyToStore(tx),
  /** Makes another key in place of the old one, for secret storage; `pickleKeyRenewed` once that has it. */
  renewPickleKey: (tx, { dehydration }) => dehydration.renewKey(tx),
  /** Notes that secret storage has the other key. */
  pickleKeyRenewed: (tx, { dehydration }) => dehydration.renewed(tx),
  /** Makes a dehydrated device; undefined if there is no key to encrypt or to sign it with. */
  createDehydrated: (tx, { dehydration }) => dehydration.create(tx),
  /** Notes that the server has the device that was made. */
  dehydratedUploaded: (tx, { dehydration }, deviceId: DeviceID) => dehydration.uploaded(tx, deviceId),
  /** Begins to read a dehydrated device, or goes on where it was left. */
  beginRehydration: (tx, { dehydration }, device: DehydratedDevice) => dehydration.begin(tx, device),
  /** Receives messages to it: some hundred, so that other steps need not wait long. */
  receiveRehydrated: (tx, { dehydration }, page: RehydratedPage) => dehydration.receive(tx, page),
  /** Clears some of what is left of it; returns whether nothing is. */
  clearRehydration: (tx, { dehydration }) => dehydration.clear(tx),

  /** Returns which of a user's devices would get a room's keys. */
  historyRecipients: (tx, { historyOffers }, userId: UserID) => historyOffers.recipients(tx, userId),
  /** Tells a user's devices where the keys are; returns to how many. */
  offerHistory: (tx, { historyOffers }, offer: HistoryOffer) => historyOffers.offer(tx, offer),

  ...verificationSteps,
} satisfies Record<string, (tx: Transaction, parts: EngineParts, ...input: never[]) => unknown>;

/** The steps, as they are called. */
export type EngineSteps = {
  readonly [Name in keyof typeof STEPS]: (typeof STEPS)[Name] extends
    (tx: Transaction, parts: EngineParts, ...input: infer Input) => infer Result
    ? (...input: Input) => Promise<Awaited<Result>>
    : never;
};

/** Makes the steps callable: each runs as one. */
export function engineSteps(
  run: <Result>(work: (tx: Transaction, parts: EngineParts) => Promise<Result>) => Promise<Result>,
): EngineSteps {
  const steps = Object.entries(STEPS).map(([name, step]) => [
    name,
    (...input: never[]) =>
      run(async (tx, parts) =>
        await (step as (tx: Transaction, parts: EngineParts, ...input: never[]) => unknown)(
          tx,
          parts,
          ...input,
        )
      ),
  ]);
  return Object.fromEntries(steps); // as the type says
}

async function identityState(
  tx: Transaction,
  { devices, ownIdentity, context: { own: { userId } } }: EngineParts,
): Promise<OwnIdentityState> {
  return {
    shown: await devices.identityOf(tx, userId),
    keys: ownIdentity.known,
    isBehind: devices.tracked.isBehind(userId),
    opener: await tx.get(STORAGE_OPENER),
  };
}

async function offered(
  tx: Transaction,
  { undecryptable }: EngineParts,
  offer: Promise<OfferOutcome>,
): Promise<OfferReply> {
  const outcome = await offer;
  return { outcome, recovered: outcome === "adopted" ? await undecryptable.retry(tx, "all") : [] };
}

async function signed(
  tx: Transaction,
  { undecryptable, secretAnswers }: EngineParts,
  signing: Promise<SigningOutcome>,
): Promise<SigningReply> {
  const outcome = await signing;
  if (outcome === "signed") await secretAnswers.retry(tx); // a device that has asked may be verified now
  return { outcome, recovered: outcome === "signed" ? await undecryptable.retry(tx, "all") : [] };
}

/** What the application says of a device. */
export interface TrustInput extends ComparedDevice {
  /** The trust; undefined removes it. */
  readonly trust: LocalTrust | undefined;
}

/**
 * The steps of the engine about devices and identities: what the application says of them, and the
 * private keys of the own one.
 *
 * @module
 */

import {
  acceptedIdentity,
  type ComparedDevice,
  type ComparedIdentity,
  type UserIdentity,
  withdrawnIdentity,
} from "../devices/mod.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type {
  ComparedSeeds,
  IdentitySeeds,
  KnownIdentity,
  NewIdentity,
  NewIdentityInput,
  OfferOutcome,
  SignatureFate,
  SignedName,
  SigningOutcome,
} from "../identity/mod.ts";
import { STORAGE_OPENER, type StorageOpener } from "./storage_opener.ts";
import type { Transaction } from "../records/mod.ts";
import type { AskedSecrets, WantedSecrets } from "../secret_requests/mod.ts";
import type { UserID } from "../../types/ids.ts";
import type { EngineParts, RunStep } from "./engine_parts.ts";
import type { OwnIdentity, TrustInput } from "./engine_protocol.ts";
import type { RecoveredEvent } from "../megolm/mod.ts";

/** The own identity as this device has it. */
export interface OwnIdentityState {
  /** What the server has shown of it; undefined: nothing yet. */
  readonly shown: UserIdentity | undefined;
  /** The private keys at hand, without them; undefined: none. */
  readonly keys: KnownIdentity | undefined;
  /** Whether the server has to be asked before {@link IdentitySteps.offerIdentity}. */
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

/** The steps, which do not overlap with other steps of the engine. */
export class IdentitySteps {
  readonly #run: RunStep;

  /** @param run Runs a step. */
  constructor(run: RunStep) {
    this.#run = run;
  }

  /** Sets what the application says of a device. A blacklisted one gets no more keys. */
  async setDeviceTrust({ trust, ...device }: TrustInput): Promise<RecoveredEvent[]> {
    return await this.#run(async (tx, { devices, outbound, undecryptable, secretAnswers }) => {
      await devices.setTrust(tx, device, trust);
      if (trust === "verified") await secretAnswers.retry(tx); // it may have asked
      if (trust === "blacklisted") await outbound.devicesChanged(tx, { removed: [device] });
      return await undecryptable.retry(tx, "all");
    });
  }

  /** By which keys a user vouches for devices; undefined if none were ever seen. */
  async identityOf(userId: UserID): Promise<UserIdentity | undefined> {
    return await this.#run((tx, { devices }) => devices.identityOf(tx, userId));
  }

  /** Accepts a user's identity: its devices get keys, and their events are accepted. */
  async acknowledgeIdentity(compared: ComparedIdentity): Promise<RecoveredEvent[]> {
    return await this.#run(async (tx, { devices, undecryptable }) => {
      await devices.changeIdentity(tx, compared.userId, (before) => acceptedIdentity(before, compared));
      return await undecryptable.retry(tx, "all");
    });
  }

  /** Accepts a user's identity, which need not be verified any more although it once was. */
  async withdrawVerification(compared: ComparedIdentity): Promise<RecoveredEvent[]> {
    return await this.#run(async (tx, { devices, undecryptable }) => {
      const change: Parameters<typeof devices.changeIdentity>[2] = (before, verifier) =>
        withdrawnIdentity(before, compared, verifier);
      await devices.changeIdentity(tx, compared.userId, change);
      return await undecryptable.retry(tx, "all");
    });
  }

  /** The own device's public keys, with the signatures that they have now. */
  async ownDevice(): Promise<OwnIdentity> {
    return await this.#run((_tx, { ownKeys: { own: { curve25519, ed25519 }, account } }) =>
      Promise.resolve({ deviceKeys: account.deviceKeys, curve25519, ed25519 })
    );
  }

  async ownIdentity(): Promise<OwnIdentityState> {
    return await this.#run(stateOf);
  }

  /** What the doctor looks at. */
  async health(): Promise<OwnHealth> {
    return await this.#run(async (tx, parts) => ({
      device: parts.ownKeys.deviceKeys(),
      isSigned: parts.ownIdentity.isSeenSigned,
      isSignatureDue: parts.ownIdentity.isSignatureDue,
      hasFallback: parts.ownKeys.hasFallback,
      state: await stateOf(tx, parts),
      hasDehydrated: (await parts.dehydration.state(tx)).made?.isUploaded === true,
    }));
  }

  /** Compares private keys with the identity that the server has shown; undefined: none. */
  async compareIdentity(seeds: Partial<IdentitySeeds>): Promise<ComparedSeeds | undefined> {
    return await this.#run((tx, { ownIdentity }) => ownIdentity.compared(tx, seeds));
  }

  /** Has the server asked what it shows of the own user, even if that is known. */
  async askForIdentity(): Promise<void> {
    await this.#run((tx, { devices, context: { own } }) => {
      devices.changed(tx, [own.userId]);
      return Promise.resolve();
    });
  }

  /**
   * Offers private keys of the own identity. Those that fit what the server has shown since it was
   * asked are kept, and prove that identity; others change nothing.
   */
  async offerIdentity(seeds: Partial<IdentitySeeds>): Promise<OfferReply> {
    return await this.#run((tx, parts) => offered(tx, parts, parts.ownIdentity.offer(tx, seeds)));
  }

  /** Makes a new identity, or returns the one that was made and is not published yet. */
  async createIdentity(input: NewIdentityInput): Promise<NewIdentity> {
    return await this.#run(async (tx, { ownIdentity, dehydration }) => {
      if (input.replaces === true) await dehydration.outdate(tx);
      return await ownIdentity.create(tx, input);
    });
  }

  /** Offers the new identity, once it is published. */
  async confirmIdentity(): Promise<OfferReply> {
    return await this.#run((tx, parts) => offered(tx, parts, parts.ownIdentity.confirm(tx)));
  }

  /** Gives up a new identity that was not published. */
  async abandonIdentity(): Promise<void> {
    await this.#run((tx, { ownIdentity }) => ownIdentity.abandon(tx));
  }

  /** Keeps what has opened the secret storage. */
  async keepOpener(opener: StorageOpener): Promise<void> {
    await this.#run((tx) => {
      tx.set(STORAGE_OPENER, opener);
      return Promise.resolve();
    });
  }

  /** Signs the identity of a user, whose master key was compared: {@link IdentitySigning.signIdentity}. */
  async signIdentity(compared: ComparedIdentity): Promise<SigningReply> {
    return await this.#run((tx, parts) => signed(tx, parts, parts.signing.signIdentity(tx, compared)));
  }

  /** Signs another own device, whose key was compared: {@link IdentitySigning.signDevice}. */
  async signDevice(compared: ComparedDevice): Promise<SigningReply> {
    return await this.#run((tx, parts) => signed(tx, parts, parts.signing.signDevice(tx, compared)));
  }

  /** Asks the own verified devices for the secrets that are not here. */
  async requestSecrets(wanted: WantedSecrets): Promise<AskedSecrets> {
    return await this.#run((tx, { secretRequests }) => secretRequests.want(tx, wanted));
  }

  /** Whether the server has a signature that was made. */
  async signatureFate(name: SignedName): Promise<SignatureFate> {
    return await this.#run((_tx, { signatures }) => Promise.resolve(signatures.fateOf(name)));
  }

  /** Lets the keys of the own device be uploaded, with the signature that they have now or none. */
  async releaseUpload(): Promise<void> {
    await this.#run((tx, { ownIdentity }) => {
      tx.onCommit(() => ownIdentity.isAwaited = false);
      return Promise.resolve();
    });
  }
}

async function stateOf(
  tx: Transaction,
  { devices, ownIdentity, context: { own: { userId } } }: EngineParts,
): Promise<OwnIdentityState> {
  return {
    shown: await devices.identityOf(tx, userId),
    keys: ownIdentity.known,
    isBehind: devices.isBehind(userId),
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

/**
 * The own identity, as what needs several requests and the user's secrets works on it.
 *
 * @module
 */

import { checkOptions } from "../../errors/known_names.ts";
import { DOCTOR_OPTIONS, RESET_OPTIONS, VERIFIED_OPTIONS } from "../option_names.ts";
import { Turns } from "../../base/turns.ts";
import type { Device } from "../../crypto/devices/device.ts";
import type { RecoveredEvent } from "../../crypto/megolm/decrypted.ts";
import type { OwnHealth, OwnIdentityState } from "../../crypto/engine/identity_steps.ts";
import type { ComparedSeeds, IdentitySeeds } from "../../crypto/identity/identity_seeds.ts";
import type { NewIdentity } from "../../crypto/identity/new_identity.ts";
import type { NewIdentityInput, OfferOutcome } from "../../crypto/identity/own_identity.ts";
import type { StorageOpener } from "../../crypto/engine/storage_opener.ts";
import type { AskedSecrets, WantedSecrets } from "../../crypto/secret_requests/secret_requests.ts";
import { NetworkError } from "../../errors/network_error.ts";
import type { UserID } from "../../types/ids.ts";
import type { ActorRef } from "../../actors/kernel/actor.ts";
import type { CryptoHandlers } from "../../actors/crypto/crypto_actor.ts";
import type { CryptoDoctorOptions, CryptoFinding } from "../crypto_findings.ts";
import type { EnsureVerifiedOptions, ResetIdentityOptions, VerificationReport } from "./identity_crypto.ts";
import type { OutgoingRequests } from "../../actors/crypto/outgoing_requests.ts";

/** What it needs of encryption. */
export interface IdentityPortOptions {
  /** The Crypto actor, which has been opened. */
  readonly actor: ActorRef<CryptoHandlers>;
  /** Delivers events that can be read now. */
  readonly deliver: (events: readonly RecoveredEvent[]) => void;
  /** Makes the engine's requests. */
  readonly requests: OutgoingRequests;
}

/** How often the server is asked, if other changes come in between. */
const MAX_ROUNDS = 3;

/** Looks at the own identity, and changes it. */
export class IdentityPort {
  readonly #options: IdentityPortOptions;

  /** @param options What it needs. */
  constructor(options: IdentityPortOptions) {
    this.#options = options;
  }

  /** The identity as it is known, without asking. */
  async known(): Promise<OwnIdentityState> {
    return await this.#options.actor.ownIdentity();
  }

  /** The identity as it is known; the server is asked if it may have changed. */
  async state(): Promise<OwnIdentityState> {
    const state = await this.#options.actor.ownIdentity();
    return state.isBehind ? await this.#answered() : state;
  }

  /** The identity that the server shows when it is asked now. */
  async look(): Promise<OwnIdentityState> {
    await this.#options.actor.askForIdentity();
    return await this.#answered();
  }

  /** What is known of the own device and identity, without asking. */
  async health(): Promise<OwnHealth> {
    return await this.#options.actor.health();
  }

  /** Compares private keys with the identity that the server has shown. */
  async compare(seeds: Partial<IdentitySeeds>): Promise<ComparedSeeds | undefined> {
    return await this.#options.actor.compareIdentity(seeds);
  }

  /**
   * Offers private keys: they are kept if they fit what the server shows when it is asked now.
   *
   * @param options.isAsked Whether it has just been asked: it is again only if they don't fit. Default: false.
   */
  async offer(
    seeds: Partial<IdentitySeeds>,
    { isAsked = false }: { readonly isAsked?: boolean } = {},
  ): Promise<OfferOutcome> {
    if (!isAsked) await this.look();
    const outcome = this.#offered(await this.#options.actor.offerIdentity(seeds));
    return isAsked && outcome !== "adopted" ? await this.offer(seeds) : outcome;
  }

  /** Makes an identity, or returns the one that was made and is not published yet. */
  async create(input: NewIdentityInput): Promise<NewIdentity> {
    return await this.#options.actor.createIdentity(input);
  }

  /** Keeps the identity that was made, if the server shows it when it is asked now. */
  async confirm(): Promise<OfferOutcome> {
    await this.look();
    return this.#offered(await this.#options.actor.confirmIdentity());
  }

  /** Gives up the identity that was made and not published: the one before it counts again. */
  async abandon(): Promise<void> {
    await this.#options.actor.abandonIdentity();
  }

  /** Keeps what has opened the secret storage. */
  async keepOpener(opener: StorageOpener): Promise<void> {
    await this.#options.actor.keepOpener(opener);
  }

  /** A user's devices, as far as they are known. */
  async devices(userId: UserID): Promise<Device[]> {
    return await this.#options.actor.devicesOf([userId]);
  }

  /** Asks the own verified devices for the secrets that are not here. */
  async requestSecrets(wanted: WantedSecrets): Promise<AskedSecrets> {
    const { actor, requests } = this.#options;
    const asked = await actor.requestSecrets(wanted);
    await requests.round("toDevice"); // later, if that fails
    return asked;
  }

  /** Publishes the device's keys, with the signature that they have by now or none. */
  async publishDevice(): Promise<void> {
    const { actor, requests } = this.#options;
    await actor.releaseUpload();
    const { failure } = await requests.round("keysUpload");
    if (failure !== undefined) throw failure;
  }

  /**
   * Uploads the device's signature, if its keys were published without it; later, if that fails.
   *
   * @returns Whether the server has it, as far as it shows that.
   */
  async publishSignature(): Promise<boolean> {
    const { requests } = this.#options;
    const { ended } = await requests.round("signaturesUpload");
    if (ended > 0) await requests.round("keysQuery"); // what became of it is seen in nothing else
    return !(await this.health()).isSignatureDue;
  }

  #offered(
    { outcome, recovered }: { outcome: OfferOutcome; recovered: readonly RecoveredEvent[] },
  ): OfferOutcome {
    this.#options.deliver(recovered);
    return outcome;
  }

  async #answered(): Promise<OwnIdentityState> {
    const { actor, requests } = this.#options;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { failure } = await requests.round("keysQuery");
      if (requests.conflict !== undefined) throw requests.conflict;
      if (failure !== undefined) throw failure;
      const state = await actor.ownIdentity();
      if (!state.isBehind) return state;
    }
    if (requests.deadToken !== undefined) throw requests.deadToken; // no later try would help
    throw new NetworkError("Cannot look up the own identity: the server does not answer; try again");
  }
}

/** What is done to the own identity by several requests. */
export interface IdentityWork {
  /**
   * Has the own device signed by its user's identity.
   *
   * @param start.isAsked Whether the server has just been asked for the own identity. Default: false.
   */
  verify(
    identity: IdentityPort,
    options: EnsureVerifiedOptions,
    start?: { readonly isAsked?: boolean },
  ): Promise<VerificationReport>;
  /** Begins to read what that will read. */
  prepare(identity: IdentityPort, options: EnsureVerifiedOptions): Promise<void>;
  /** Replaces the identity. */
  reset(identity: IdentityPort, options: ResetIdentityOptions): Promise<VerificationReport>;
  /** Sees to the dehydrated device. */
  renew(identity: IdentityPort, options: EnsureVerifiedOptions): Promise<void>;
  /** Asks other own devices for secrets. */
  request(identity: IdentityPort): Promise<AskedSecrets>;
  /** Looks whether all is well. */
  examine(identity: IdentityPort, options: CryptoDoctorOptions): Promise<CryptoFinding[]>;
}

/** Works on the own identity, one call after the other: each sees what the one before has done. */
export class Verification {
  readonly #identity: IdentityPort;
  readonly #work: IdentityWork;
  readonly #open: () => Promise<void>;
  readonly #ready: () => Promise<void>;
  readonly #turns = new Turns();

  /**
   * @param identity The own identity.
   * @param work Does it.
   * @param ready.open Opens the engine.
   * @param ready.assert Throws if the device can't go on.
   */
  constructor(
    identity: IdentityPort,
    work: IdentityWork,
    { open, assert }: { readonly open: () => Promise<unknown>; readonly assert: () => void },
  ) {
    this.#identity = identity;
    this.#work = work;
    this.#open = async () => void await open();
    this.#ready = async () => {
      await open();
      assert();
    };
  }

  /** Verifies when the calls before have ended. */
  async verify(
    options: EnsureVerifiedOptions,
    start?: { readonly isAsked?: boolean },
  ): Promise<VerificationReport> {
    checkOptions(options, VERIFIED_OPTIONS, "verify the device");
    return await this.#inTurn(() => this.#work.verify(this.#identity, options, start));
  }

  /** Begins to read what {@link Verification.verify} will read. Never rejects. */
  async prepare(options: EnsureVerifiedOptions): Promise<void> {
    await this.#work.prepare(this.#identity, options).catch(() => {}); // verify() gets the error
  }

  /** Replaces the identity when the calls before have ended. */
  async reset(options: ResetIdentityOptions): Promise<VerificationReport> {
    checkOptions(options, RESET_OPTIONS, "reset the identity");
    return await this.#inTurn(() => this.#work.reset(this.#identity, options));
  }

  /** Sees to the dehydrated device when the calls before have ended. */
  async renew(options: EnsureVerifiedOptions): Promise<void> {
    await this.#inTurn(() => this.#work.renew(this.#identity, options));
  }

  /** Asks other own devices for secrets, when the calls before have ended. */
  async request(): Promise<AskedSecrets> {
    return await this.#inTurn(() => this.#work.request(this.#identity));
  }

  /** Looks whether all is well, when the calls before have ended. */
  async examine(options: CryptoDoctorOptions): Promise<CryptoFinding[]> {
    checkOptions(options, DOCTOR_OPTIONS, "look at the encryption");
    return await this.#inTurn(() => this.#work.examine(this.#identity, options), this.#open);
  }

  #inTurn<Result>(work: () => Promise<Result>, ready = this.#ready): Promise<Result> {
    return this.#turns.take(async () => {
      await ready();
      return await work();
    });
  }
}

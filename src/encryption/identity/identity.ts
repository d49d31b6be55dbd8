/**
 * The calls of `client.crypto` that work on the own identity, and those that look up devices and identities
 * of users. What they do is loaded with the first of each.
 *
 * Over 300 lines because it is all that an application can ask of identities, each call a few lines.
 *
 * @module
 */

import type { EncryptedClient, EngineRunner } from "../../actors/crypto/crypto.ts";
import { RESTART_DELAY } from "../../api/http/mod.ts";
import type { Logger } from "../../base/log.ts";
import { Turns } from "../../base/runs.ts";
import type {
  ComparedDevice,
  ComparedIdentity,
  CryptoDevice,
  LocalTrust,
  UserIdentity,
} from "../../crypto/devices/mod.ts";
import type { OwnHealth, SigningReply } from "../../crypto/engine/engine.ts";
import type { AskedSecrets } from "../../crypto/secret_requests/secret_requests.ts";
import { OwnIdentityError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { unpadded } from "../../types/base64.ts";
import type { UserID } from "../../types/ids.ts";
import type { KeyBackupMachine } from "../backup/backup.ts";
import type { CryptoDoctorOptions, CryptoFinding } from "../crypto_findings.ts";
import type { DehydratedDevices } from "../dehydration.ts";
import type { EnsureVerifiedOptions, ResetIdentityOptions, VerificationReport } from "./identity_crypto.ts";
import { type EarlyReads, IdentityRequests } from "./identity_requests.ts";
import type { IdentityCall, IdentityTools } from "./identity_secrets.ts";

export { EarlyReads } from "./identity_requests.ts";
export type {
  EnsureVerifiedOptions,
  IdentityCrypto,
  IdentityLoss,
  ResetIdentityOptions,
  VerificationReport,
} from "./identity_crypto.ts";

/** What works on the own identity uses beside the engine. */
interface AccountMachines {
  /** The backup of room keys. */
  readonly backup: KeyBackupMachine;
  /** The dehydrated device. */
  readonly dehydration: DehydratedDevices;
  /** Reads of the account that a start begins early. */
  readonly early: EarlyReads;
}

/** Works on the own identity, one call after the other: each sees what the one before has done. */
export class AccountIdentity {
  readonly #engine: EngineRunner;
  readonly #client: Pick<EncryptedClient, "api" | "session" | "store" | "isDurable">;
  readonly #machines: AccountMachines;
  readonly #requests: IdentityRequests;
  readonly #turns = new Turns();

  /**
   * @param engine The engine.
   * @param client Whose identity it is.
   * @param machines What else is used.
   */
  constructor(
    engine: EngineRunner,
    client: Pick<EncryptedClient, "api" | "session" | "store" | "isDurable">,
    machines: AccountMachines,
  ) {
    [this.#engine, this.#client, this.#machines] = [engine, client, machines];
    this.#requests = new IdentityRequests(engine, machines.early.api);
  }

  /**
   * Has the own device signed by its user's identity.
   *
   * @param start.isAsked Whether the server has just been asked for the own identity. Default: false.
   */
  async verify(
    options: EnsureVerifiedOptions,
    start: { readonly isAsked?: boolean } = {},
  ): Promise<VerificationReport> {
    return await this.#inTurn(() => this.#verify(options, start));
  }

  /** Begins to read what {@linkcode AccountIdentity.verify} will read. Never rejects. */
  async prepare(options: EnsureVerifiedOptions): Promise<void> {
    try {
      const { keys } = await this.#engine.actor.ownIdentity();
      if (keys?.phase === "created") return;
      const { firstReads, laterReads } = await import("./identity_secrets.ts");
      const reads = keys === undefined ? firstReads(options.backup !== false) : laterReads(options);
      this.#machines.early.begin(reads);
    } catch {
      // verify() gets the error
    }
  }

  /** Replaces the identity. */
  async reset(options: ResetIdentityOptions): Promise<VerificationReport> {
    return await this.#inTurn(async () => {
      const { resetIdentity } = await import("./ensure_verified.ts");
      using call = await this.#call(this.#client.api);
      return await resetIdentity(call, options);
    });
  }

  /** Replaces the dehydrated device if it is old. The secret storage may have another key for it by now. */
  async renew(options: EnsureVerifiedOptions): Promise<void> {
    await this.#inTurn(async () => {
      const { unlockOf } = await import("../secrets/account_secrets.ts");
      using call = await this.#call(this.#client.api);
      await this.#machines.dehydration.ensure(this.#requests, async () => {
        const by = unlockOf(options);
        return by && await call.open(by);
      });
    });
  }

  /** Asks other own devices for secrets. */
  async requestSecrets(): Promise<AskedSecrets> {
    return await this.#inTurn(() => this.#requests.requestSecrets());
  }

  /** Looks whether all is well. */
  async examine(options: CryptoDoctorOptions): Promise<CryptoFinding[]> {
    return await this.#turns.take(async () => {
      await this.#engine.open(); // that the device can't be used is a finding
      const { Doctor } = await import("./doctor.ts");
      const { actor } = this.#engine;
      return await new Doctor(actor, this.#requests, this.#machines.backup, this.#client).examine(options);
    });
  }

  async #verify(options: EnsureVerifiedOptions, start: { readonly isAsked?: boolean }) {
    const { ensureVerified } = await import("./ensure_verified.ts");
    const { clock, http, log, signal } = this.#engine;
    const { early } = this.#machines;
    for (let restarts = 0;; restarts++) {
      try {
        using call = await this.#call(early.api, { ...start, early });
        return await ensureVerified(call, options);
      } catch (error) {
        const delay = http[RESTART_DELAY](error, restarts);
        if (delay === undefined) throw error;
        log.warn("Could not be verified, trying again", { delay: Math.round(delay), error: String(error) });
        await clock.delay(delay, { signal });
      } finally {
        early.end();
      }
    }
  }

  async #call(
    api: EncryptedClient["api"],
    start: Pick<IdentityTools, "isAsked" | "early"> = {},
  ): Promise<IdentityCall> {
    const { IdentityCall } = await import("./identity_secrets.ts");
    const { backup, dehydration } = this.#machines;
    return new IdentityCall(this.#engine, { identity: this.#requests, api, backup, dehydration, ...start });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.take(async () => {
      await this.#engine.ready();
      return await work();
    });
  }
}

/** Each warning is logged once. */
export class DeviceWarnings {
  readonly #log: Logger;
  readonly #said = new Set<string>();

  /** @param log Gets them. */
  constructor(log: Logger) {
    this.#log = log;
  }

  /** Says that others may not trust this device, and how to mend it. */
  unsigned({ isSigned, device, state }: Pick<OwnHealth, "isSigned" | "device" | "state">): void {
    if (isSigned) return;
    const mend = state.shown === undefined
      ? "start a bot with MATRIX_RECOVERY_KEY_FILE=./recovery.key, which makes a recovery key and keeps it in that " +
        "file, or give encryption.onRecoveryKey"
      : "the account has a recovery key, which its user has: give it as MATRIX_RECOVERY_KEY or " +
        "encryption.recoveryKey, or verify this device with another client of the user";
    this.#say(
      "Nobody has signed this device, so that clients like Element neither show its encrypted messages nor give " +
        `it keys, and it can't read what their users say: ${mend}`,
      { userId: device.user_id, deviceId: device.device_id },
    );
  }

  /** Says that the next process with the same access token has other keys, which is refused. */
  volatile(): void {
    this.#say(
      "The keys of this device are lost when the process ends, and its access token is not: the next start with " +
        "that token ends in a DeviceConflictError; give a store that lasts (a bot: MATRIX_STORE), or log in anew " +
        "each time (a bot: MATRIX_USER and MATRIX_PASSWORD in place of MATRIX_TOKEN)",
    );
  }

  #say(message: string, data?: Record<string, unknown>): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#log.warn(message, data);
  }
}

/** Something that is to be signed. */
interface Signing {
  readonly userId: UserID;
  /** Its name in the upload. */
  readonly name: string;
  /** Its name in errors. */
  readonly named: string;
  readonly sign: () => Promise<SigningReply>;
}

/** How often a user's devices are looked up before those that are known are returned. */
const MAX_ROUNDS = 3;

/** The calls of `client.crypto` about users. */
export class UserTrust {
  readonly #engine: EngineRunner;

  /** @param engine The engine. */
  constructor(engine: EngineRunner) {
    this.#engine = engine;
  }

  /**
   * A user's devices.
   *
   * @param options.isAnew Whether the server is asked, however fresh what is known may be:
   *   a sync may be late to say that there is another device.
   */
  async getDevices(userId: UserID, { isAnew = false } = {}): Promise<CryptoDevice[]> {
    const { actor, following } = this.#engine;
    await this.#engine.open();
    let since = isAnew ? Infinity : following.fresh;
    for (let round = 0; round < MAX_ROUNDS; round++, since = following.fresh) {
      if (!await actor.areDevicesStale({ users: [userId], since })) break;
      const { ended, failure } = await this.#engine.requests.round("keysQuery");
      if (failure !== undefined) throw failure;
      if (ended === 0) break;
    }
    return await actor.devicesOf([userId]);
  }

  /** Sets whether a device is verified or blacklisted. */
  async setDeviceTrust(device: ComparedDevice, trust: LocalTrust | undefined): Promise<void> {
    const engine = this.#engine;
    await engine.open();
    const { userId, deviceId, ed25519 } = device;
    const say = () => engine.actor.setDeviceTrust({ userId, deviceId, ed25519, trust });
    // A known device is not looked up: it can be blocked while the server does not answer.
    const recovered = await say().catch(async (error) => {
      if (!(error instanceof ValueError)) throw error;
      await this.getDevices(userId, { isAnew: true });
      return await say();
    });
    engine.deliver(recovered);
    engine.requests.wake();
  }

  async getIdentity(userId: UserID): Promise<UserIdentity | undefined> {
    await this.getDevices(userId); // they come together
    return await this.#engine.actor.identityOf(userId);
  }

  /** Signs a user's identity. */
  async verify({ userId, master }: ComparedIdentity): Promise<void> {
    const { actor } = this.#engine;
    await this.#sign({
      userId,
      name: unpadded(master),
      named: userId,
      sign: () => actor.signIdentity({ userId, master }),
    });
  }

  /** Signs an own device. */
  async verifyDevice({ userId, deviceId, ed25519 }: ComparedDevice): Promise<void> {
    const { actor } = this.#engine;
    await this.#sign({
      userId,
      name: deviceId,
      named: `device ${JSON.stringify(deviceId)}`,
      sign: () => actor.signDevice({ userId, deviceId, ed25519 }),
    });
  }

  async #sign({ userId, name, named, sign }: Signing): Promise<void> {
    const engine = this.#engine;
    await engine.open();
    const { outcome, recovered } = await sign().catch(async (error) => {
      if (!(error instanceof ValueError)) throw error;
      await this.getDevices(userId, { isAnew: true }); // it may be known then
      return await sign();
    });
    if (outcome === "no-key") {
      throw new OwnIdentityError(
        `Cannot verify ${named}: the private key of the own identity that would sign is not at hand; ` +
          "call ensureVerified() with the recovery key",
        { problem: "no-key" },
      );
    }
    engine.deliver(recovered);
    // Nothing is uploaded before the server has shown the own device.
    await engine.requests.round("keysQuery");
    await engine.requests.round("signaturesUpload");
    engine.requests.wake(); // a device that has asked for secrets may get them now
    const fate = await engine.actor.signatureFate({ userId, name });
    if (fate.state !== "refused") return; // what could not be uploaded is later
    throw new OwnIdentityError(
      `Cannot publish that ${named} is verified: the server refuses the signature, with ${fate.reason}; ` +
        "look it up, compare it again and call this again",
      { problem: "refused" },
    );
  }

  /** Decides about a user's identity. */
  async decide(
    what: "acknowledgeIdentity" | "withdrawVerification",
    { userId, master }: ComparedIdentity,
  ): Promise<void> {
    const engine = this.#engine;
    await engine.open();
    engine.deliver(await engine.actor[what]({ userId, master }));
    engine.requests.wake();
  }
}

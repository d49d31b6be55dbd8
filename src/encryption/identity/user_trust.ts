/**
 * The devices and identities of users: looked up, and what the application says of them.
 *
 * @module
 */

import type { EngineRunner } from "../../actors/crypto/crypto.ts";
import type {
  ComparedDevice,
  ComparedIdentity,
  CryptoDevice,
  LocalTrust,
  UserIdentity,
} from "../../crypto/devices/mod.ts";
import type { SigningReply } from "../../crypto/engine/engine.ts";
import { unpadded } from "../../types/base64.ts";
import { OwnIdentityError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { UserID } from "../../types/ids.ts";

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
   * @param options.isAnew Whether the server is asked, however fresh what is known may be: a sync may be late to say
   *   that there is another device.
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
    await engine.requests.round("keysQuery"); // nothing is uploaded before the server has shown the own device
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

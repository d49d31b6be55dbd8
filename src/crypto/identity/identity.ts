/**
 * What the own identity signs: the master keys of other users, and the user's own devices.
 *
 * What is signed is made of the keys that are known here, and only if they are those that were
 * compared: never an object that somebody shows.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { unpadded } from "../../types/base64.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { OwnAccount } from "../account/account.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  acceptedIdentity,
  type ComparedDevice,
  type ComparedIdentity,
  type DeviceLists,
  provenIdentity,
  signedIdentity,
  type StoredDevice,
} from "../devices/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type { DueSignatures } from "./due_signatures.ts";
import type { OwnIdentity } from "./own_identity.ts";

export {
  type DueSignature,
  DueSignatures,
  OwnSignature,
  type SignaturesUpload,
  type SignedName,
  uploadOf,
} from "./due_signatures.ts";
export {
  type ComparedSeeds,
  type IdentitySeeds,
  type NewIdentity,
  SEED_NAMES,
  SEED_SECRETS,
  seedNameOf,
} from "./identity_seeds.ts";
export { type KnownIdentity, type NewIdentityInput, type OfferOutcome, OwnIdentity } from "./own_identity.ts";

/** `no-key`: the private key that would sign is not at hand; nothing was changed. */
export type SigningOutcome = "signed" | "no-key";

/** Signs. What it signs is verified at once, and uploaded when the step is durable. */
export class IdentitySigning {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own device's account, which signs the own master key. */
    readonly account: OwnAccount;
    /** What is known of users. */
    readonly devices: Pick<DeviceLists, "changeIdentity" | "setSigned">;
    /** The private keys. */
    readonly ownIdentity: Pick<OwnIdentity, "known" | "signWith">;
    /** Where signatures go. */
    readonly signatures: DueSignatures;
  }) {
    this.#options = options;
  }

  /**
   * Signs the identity of a user, whose present master key was compared: another user's with the
   * user-signing key. The own one, which needs no private key, with this device's; it is proven by that.
   *
   * @throws {ValueError} If the user has no identity.
   * @throws {IdentityChangedError} If the user has another one by now.
   */
  async signIdentity(tx: Transaction, compared: ComparedIdentity): Promise<SigningOutcome> {
    const { context: { own }, account, devices, ownIdentity, signatures } = this.#options;
    const { userId } = compared;
    const name = unpadded(compared.master);
    const object = { user_id: userId, usage: ["master"], keys: { [`ed25519:${name}`]: name } };
    if (userId === own.userId) {
      await devices.changeIdentity(
        tx,
        userId,
        (before) => provenIdentity(acceptedIdentity(before, compared)),
      );
      signatures.add(tx, { userId, name, object: account.sign(object) });
      return "signed";
    }
    const { known } = ownIdentity;
    if (known?.phase !== "published") return "no-key";
    const verifier = known.userSigning;
    const signed = await ownIdentity.signWith(tx, "userSigning", object);
    if (signed === undefined) return "no-key";
    await devices.changeIdentity(tx, userId, (before) => signedIdentity(before, compared, verifier));
    signatures.add(tx, { userId, name, object: signed });
    return "signed";
  }

  /**
   * Signs another device of the own user, whose Ed25519 key was compared.
   *
   * @throws {ValueError} If it is not the own user's, not known, or has another key than was compared.
   */
  async signDevice(tx: Transaction, compared: ComparedDevice): Promise<SigningOutcome> {
    const { context: { own }, devices, ownIdentity, signatures } = this.#options;
    const { userId, deviceId: name } = compared;
    if (userId !== own.userId || name === own.deviceId) {
      throw new ValueError(
        `Cannot sign device ${JSON.stringify(name)} of ${JSON.stringify(userId)}: it is ` +
          `${name === own.deviceId ? "this device, which ensureVerified() signs" : "not the own user's"}`,
      );
    }
    if (ownIdentity.known?.phase !== "published") return "no-key";
    const device = await devices.setSigned(tx, compared);
    const object = await ownIdentity.signWith(tx, "selfSigning", deviceObject(userId, device));
    if (object === undefined) return "no-key";
    signatures.add(tx, { userId, name, object });
    return "signed";
  }
}

/** The keys of a device, as it has signed them itself. */
function deviceObject(
  userId: UserID,
  { deviceId, algorithms, curve25519, ed25519, dehydrated }: StoredDevice,
): JsonObject {
  return {
    user_id: userId,
    device_id: deviceId,
    algorithms: [...algorithms],
    keys: { [`curve25519:${deviceId}`]: curve25519, [`ed25519:${deviceId}`]: ed25519 },
    ...(dehydrated && { dehydrated }),
  };
}

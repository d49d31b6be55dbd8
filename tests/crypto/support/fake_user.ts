/** Users with devices and cross-signing keys, as a server shows them. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { signableJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import type { JsonObject, UserID } from "@greenroom/matrix/types";
import type { IdentitySeeds } from "../../../src/crypto/identity/identity.ts";

const vodozemac = await Vodozemac.create();

/** The public and the secret half of a signing key. */
export interface SigningKey {
  readonly publicKey: string;
  readonly secret: Uint8Array;
}

/** A device that exists only in tests. */
export interface FakeDevice {
  readonly deviceId: string;
  readonly curve25519: string;
  readonly signing: SigningKey;
}

/** A new signing key. */
export function signingKey(): SigningKey {
  using key = vodozemac.keys.createEd25519();
  return { publicKey: key.publicKey, secret: key.toBytes() };
}

/** Signs an object. */
export function sign(
  object: JsonObject,
  { userId, keyId, key }: { userId: string; keyId: string; key: SigningKey },
): JsonObject {
  using secret = vodozemac.keys.importEd25519(key.secret);
  return withSignature(object, { userId, keyId, signature: secret.sign(signableJson(object)) });
}

/** A device with new keys. */
export function fakeDevice(deviceId: string): FakeDevice {
  using key = vodozemac.keys.createCurve25519();
  return { deviceId, curve25519: key.publicKey, signing: signingKey() };
}

/** A user whom the server can be made to show. */
export class FakeUser {
  readonly userId: UserID;
  readonly devices: FakeDevice[];
  master: SigningKey | undefined;
  selfSigning: SigningKey | undefined;
  userSigning: SigningKey | undefined;
  /** Whose user-signing key signs the master key. */
  verifiedBy: FakeUser | undefined;
  /** The devices that the self-signing key does not sign. */
  readonly unsigned = new Set<string>();

  /** A user with devices, without cross-signing keys. */
  constructor(userId: UserID, ...deviceIds: string[]) {
    this.userId = userId;
    this.devices = deviceIds.map(fakeDevice);
  }

  /** Gives the user new cross-signing keys. */
  crossSign(): this {
    this.master = signingKey();
    this.selfSigning = signingKey();
    this.userSigning = signingKey();
    return this;
  }

  /** The private keys. */
  get seeds(): IdentitySeeds {
    const seed = (key: SigningKey | undefined) => (key ?? signingKey()).secret.slice();
    return {
      master: seed(this.master),
      selfSigning: seed(this.selfSigning),
      userSigning: seed(this.userSigning),
    };
  }

  /** A device by its ID. */
  device(deviceId: string): FakeDevice {
    const found = this.devices.find((device) => device.deviceId === deviceId);
    if (found === undefined) throw new RangeError(`No device ${deviceId}`);
    return found;
  }

  /** Takes a device away, or puts another in its place. */
  replace(deviceId: string, ...others: FakeDevice[]): void {
    this.devices.splice(this.devices.indexOf(this.device(deviceId)), 1, ...others);
  }

  /** The keys of a device, signed; `members` go over what a device has. */
  deviceKeys(device: FakeDevice, members: JsonObject = {}): JsonObject {
    const { userId } = this;
    const { deviceId, curve25519, signing } = device;
    let keys: JsonObject = {
      user_id: userId,
      device_id: deviceId,
      algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
      keys: { [`curve25519:${deviceId}`]: curve25519, [`ed25519:${deviceId}`]: signing.publicKey },
      ...members,
    };
    keys = sign(keys, { userId, keyId: `ed25519:${deviceId}`, key: signing });
    if (this.selfSigning === undefined || this.unsigned.has(deviceId)) return keys;
    return sign(keys, { userId, keyId: `ed25519:${this.selfSigning.publicKey}`, key: this.selfSigning });
  }

  /** A cross-signing key of the user, signed by the master key unless it is that key. */
  crossSigningKey(key: SigningKey, usage: string, members: JsonObject = {}): JsonObject {
    const { userId, master } = this;
    const object: JsonObject = {
      user_id: userId,
      usage: [usage],
      keys: { [`ed25519:${key.publicKey}`]: key.publicKey },
      ...members,
    };
    const { userId: verifier, userSigning } = this.verifiedBy ?? {};
    if (usage === "master" && verifier !== undefined && userSigning !== undefined) {
      return sign(object, { userId: verifier, keyId: `ed25519:${userSigning.publicKey}`, key: userSigning });
    }
    if (usage === "master" || master === undefined) return object;
    return sign(object, { userId, keyId: `ed25519:${master.publicKey}`, key: master });
  }
}

/** The answer of a server that shows users as they are. */
export function queryResponse(...users: readonly FakeUser[]): {
  device_keys: Record<string, Record<string, JsonObject>>;
  master_keys: Record<string, JsonObject>;
  self_signing_keys: Record<string, JsonObject>;
  user_signing_keys: Record<string, JsonObject>;
  failures: JsonObject;
} {
  return {
    device_keys: Object.fromEntries(users.map((user) => [
      user.userId,
      Object.fromEntries(user.devices.map((device) => [device.deviceId, user.deviceKeys(device)])),
    ])),
    master_keys: Object.fromEntries(
      users.flatMap((user) =>
        user.master === undefined ? [] : [[user.userId, user.crossSigningKey(user.master, "master")]]
      ),
    ),
    self_signing_keys: Object.fromEntries(
      users.flatMap((user) =>
        user.selfSigning === undefined
          ? []
          : [[user.userId, user.crossSigningKey(user.selfSigning, "self_signing")]]
      ),
    ),
    user_signing_keys: Object.fromEntries(
      users.flatMap((user) =>
        user.userSigning === undefined
          ? []
          : [[user.userId, user.crossSigningKey(user.userSigning, "user_signing")]]
      ),
    ),
    failures: {},
  };
}

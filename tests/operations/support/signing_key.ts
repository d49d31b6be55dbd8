/**
 * Keys that sign JSON, as far as a homeserver looks at signatures.
 *
 * @module
 */

import type { CrossSigningKey, DeviceID, DeviceKeys, UserID } from "@greenroom/matrix/types";

const EXTRACTABLE = true;

type Signed<T> = T & { signatures: { [userId: string]: { [keyId: string]: string } } };

/** An Ed25519 key pair. */
export class SigningKey {
  /** The public key: unpadded base64. */
  readonly public: string;
  readonly #private: CryptoKey;

  private constructor(publicKey: string, privateKey: CryptoKey) {
    this.public = publicKey;
    this.#private = privateKey;
  }

  /** Makes a pair. */
  static async generate(): Promise<SigningKey> {
    const { publicKey, privateKey } = await crypto.subtle.generateKey("Ed25519", EXTRACTABLE, [
      "sign",
    ]) as CryptoKeyPair;
    const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
    return new SigningKey(raw.toBase64({ omitPadding: true }), privateKey);
  }

  /** An object with this key's signature, beside those that are there. */
  async sign<T extends object>(object: T, userId: UserID, keyName: string): Promise<Signed<T>> {
    const { signatures = {}, unsigned: _, ...content } = object as Signed<T> & { unsigned?: object };
    const bytes = new TextEncoder().encode(canonical(content));
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", this.#private, bytes));
    const own = { ...signatures[userId], [`ed25519:${keyName}`]: signature.toBase64({ omitPadding: true }) };
    return { ...object, signatures: { ...signatures, [userId]: own } };
  }
}

/** The keys of a device, signed by it. */
export async function deviceKeys(key: SigningKey, userId: UserID, deviceId: DeviceID): Promise<DeviceKeys> {
  const keys = {
    user_id: userId,
    device_id: deviceId,
    algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
    keys: { [`curve25519:${deviceId}`]: key.public, [`ed25519:${deviceId}`]: key.public },
  };
  return await key.sign(keys, userId, deviceId);
}

/** A cross-signing key, not signed yet. */
export function crossSigningKey(
  key: SigningKey,
  userId: UserID,
  usage: "master" | "self_signing" | "user_signing",
): CrossSigningKey {
  return { user_id: userId, usage: [usage], keys: { [`ed25519:${key.public}`]: key.public } };
}

/** Canonical JSON, of the plain objects that stand here. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(",")}}`;
}

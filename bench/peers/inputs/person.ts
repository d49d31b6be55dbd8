/**
 * A person with one device, whose keys are real and signed.
 *
 * @module
 */

import type { Account, Vodozemac } from "@greenroom/vodozemac-wasm";
import { signableJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import type { JsonObject } from "../../../src/types/json.ts";

/** A member of an encrypted room. */
export interface Person {
  readonly userId: string;
  readonly deviceId: string;
  /** What the device does cryptography with. */
  readonly account: Account;
  /** What `/keys/query` gives. */
  readonly deviceKeys: JsonObject;
  /** What `/keys/claim` gives, again and again. */
  readonly oneTimeKey: Record<string, JsonObject>;
}

/** Makes a user. */
export function makePerson({ olm }: Vodozemac, userId: string, deviceId: string): Person {
  const account = olm.createAccount();
  const keyId = `ed25519:${deviceId}`;
  const signed = (object: JsonObject) =>
    withSignature(object, { userId, keyId, signature: account.sign(signableJson(object)) });
  const deviceKeys = signed({
    user_id: userId,
    device_id: deviceId,
    algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
    keys: { [`curve25519:${deviceId}`]: account.curve25519Key, [keyId]: account.ed25519Key },
  });
  account.generateOneTimeKeys(1);
  const oneTimeKeys = account.oneTimeKeys().map(({ keyId: name, key }): [string, JsonObject] => [
    `signed_curve25519:${name}`,
    signed({ key }),
  ]);
  account.markKeysAsPublished();
  return { userId, deviceId, account, deviceKeys, oneTimeKey: Object.fromEntries(oneTimeKeys) };
}

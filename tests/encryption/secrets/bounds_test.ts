/** Bounds of what an account's data has a key tried with, each of which costs time. */

import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import {
  describe,
  encodeRecoveryKey,
  keyOfPassphrase,
  StorageKey,
} from "../../../src/crypto/secrets/secrets.ts";
import type { SecretStorageUnlock } from "@greenroom/matrix/types";
import { clientStage } from "../../client/support/stage.ts";
import { alter, DEFAULT_KEY, forget, keyType, passphraseKey, plant, problemOf } from "./scene.ts";

const PASSPHRASE = "open sesame";
const HASHING = { salt: "salt", iterations: 1_000 };
const BYTES = new Uint8Array(32).fill(1);

/** What a server has of a key, by an ID that anything can have. */
async function described(bytes: Uint8Array<ArrayBuffer>, hashing?: typeof HASHING): Promise<object> {
  using key = new StorageKey("any", bytes);
  return await describe(key, hashing);
}

/**
 * What is wrong when the key that is given is the last of so many;
 * `changed`: it was found, and is not the default.
 */
async function problemAmong(client: Client, count: number, by: SecretStorageUnlock): Promise<string> {
  const hashing = by.passphrase === undefined ? undefined : HASHING;
  const right = hashing === undefined ? BYTES : await keyOfPassphrase(PASSPHRASE, hashing);
  const other = await described(new Uint8Array(32).fill(2), hashing);
  for (let index = 1; index < count; index++) await plant(client, keyType(`other${index}`), other);
  await plant(client, keyType("right"), await described(right.slice(), hashing));
  await plant(client, DEFAULT_KEY, { key: "other1" });
  return await problemOf(() => client.secretStorage.changeKey(by, { onRecoveryKey: forget }));
}

Deno.test("A recovery key is looked for among 256 keys, and a passphrase among four, since each costs a hash", async () => {
  const ways = [
    [256, { recoveryKey: encodeRecoveryKey(BYTES) }],
    [4, { passphrase: PASSPHRASE }],
  ] as const;
  for (const [most, by] of ways) {
    for (const [count, problem] of [[most, "changed"], [most + 1, "wrong-key"]] as const) {
      await using here = clientStage();
      assertEquals(await problemAmong(here.client("alice"), count, by), problem, `${count}`);
    }
  }
});

Deno.test("A passphrase opens the default key, however many keys the server shows before it", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const other = await described(new Uint8Array(32).fill(2), HASHING);
  for (let index = 0; index < 5; index++) await plant(client, keyType(`other${index}`), other);
  await passphraseKey(client, PASSPHRASE);
  const { keyId } = await client.secretStorage.changeKey({ passphrase: PASSPHRASE }, {
    onRecoveryKey: forget,
  });
  assertEquals((await client.secretStorage.info()).keyId, keyId);
});

Deno.test("A key without a check value is proven by one of 16 secrets", async () => {
  for (const damaged of [15, 16]) {
    await using here = clientStage();
    const client = here.client("alice");
    const { keyId, recoveryKey } = await client.secretStorage.create({ onRecoveryKey: forget });
    const secret = { encrypted: { [keyId]: { iv: "", ciphertext: "", mac: "" } } };
    for (let index = 0; index < damaged; index++) await plant(client, `com.example.damaged${index}`, secret);
    using storage = await client.secretStorage.open({ recoveryKey });
    await storage.set("com.example.token", "hunter2");
    await alter(client, keyType(keyId), { iv: undefined, mac: undefined });
    const opening = () => client.secretStorage.open({ recoveryKey });
    if (damaged === 16) assertEquals(await problemOf(opening), "wrong-key");
    else (await opening())[Symbol.dispose]();
  }
});

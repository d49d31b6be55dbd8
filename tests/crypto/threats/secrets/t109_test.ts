/**
 * A server changes the description of a key, so that what is stored next is encrypted with a key that
 * is easy to find, or that nobody has.
 *
 * The specification lets a client take any key whose description has no check value. So a server
 * could leave that out and lower the number of iterations: what the client then stores would be
 * encrypted with a key that was made from the passphrase in no time, and the server could try
 * passphrases as fast. Or a mistyped recovery key would lock away what is stored.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { SecretStorageError } from "@greenroom/matrix/errors";
import {
  alter,
  forget,
  kept,
  keyType,
  passphraseKey,
  plant,
  problemOf,
} from "../../../encryption/secrets/scene.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { decodeRecoveryKey, describe, StorageKey } from "../../../../src/crypto/secrets/secrets.ts";

const NAME = "com.example.token";
const UNCHECKED = { iv: undefined, mac: undefined };

Deno.test("T109: a key without a check value is taken only if it decrypts a secret", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { secretStorage } = client;
  const right = await secretStorage.create({ onRecoveryKey: forget });
  const wrong = await here.client("bob").secretStorage.create({ onRecoveryKey: forget });
  await alter(client, keyType(right.keyId), UNCHECKED);
  for (const key of [right, wrong]) {
    assertEquals(await problemOf(() => secretStorage.open(key)), "unverifiable");
  }

  await alter(client, keyType(right.keyId), await describedAgain(right.recoveryKey));
  {
    using storage = await secretStorage.open(right);
    await storage.set(NAME, "hunter2");
  }
  await alter(client, keyType(right.keyId), UNCHECKED);
  assertEquals(await problemOf(() => secretStorage.open(wrong)), "wrong-key");
  using storage = await secretStorage.open(right);
  assertEquals(await storage.get(NAME), "hunter2");
});

Deno.test("T109: a passphrase that the server wants hashed otherwise opens nothing", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { secretStorage } = client;
  await passphraseKey(client, "correct horse");
  {
    using storage = await secretStorage.open({ passphrase: "correct horse" });
    await storage.set(NAME, "hunter2");
  }
  const weaker = { algorithm: "m.pbkdf2", salt: "salt", iterations: 1_001 };
  for (const change of [{ passphrase: weaker }, { passphrase: weaker, ...UNCHECKED }]) {
    await alter(client, keyType("quick"), change);
    const error = await assertRejects(
      () => secretStorage.open({ passphrase: "correct horse" }),
      SecretStorageError,
      "or the server changed how the key is made from it",
    );
    assertEquals(error.problem, "wrong-key");
  }
  const secret = await kept(client, NAME);
  await plant(client, NAME, {});
  assertEquals(await problemOf(() => secretStorage.open({ passphrase: "correct horse" })), "unverifiable");
  await plant(client, NAME, secret);
  const change = () => secretStorage.changeKey({ passphrase: "correct horse" }, { onRecoveryKey: forget });
  assertEquals(await problemOf(change), "wrong-key");
});

Deno.test("T109: no more than some secrets are tried, of however many", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const key = await client.secretStorage.create({ onRecoveryKey: forget });
  await alter(client, keyType(key.keyId), UNCHECKED);
  const planted = { iv: "A".repeat(22), ciphertext: "AAAA", mac: "A".repeat(43) };
  for (let index = 0; index < 40; index++) {
    await plant(client, `com.example.planted${index}`, { encrypted: { [key.keyId]: planted } });
  }
  const { verify } = crypto.subtle;
  let compared = 0;
  crypto.subtle.verify = (...args) => {
    compared++;
    return verify.apply(crypto.subtle, args);
  };
  try {
    assertEquals(await problemOf(() => client.secretStorage.open(key)), "wrong-key");
  } finally {
    crypto.subtle.verify = verify;
  }
  assertEquals(compared, 16);
});

/** A check value of a key. */
async function describedAgain(recoveryKey: string): Promise<object> {
  using key = new StorageKey("id", decodeRecoveryKey(recoveryKey));
  return await describe(key, undefined);
}

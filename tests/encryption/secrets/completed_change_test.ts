import { assertEquals } from "@std/assert";
import { clientStage } from "../../client/support/stage.ts";
import {
  alter,
  filled,
  forget,
  kept,
  keysOf,
  keyType,
  opened,
  passphraseKey,
  plant,
  SECRETS,
} from "./scene.ts";

Deno.test("SecretStorage.changeKey() is complete when it is called again with the key that was handed out", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const fresh = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  const onRecoveryKey = () => Promise.reject(new RangeError("not again"));
  const again = await client.secretStorage.changeKey(old, { recoveryKey: fresh.recoveryKey, onRecoveryKey });
  assertEquals(again, fresh);
  assertEquals(await opened(client, fresh.recoveryKey), SECRETS);
});

Deno.test("SecretStorage.changeKey() with a passphrase is completed with its key, or begun again with another", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const options = { passphrase: "new words", onRecoveryKey: forget };
  const fresh = await client.secretStorage.changeKey(old, options);
  assertEquals(
    await client.secretStorage.changeKey(old, { ...options, recoveryKey: fresh.recoveryKey }),
    fresh,
  );
  // No description of this key is published.
  const unpublished = await here.client("bob").secretStorage.create({ onRecoveryKey: forget });
  const handed: string[] = [];
  const last = await client.secretStorage.changeKey(fresh, {
    passphrase: "last words",
    recoveryKey: unpublished.recoveryKey,
    onRecoveryKey: (key) => void handed.push(key),
  });
  assertEquals(handed, [last.recoveryKey]);
  using storage = await client.secretStorage.open({ passphrase: "last words" });
  assertEquals(await storage.names(), Object.keys(SECRETS).sort());
});

Deno.test("SecretStorage.changeKey() keeps what is newer for the new key when it is completed", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const before = await kept(client, "com.example.token");
  const fresh = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  using storage = await client.secretStorage.open(fresh);
  await storage.set("com.example.token", "newest");
  // As if the call had been cut off before the old ciphertext went.
  const after = await kept(client, "com.example.token");
  await alter(client, "com.example.token", {
    encrypted: { ...before.encrypted as object, ...after.encrypted as object },
  });
  await client.secretStorage.changeKey(old, { recoveryKey: fresh.recoveryKey, onRecoveryKey: forget });
  assertEquals(await storage.get("com.example.token"), "newest");
  assertEquals(await keysOf(client, "com.example.token"), [fresh.keyId]);
});

Deno.test("SecretStorage.changeKey() is completed though what is there for one of the keys is damaged", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const before = await Promise.all(Object.keys(SECRETS).map((name) => kept(client, name)));
  const fresh = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  const damaged = { iv: "AAAA", ciphertext: "AAAA", mac: "AAAA" };
  // As if the call had been cut off before the old ciphertexts went.
  const ofNew = (await kept(client, "m.megolm_backup.v1")).encrypted as object;
  await plant(client, "com.example.token", {
    encrypted: { ...before[0]?.encrypted as object, [fresh.keyId]: damaged },
  });
  await plant(client, "m.megolm_backup.v1", { encrypted: { ...ofNew, [old.keyId]: damaged } });
  await client.secretStorage.changeKey(old, { ...fresh, onRecoveryKey: forget });
  assertEquals(await opened(client, fresh.recoveryKey), SECRETS);
  for (const name of Object.keys(SECRETS)) assertEquals(await keysOf(client, name), [fresh.keyId]);
});

Deno.test("SecretStorage.changeKey() finds the old key whichever other keys are described", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const bob = here.client("bob");
  const valid = await kept(bob, keyType((await bob.secretStorage.create({ onRecoveryKey: forget })).keyId));
  for (let index = 0; index < 20; index++) {
    await plant(client, keyType(`planted${index}`), {
      ...valid,
      ...index % 2 === 0 && { algorithm: "rot13" },
    });
  }
  const old = await filled(client);
  const fresh = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  await plant(client, keyType("bare"), { algorithm: "m.secret_storage.v1.aes-hmac-sha2" });
  assertEquals(await client.secretStorage.changeKey(old, { ...fresh, onRecoveryKey: forget }), fresh);
});

Deno.test("SecretStorage.changeKey() finds the old passphrase after the default key moved", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const bob = here.client("bob");
  const valid = await kept(bob, keyType((await bob.secretStorage.create({ onRecoveryKey: forget })).keyId));
  for (let index = 0; index < 20; index++) await plant(client, keyType(`planted${index}`), valid);
  await passphraseKey(client, "old words");
  const by = { passphrase: "old words" };
  const fresh = await client.secretStorage.changeKey(by, { onRecoveryKey: forget });
  assertEquals(await client.secretStorage.changeKey(by, { ...fresh, onRecoveryKey: forget }), fresh);
});

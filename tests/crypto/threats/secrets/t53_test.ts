/**
 * A stored secret that the server shows under another name,
 * and a passphrase that it wants hashed without end.
 */

import { assertEquals } from "@std/assert";
import {
  alter,
  DEFAULT_KEY,
  forget,
  kept,
  keyType,
  passphraseKey,
  plant,
  problemOf,
} from "../../../encryption/secrets/scene.ts";
import { clientStage } from "../../../client/support/stage.ts";

Deno.test("T53: a secret under another name, of another key, of an older one or changed is not read", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  using storage = await client.secretStorage.open(
    await client.secretStorage.create({ onRecoveryKey: forget }),
  );
  await storage.set("m.cross_signing.master", "master");
  await storage.set("m.cross_signing.self_signing", "self-signing");
  await plant(client, "m.cross_signing.master", await kept(client, "m.cross_signing.self_signing"));
  assertEquals(await problemOf(() => storage.get("m.cross_signing.master")), "damaged");
  assertEquals(await storage.get("m.cross_signing.self_signing"), "self-signing");

  const { encrypted: own } = await kept(client, "m.cross_signing.self_signing") as {
    encrypted: Record<string, { ciphertext: string }>;
  };
  const [[keyId, sealed] = ["", { ciphertext: "" }]] = Object.entries(own);
  const bytes = Uint8Array.fromBase64(sealed.ciphertext);
  // In counter mode, this would change one letter.
  const ciphertext = bytes.with(0, (bytes[0] ?? 0) ^ 1).toBase64();
  await plant(client, "m.cross_signing.self_signing", { encrypted: { [keyId]: { ...sealed, ciphertext } } });
  assertEquals(await problemOf(() => storage.get("m.cross_signing.self_signing")), "damaged");

  const bob = here.client("bob");
  using other = await bob.secretStorage.open(await bob.secretStorage.create({ onRecoveryKey: forget }));
  await other.set("m.megolm_backup.v1", "backup");
  const { encrypted } = await kept(bob, "m.megolm_backup.v1") as { encrypted: Record<string, object> };
  await plant(client, "m.megolm_backup.v1", { encrypted: { [storage.keyId]: encrypted[other.keyId] } });
  assertEquals(await problemOf(() => storage.get("m.megolm_backup.v1")), "damaged");
});

Deno.test("T53: a passphrase is hashed neither without end nor next to never", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  await passphraseKey(client, "correct horse");
  for (const iterations of [2 ** 31, 2 ** 53, 10_000_001, 999, 1, 0, -1]) {
    await alter(client, keyType("quick"), {
      passphrase: { algorithm: "m.pbkdf2", salt: "salt", iterations },
    });
    assertEquals(
      await problemOf(() => client.secretStorage.open({ passphrase: "correct horse" })),
      "unusable",
    );
  }
});

Deno.test("T53: many keys with slow passphrases keep no call busy for long", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  await passphraseKey(client, "correct horse");
  const { algorithm, iv, mac, ...rest } = await kept(client, keyType("quick"));
  const passphrase = { algorithm: "m.pbkdf2", salt: "other", iterations: 1_000 };
  for (let index = 0; index < 50; index++) {
    await plant(client, keyType(`planted${index}`), { algorithm, iv, mac, passphrase });
  }
  // The default key comes first, wherever the server lists it.
  await plant(client, keyType("quick"), { algorithm, iv, mac, ...rest });
  await client.secretStorage.changeKey({ passphrase: "correct horse" }, { onRecoveryKey: forget });
  await plant(client, DEFAULT_KEY, { key: "quick" });
  let hashed = 0;
  const { deriveBits } = crypto.subtle;
  crypto.subtle.deriveBits = (function (this: SubtleCrypto, ...args: Parameters<typeof deriveBits>) {
    if ((args[0] as { name: string }).name === "PBKDF2") hashed++;
    return deriveBits.apply(this, args);
  }) as typeof deriveBits;
  try {
    const change = () => client.secretStorage.changeKey({ passphrase: "wrong" }, { onRecoveryKey: forget });
    assertEquals(await problemOf(change), "wrong-key");
  } finally {
    crypto.subtle.deriveBits = deriveBits;
  }
  assertEquals(hashed, 4);
});

/** Secrets of the secret storage in logs, errors and objects that can be inspected. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { alter, kept, keyType, passphraseKey, plant } from "../../../encryption/secrets/scene.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { decodeRecoveryKey, StorageKey } from "../../../../src/crypto/secrets/secrets.ts";
import { macOf } from "../../support/storage_mac.ts";
import { Planted, seen } from "../planted.ts";

const NAME = "com.example.token";

Deno.test("T57: no recovery key, passphrase or stored secret is in any log, error or object that can be looked at", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { secretStorage } = client;
  const planted = new Planted();
  const told: unknown[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    await work().then((value) => told.push(value), (error) => told.push(error));
  };
  const keep = (recoveryKey: string) => {
    planted.add("recovery key", recoveryKey);
    planted.add("recovery key, unspaced", recoveryKey.replaceAll(" ", ""));
    planted.add("key", decodeRecoveryKey(recoveryKey));
  };
  const passphrase = planted.text("passphrase");
  const secret = planted.text("secret");
  const old = await secretStorage.create({ onRecoveryKey: keep });
  using storage = await secretStorage.open(old);
  told.push(client, secretStorage, storage, await secretStorage.info());
  await storage.set(NAME, secret);

  const { recoveryKey } = old;
  const mistyped = [recoveryKey.slice(1), `${recoveryKey}x`, `0${recoveryKey.slice(1)}`];
  mistyped.push(`${recoveryKey.slice(0, -1)}${recoveryKey.endsWith("z") ? "y" : "z"}`);
  for (const text of mistyped) await attempt(() => secretStorage.open({ recoveryKey: text }));
  for (const status of [400, 403, 500]) {
    using _fault = here.homeserver.faults.add({ kind: "status", status, times: 100 });
    await attempt(() => client.secretStorage.changeKey(old, { onRecoveryKey: keep, retry: false }));
    await attempt(() => storage.set(NAME, secret, { retry: false }));
    await attempt(() => storage.get(NAME, { retry: false }));
  }
  const content = await kept(client, NAME);
  await plant(client, NAME, { encrypted: { [old.keyId]: { iv: "", ciphertext: "", mac: "" } } });
  await attempt(() => storage.get(NAME));
  await attempt(() => secretStorage.changeKey(old, { onRecoveryKey: keep }));
  await plant(client, NAME, content);
  await alter(client, keyType(old.keyId), { mac: "AAAA" });
  await attempt(() => secretStorage.open(old));
  await attempt(() => secretStorage.create({ ...old, onRecoveryKey: keep }));
  await passphraseKey(client, "another one");
  await attempt(() => secretStorage.open({ passphrase }));
  await attempt(() => secretStorage.open(old));
  await attempt(() => storage.set(NAME, secret + "x".repeat(70_000)));
  storage[Symbol.dispose]();
  await attempt(() => storage.set(NAME, secret));
  told.push(client, storage);

  const errors = told.filter((value) => value instanceof Error);
  assert(errors.length >= 18, `only ${errors.length} errors`);
  assertEquals(planted.leaksIn([...told, ...here.log.lines].map(seen).join("\n")), []);
});

Deno.test("T57: an open key of the secret storage shows nothing of itself", async () => {
  const planted = new Planted();
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  planted.add("key", bytes);
  using key = new StorageKey("id", bytes.slice());
  await key.encrypt(NAME, "secret");
  assertEquals(planted.leaksIn(seen(key)), []);
});

Deno.test("T57: what is given or stored in place of a text is refused, and no error shows anything of it", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const planted = new Planted();
  const opening = await client.secretStorage.create({ onRecoveryKey: () => {} });
  const key = decodeRecoveryKey(opening.recoveryKey);
  planted.add("key", key);
  planted.add("recovery key", opening.recoveryKey);
  const given = [key, [...key], [opening.recoveryKey], { recoveryKey: opening.recoveryKey }];
  const told: Error[] = [];
  for (const recoveryKey of given as never[]) {
    told.push(await assertRejects(() => client.secretStorage.open({ recoveryKey }), SecretStorageError));
  }
  using storage = await client.secretStorage.open(opening);
  // Which no text begins with.
  const secret = Uint8Array.of(0xff, ...crypto.getRandomValues(new Uint8Array(32)));
  planted.add("secret", secret);
  using storageKey = new StorageKey(opening.keyId, key.slice());
  const encrypted = await storageKey.encrypt(NAME, "\u0000".repeat(secret.length));
  const stream = Uint8Array.fromBase64(encrypted.ciphertext);
  const bytes = stream.map((byte, index) => byte ^ (secret[index] ?? 0));
  const mac = (await macOf(key, NAME, bytes)).toBase64();
  const content = { ...encrypted, ciphertext: bytes.toBase64(), mac };
  await plant(client, NAME, { encrypted: { [opening.keyId]: content } });
  told.push(await assertRejects(() => storage.get(NAME), SecretStorageError));
  assertEquals(planted.leaksIn([...told, ...here.log.lines].map(seen).join("\n")), []);
});

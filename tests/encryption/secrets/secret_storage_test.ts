import { assert, assertEquals, assertFalse, assertNotEquals, assertRejects } from "@std/assert";
import { ForbiddenError, ValueError } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { alter, DEFAULT_KEY, forget, kept, keyType, passphraseKey, plant, problemOf } from "./scene.ts";

const NAME = "com.example.token";

/** How often account data was written so far. */
function writes({ homeserver }: ClientStage): number {
  return homeserver.requests.filter("PUT", /account_data/).length;
}

Deno.test("SecretStorage.create() makes a storage that its recovery key opens", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const handed: string[] = [];
  const { keyId, recoveryKey } = await secretStorage.create({
    onRecoveryKey: (key) => void handed.push(key),
  });
  assertEquals(handed, [recoveryKey]);
  using storage = await secretStorage.open({ recoveryKey });
  assertEquals(storage.keyId, keyId);
  assertEquals(await storage.get(NAME), undefined);
  await storage.set(NAME, "hunter2");
  await storage.set("com.example.other/ä", "");
  assertEquals([await storage.get(NAME), await storage.get("com.example.other/ä")], ["hunter2", ""]);
  assertEquals(await storage.names(), ["com.example.other/ä", NAME]);
  await storage.set(NAME, "hunter3");
  assertEquals(await storage.get(NAME), "hunter3");
  await storage.delete(NAME);
  assertEquals(await storage.get(NAME), undefined);
  assertEquals(await storage.names(), ["com.example.other/ä"]);
});

Deno.test("SecretStorage.create() with a passphrase makes a storage that either opens", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const { recoveryKey } = await secretStorage.create({ passphrase: "correct horse", onRecoveryKey: forget });
  using one = await secretStorage.open({ passphrase: "correct horse" });
  using other = await secretStorage.open({ recoveryKey });
  await one.set(NAME, "hunter2");
  assertEquals(await other.get(NAME), "hunter2");
  assert((await secretStorage.info()).hasPassphrase);
});

Deno.test("SecretStorage.create() refuses if there is a default key, and changes nothing", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { keyId } = await client.secretStorage.create({ onRecoveryKey: forget });
  const handed: string[] = [];
  const onRecoveryKey = (key: string) => void handed.push(key);
  const before = writes(here);
  assertEquals(await problemOf(() => client.secretStorage.create({ onRecoveryKey })), "exists");
  assertEquals(writes(here), before);
  assertEquals([handed, await kept(client, DEFAULT_KEY)], [[], { key: keyId }]);
});

Deno.test("SecretStorage.create() publishes nothing if the recovery key could not be kept", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const onRecoveryKey = () => Promise.reject(new RangeError("the disk is full"));
  await assertRejects(() => secretStorage.create({ onRecoveryKey }), RangeError, "the disk is full");
  assertEquals(writes(here), 0);
});

Deno.test("SecretStorage.create() waits until the recovery key was kept", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const isKept = Promise.withResolvers<void>();
  const creating = secretStorage.create({ onRecoveryKey: () => isKept.promise });
  await here.settle();
  assertEquals(writes(here), 0);
  isKept.resolve();
  await creating;
  assertEquals((await secretStorage.info()).problem, undefined);
});

Deno.test("SecretStorage.create() does not replace a key that another client made meanwhile", async () => {
  await using here = clientStage();
  const [one, other] = [here.client("alice"), here.client("alice")];
  const onRecoveryKey = async () => {
    await other.secretStorage.create({ onRecoveryKey: forget });
  };
  assertEquals(await problemOf(() => one.secretStorage.create({ onRecoveryKey })), "changed");
  assertEquals((await other.secretStorage.info()).problem, undefined);
});

Deno.test("SecretStorage.reset() makes a new default key, and leaves the old secrets where they are", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { secretStorage } = client;
  const old = await secretStorage.create({ onRecoveryKey: forget });
  using before = await secretStorage.open(old);
  await before.set(NAME, "hunter2");
  const fresh = await secretStorage.reset({ onRecoveryKey: forget });
  assertNotEquals(fresh.keyId, old.keyId);
  using after = await secretStorage.open(fresh);
  assertEquals(await problemOf(() => after.get(NAME)), "other-keys");
  assertEquals(await after.names(), []);
  await after.set(NAME, "hunter3");
  assertEquals([await after.get(NAME), await before.get(NAME)], ["hunter3", "hunter2"]);
});

Deno.test("SecretStorage.reset() mends a default key that is none", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  await plant(client, DEFAULT_KEY, { key: 5 });
  assertEquals(await problemOf(() => client.secretStorage.create({ onRecoveryKey: forget })), "unusable");
  const { recoveryKey } = await client.secretStorage.reset({ onRecoveryKey: forget });
  using _storage = await client.secretStorage.open({ recoveryKey });
});

Deno.test("SecretStorage refuses options that can't be used, before it asks the server", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const bad = [
    () => secretStorage.create({} as never),
    () => secretStorage.create({ onRecoveryKey: forget, passphrase: "" }),
    () => secretStorage.open({} as never),
    () => secretStorage.open(undefined as never),
    () => secretStorage.open({ recoveryKey: "x", passphrase: "y" } as never),
    () => secretStorage.changeKey({} as never, { onRecoveryKey: forget }),
    () => secretStorage.changeKey({ passphrase: "x" }, {} as never),
    () => secretStorage.reset({} as never),
  ];
  for (const work of bad) await assertRejects(work, ValueError);
  assertEquals(await problemOf(() => secretStorage.open({ recoveryKey: "EsTp" })), "mistyped");
  const mistyped = { onRecoveryKey: forget, recoveryKey: "EsTp" };
  assertEquals(await problemOf(() => secretStorage.create(mistyped)), "mistyped");
  assertEquals(here.homeserver.requests.length, 0);
});

Deno.test("SecretStorage.open() says which key is the wrong one", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  assertEquals(await problemOf(() => secretStorage.open({ passphrase: "x" })), "absent");
  await secretStorage.create({ onRecoveryKey: forget });
  assertEquals(await problemOf(() => secretStorage.open({ passphrase: "x" })), "no-passphrase");
  const other = await here.client("bob").secretStorage.create({ onRecoveryKey: forget });
  const another = await assertRejects(
    () => secretStorage.open(other),
    SecretStorageError,
    "the recovery key is not",
  );
  assertEquals(another.problem, "wrong-key");
  await passphraseKey(here.client("alice"), "correct horse");
  const wrong = await assertRejects(
    () => secretStorage.open({ passphrase: "correct house" }),
    SecretStorageError,
    "the passphrase is not that of its key quick",
  );
  assertEquals(wrong.problem, "wrong-key");
});

Deno.test("SecretStorage.info() returns what there is, and never fails on odd data", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { secretStorage } = client;
  const none = { keyId: undefined, name: undefined, hasPassphrase: false, isCheckable: false };
  assertEquals(await secretStorage.info(), { ...none, problem: "absent" });
  const { keyId } = await secretStorage.create({ onRecoveryKey: forget });
  const fine = { ...none, keyId, isCheckable: true, problem: undefined };
  assertEquals(await secretStorage.info(), fine);
  await alter(client, keyType(keyId), {
    name: "Mine",
    passphrase: { algorithm: "m.pbkdf2", salt: "", iterations: 1e4 },
  });
  assertEquals(await secretStorage.info(), { ...fine, name: "Mine", hasPassphrase: true });
  await alter(client, keyType(keyId), { passphrase: { algorithm: "m.pbkdf2", salt: "", iterations: 1 } });
  assertFalse((await secretStorage.info()).hasPassphrase);
  await alter(client, keyType(keyId), { iv: undefined });
  assertFalse((await secretStorage.info()).isCheckable);
  for (const content of [{ algorithm: "rot13" }, { algorithm: 5 }, { encrypted: [] }]) {
    await plant(client, keyType(keyId), content);
    assertEquals(await secretStorage.info(), { ...none, keyId, problem: "unusable" });
  }
  await plant(client, keyType(keyId), {});
  assertEquals(await secretStorage.info(), { ...none, keyId, problem: "absent" });
  for (const key of [5, "", null, [], "\ud800", "k".repeat(256), { key: "id" }]) {
    await plant(client, DEFAULT_KEY, { key });
    assertEquals(await secretStorage.info(), { ...none, problem: "unusable" });
  }
  await plant(client, DEFAULT_KEY, {});
  assertEquals(await secretStorage.info(), { ...none, problem: "absent" });
  const long = "k".repeat(255);
  await plant(client, DEFAULT_KEY, { key: long });
  assertEquals(await secretStorage.info(), { ...none, keyId: long, problem: "absent" });
});

Deno.test("SecretStorage.info() and open() fail with what the server says", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const body = { errcode: "M_FORBIDDEN", error: "no" };
  using _fault = here.homeserver.faults.add({
    kind: "status",
    status: 403,
    body,
    match: { path: "/account_data/" },
  });
  await assertRejects(() => secretStorage.info(), ForbiddenError);
});

Deno.test("SecretStorage needs neither encryption nor a user ID", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  assertEquals([client.crypto, client.mxid], [undefined, ""]);
  assertEquals((await client.secretStorage.info()).problem, "absent");
});

Deno.test("SecretStorage.create() takes a recovery key that its owner has already, and does not hand it out", async () => {
  await using here = clientStage();
  const { recoveryKey } = await here.client("bob").secretStorage.create({ onRecoveryKey: forget });
  const onRecoveryKey = () => Promise.reject(new RangeError("not again"));
  const { secretStorage } = here.client("alice");
  assertEquals((await secretStorage.create({ recoveryKey, onRecoveryKey })).recoveryKey, recoveryKey);
  using _storage = await secretStorage.open({ recoveryKey });
});

Deno.test("SecretStorage.create() finds the key of a call that was cut off only where keys are described", async () => {
  await using here = clientStage();
  const bob = here.client("bob");
  const { keyId, recoveryKey } = await bob.secretStorage.create({ onRecoveryKey: forget });
  const description = await kept(bob, keyType(keyId));
  const client = here.client("alice");
  await plant(client, "m.secret_storage.kex.misplaced", description);
  await plant(client, keyType(""), description);
  const made = await client.secretStorage.create({ recoveryKey, onRecoveryKey: forget });
  assertFalse([keyId, "misplaced", ""].includes(made.keyId));
  using _storage = await client.secretStorage.open({ recoveryKey });
});

Deno.test("SecretStorage.reset() with a passphrase takes no recovery key that was not made from it", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { recoveryKey } = await client.secretStorage.create({ onRecoveryKey: forget });
  await passphraseKey(client, "other words", "other");
  for (const passphrase of ["new words", "other words"]) {
    const handed: string[] = [];
    const onRecoveryKey = (key: string) => void handed.push(key);
    const fresh = await client.secretStorage.reset({ passphrase, recoveryKey, onRecoveryKey });
    assertEquals(handed, [fresh.recoveryKey]);
    assertNotEquals(fresh.recoveryKey, recoveryKey);
    using _storage = await client.secretStorage.open({ passphrase });
  }
});

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { clientStage } from "../../client/support/stage.ts";
import {
  filled,
  forget,
  interruptedBy,
  kept,
  keysOf,
  keyType,
  opened,
  passphraseKey,
  plant,
  problemOf,
  SECRETS,
} from "./scene.ts";

Deno.test("SecretStorage.changeKey() has the new key open all secrets, and the old one none", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  await plant(client, "com.example.foreign", { encrypted: { foreign: { iv: "", ciphertext: "", mac: "" } } });
  const handed: string[] = [];
  const fresh = await client.secretStorage.changeKey(old, { onRecoveryKey: (key) => void handed.push(key) });
  assertEquals(handed, [fresh.recoveryKey]);
  assertNotEquals(fresh.keyId, old.keyId);
  assertEquals(await opened(client, fresh.recoveryKey), SECRETS);
  assertEquals(await problemOf(() => client.secretStorage.open(old)), "wrong-key");
  for (const name of Object.keys(SECRETS)) assertEquals(await keysOf(client, name), [fresh.keyId]);
  assertEquals(await keysOf(client, "com.example.foreign"), ["foreign"]);
});

Deno.test("SecretStorage.changeKey() leaves alone what lies deeper than any content does", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`);
  await plant(client, "com.example.deep", { ...await kept(client, "com.example.token"), deep });
  const fresh = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  assertEquals(await opened(client, fresh.recoveryKey), SECRETS);
  assertEquals(await keysOf(client, "com.example.deep"), [old.keyId]);
});

Deno.test("SecretStorage.changeKey() keeps what there is for a third key", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const third = { iv: "a", ciphertext: "b", mac: "c" };
  const { encrypted } = await kept(client, "com.example.token");
  await plant(client, "com.example.token", { encrypted: { ...encrypted as object, third }, note: "kept" });
  const { keyId } = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  const after = await kept(client, "com.example.token") as {
    encrypted: Record<string, unknown>;
    note: string;
  };
  assertEquals([Object.keys(after.encrypted), after.encrypted.third, after.note], [
    ["third", keyId],
    third,
    "kept",
  ]);
});

Deno.test("SecretStorage.changeKey() goes from a passphrase to another", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  await passphraseKey(client, "old words");
  {
    using storage = await client.secretStorage.open({ passphrase: "old words" });
    await storage.set("com.example.token", "hunter2");
  }
  await client.secretStorage.changeKey({ passphrase: "old words" }, {
    passphrase: "new",
    onRecoveryKey: forget,
  });
  using storage = await client.secretStorage.open({ passphrase: "new" });
  assertEquals(await storage.get("com.example.token"), "hunter2");
});

Deno.test("SecretStorage.changeKey() refuses a wrong key, and changes nothing", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  assertEquals(
    await problemOf(() => client.secretStorage.changeKey({ passphrase: "x" }, { onRecoveryKey: forget })),
    "absent",
  );
  const old = await filled(client);
  const other = await here.client("bob").secretStorage.create({ onRecoveryKey: forget });
  await plant(client, keyType("last"), { algorithm: "rot13" });
  const handed: string[] = [];
  const onRecoveryKey = (key: string) => void handed.push(key);
  assertEquals(await problemOf(() => client.secretStorage.changeKey(other, { onRecoveryKey })), "wrong-key");
  const same = () => client.secretStorage.changeKey(old, { ...old, onRecoveryKey });
  await assertRejects(same, ValueError, "the new key is the old one");
  const former = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  const twice = () => client.secretStorage.changeKey(old, { onRecoveryKey });
  assertEquals(await problemOf(twice), "changed");
  assertEquals(handed, []);
  assertEquals(await opened(client, former.recoveryKey), SECRETS);
});

Deno.test("SecretStorage.changeKey() refuses if a secret is damaged, and changes nothing", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const old = await filled(client);
  const { encrypted } = await kept(client, "com.example.token") as { encrypted: Record<string, object> };
  const damaged = { ...encrypted[old.keyId], ciphertext: "AAAA" };
  await plant(client, "com.example.token", { encrypted: { [old.keyId]: damaged } });
  const handed: string[] = [];
  const error = await assertRejects(
    () => client.secretStorage.changeKey(old, { onRecoveryKey: (key) => void handed.push(key) }),
    SecretStorageError,
    "com.example.token",
  );
  assertEquals([error.problem, handed], ["damaged", []]);
  assertEquals((await client.secretStorage.info()).keyId, old.keyId);
  using storage = await client.secretStorage.open(old);
  await storage.set("com.example.token", "hunter3");
  const { recoveryKey } = await client.secretStorage.changeKey(old, { onRecoveryKey: forget });
  assertEquals(await opened(client, recoveryKey), { ...SECRETS, "com.example.token": "hunter3" });
});

Deno.test("SecretStorage.changeKey() brings what another client stores meanwhile", async () => {
  await using here = clientStage();
  const other = here.client("alice");
  const old = await filled(other);
  using storage = await other.secretStorage.open(old);
  const cases: [path: RegExp, name: string][] = [
    [/secret_storage\.key\./, "com.example.before"],
    [/com\.example\.token/, "m.megolm_backup.v1"],
    [/m\.megolm_backup\.v1/, "com.example.token"],
    [/m\.megolm_backup\.v1/, "com.example.while"],
    [/default_key/, "com.example.token"],
    [/default_key/, "com.example.late"],
  ];
  let key = old;
  for (const [path, name] of cases) {
    using storage = await other.secretStorage.open(key);
    const client = here.client("alice", {
      fetch: interruptedBy(here, path, () => storage.set(name, `new ${path}`)),
    });
    key = await client.secretStorage.changeKey(key, { onRecoveryKey: forget });
    assertEquals((await opened(client, key.recoveryKey))[name], `new ${path}`);
    assertEquals(await keysOf(client, name), [key.keyId]);
  }
  assertEquals(await problemOf(() => storage.set("com.example.token", "x")), "changed");
});

Deno.test("SecretStorage.changeKey() does not replace a key that another client made meanwhile", async () => {
  await using here = clientStage();
  const other = here.client("alice");
  const old = await filled(other);
  let theirs = old;
  const interruption = async () => {
    theirs = await other.secretStorage.reset({ onRecoveryKey: forget });
  };
  const client = here.client("alice", { fetch: interruptedBy(here, /com\.example\.token/, interruption) });
  assertEquals(
    await problemOf(() => client.secretStorage.changeKey(old, { onRecoveryKey: forget })),
    "changed",
  );
  assertEquals((await other.secretStorage.info()).keyId, theirs.keyId);
  for (const name of Object.keys(SECRETS)) assertEquals((await keysOf(other, name))[0], old.keyId);
});

Deno.test("SecretStorage.changeKey() ends with an error if other clients change secrets again and again", async () => {
  await using here = clientStage();
  const other = here.client("alice");
  const old = await filled(other);
  using storage = await other.secretStorage.open(old);
  let count = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await here.homeserver.fetch(request);
    if (request.method === "PUT" && /token/.test(request.url)) {
      await storage.set("com.example.token", `${++count}`);
    }
    return answer;
  };
  const client = here.client("alice", { fetch });
  const handed: string[] = [];
  const onRecoveryKey = (key: string) => void handed.push(key);
  assertEquals(await problemOf(() => client.secretStorage.changeKey(old, { onRecoveryKey })), "changed");
  assertEquals(count, 5);
  assertEquals(await opened(other, old.recoveryKey), { ...SECRETS, "com.example.token": `${count}` });
  const completed = await other.secretStorage.changeKey(old, { recoveryKey: handed[0], onRecoveryKey });
  assertEquals(await opened(other, completed.recoveryKey), { ...SECRETS, "com.example.token": `${count}` });
  assertEquals(handed, [completed.recoveryKey]);
});

Deno.test("SecretStorage.changeKey() goes on if another client deletes a secret meanwhile", async () => {
  await using here = clientStage();
  const other = here.client("alice");
  const old = await filled(other);
  using storage = await other.secretStorage.open(old);
  let isDeleted = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!isDeleted && /account_data\/com\.example\.token/.test(String(input))) {
      isDeleted = true;
      await storage.delete("com.example.token");
    }
    return await here.homeserver.fetch(input, init);
  };
  const { recoveryKey } = await here.client("alice", { fetch }).secretStorage.changeKey(old, {
    onRecoveryKey: forget,
  });
  assertEquals(Object.keys(await opened(other, recoveryKey)), ["m.megolm_backup.v1"]);
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { clientStage } from "../../client/support/stage.ts";
import {
  DEFAULT_KEY,
  forget,
  interruptedBy,
  kept,
  keyType,
  passphraseKey,
  plant,
  problemOf,
} from "./scene.ts";

const NAME = "com.example.token";

Deno.test("OpenSecretStorage keeps what there is for other keys, unless a secret is to be alone, and beside the ciphertexts", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  using storage = await client.secretStorage.open(
    await client.secretStorage.create({ onRecoveryKey: forget }),
  );
  const foreign = { iv: "a", ciphertext: "b", mac: "c", extra: 1 };
  await plant(client, NAME, { encrypted: { foreign, ["__proto__"]: 5 }, note: "kept" });
  assertEquals(await problemOf(() => storage.get(NAME)), "other-keys");
  assertEquals(await storage.names(), []);
  await storage.set(NAME, "hunter2");
  const { encrypted, note } = await kept(client, NAME) as {
    encrypted: Record<string, unknown>;
    note: string;
  };
  assertEquals([encrypted.foreign, Object.entries(encrypted)[1], note], [foreign, ["__proto__", 5], "kept"]);
  assertEquals(await storage.get(NAME), "hunter2");
  await storage.set(NAME, "hunter3", { alone: true });
  const alone = await kept(client, NAME) as { encrypted: object; note: string };
  assertEquals([Object.keys(alone.encrypted), alone.note], [[storage.keyId], "kept"]);
  assertEquals(await storage.get(NAME), "hunter3");
});

Deno.test("OpenSecretStorage leaves account data alone that is no secret", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  using storage = await client.secretStorage.open(
    await client.secretStorage.create({ onRecoveryKey: forget }),
  );
  const contents = [{ theme: "dark" }, { encrypted: "yes" }, { encrypted: [] }, { encrypted: null }];
  for (const content of contents) {
    await plant(client, "com.example.prefs", content);
    for (const work of [storage.get, storage.delete]) {
      assertEquals(await problemOf(() => work("com.example.prefs")), "not-secret");
    }
    assertEquals(await problemOf(() => storage.set("com.example.prefs", "x")), "not-secret");
    assertEquals(await kept(client, "com.example.prefs"), content);
  }
});

Deno.test("OpenSecretStorage refuses names that no secret can have, before it asks the server", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  using storage = await secretStorage.open(await secretStorage.create({ onRecoveryKey: forget }));
  const before = here.homeserver.requests.length;
  const names = [
    "",
    ".",
    "..",
    "a\u0000b",
    "\n",
    "\ud800",
    "ä".repeat(128),
    DEFAULT_KEY,
    keyType("a"),
    "m.secret_storage.x",
    "m.direct",
  ];
  for (const name of [...names, 5 as never]) {
    for (const work of [storage.get, storage.delete]) await assertRejects(() => work(name), ValueError);
    await assertRejects(() => storage.set(name, "x"), ValueError);
  }
  await assertRejects(() => storage.set(NAME, "x".repeat(1_000_000)), ValueError, "65536");
  assertEquals(here.homeserver.requests.length, before);
});

Deno.test("OpenSecretStorage takes names that mean something to JavaScript or a URL", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  using storage = await secretStorage.open(await secretStorage.create({ onRecoveryKey: forget }));
  const names = [
    "__proto__",
    "constructor",
    "a/../b",
    "%2F?#",
    "m.room.name",
    "m.megolm_backup.v1",
    "日本",
    "n".repeat(255),
  ];
  for (const name of names) await storage.set(name, name);
  for (const name of names) assertEquals(await storage.get(name), name);
  assertEquals(await storage.names(), names.sort());
});

Deno.test("OpenSecretStorage can do nothing once it was closed", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  const storage = await secretStorage.open(await secretStorage.create({ onRecoveryKey: forget }));
  await storage.set(NAME, "hunter2");
  storage[Symbol.dispose]();
  storage[Symbol.dispose]();
  const before = here.homeserver.requests.length;
  const all = [
    () => storage.get(NAME),
    () => storage.set(NAME, "x"),
    () => storage.delete(NAME),
    () => storage.names(),
  ];
  for (const work of all) assertEquals(await problemOf(work), "closed");
  assertEquals(here.homeserver.requests.length, before);
});

Deno.test("OpenSecretStorage.set() refuses once another client changed the key", async () => {
  await using here = clientStage();
  const [one, other] = [here.client("alice"), here.client("alice")];
  const old = await one.secretStorage.create({ onRecoveryKey: forget });
  using storage = await one.secretStorage.open(old);
  await storage.set(NAME, "hunter2");
  const fresh = await other.secretStorage.changeKey(old, { onRecoveryKey: forget });
  assertEquals(await problemOf(() => storage.set(NAME, "hunter3")), "changed");
  assertEquals(await problemOf(() => storage.get(NAME)), "other-keys");
  using after = await one.secretStorage.open(fresh);
  assertEquals(await after.get(NAME), "hunter2");
});

Deno.test("OpenSecretStorage.set() says so if another client changes the key while it stores", async () => {
  await using here = clientStage();
  const other = here.client("alice");
  const old = await other.secretStorage.create({ onRecoveryKey: forget });
  const change = () => other.secretStorage.changeKey(old, { onRecoveryKey: forget });
  const { secretStorage } = here.client("alice", {
    fetch: interruptedBy(here, /com\.example\.token/, change),
  });
  using storage = await secretStorage.open(old);
  assertEquals(await problemOf(() => storage.set(NAME, "hunter2")), "changed");
});

Deno.test("OpenSecretStorage.get() names a damaged secret, and leaves it as it is", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  using storage = await client.secretStorage.open(
    await client.secretStorage.create({ onRecoveryKey: forget }),
  );
  await storage.set(NAME, "hunter2");
  const { encrypted } = await kept(client, NAME) as { encrypted: Record<string, { ciphertext: string }> };
  const damaged = { ...encrypted[storage.keyId], ciphertext: "AAAAAAAAAA" };
  await plant(client, NAME, { encrypted: { [storage.keyId]: damaged } });
  const error = await assertRejects(() => storage.get(NAME), SecretStorageError, `"${NAME}"`);
  assertEquals(error.problem, "damaged");
  assert(!error.message.includes("hunter2"));
});

Deno.test("OpenSecretStorage.names() lists only what get() takes", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  using storage = await client.secretStorage.open(
    await client.secretStorage.create({ onRecoveryKey: forget }),
  );
  await storage.set(NAME, "hunter2");
  const content = await kept(client, NAME);
  for (const name of ["m.secret_storage.x", "m.direct", "n".repeat(256)]) await plant(client, name, content);
  assertEquals(await storage.names(), [NAME]);
});

Deno.test("OpenSecretStorage is not misled by a key ID that means something to JavaScript", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  await plant(client, NAME, { encrypted: { foreign: { iv: "a", ciphertext: "b", mac: "c" } } });
  for (const keyId of ["constructor", "__proto__"]) {
    await passphraseKey(client, "correct horse", keyId);
    using storage = await client.secretStorage.open({ passphrase: "correct horse" });
    assertEquals(await problemOf(() => storage.get(NAME)), "other-keys");
    await storage.set("com.example.other", keyId);
    assertEquals([await storage.get("com.example.other"), await storage.names()], [keyId, [
      "com.example.other",
    ]]);
    await storage.delete("com.example.other");
  }
});

Deno.test("OpenSecretStorage.delete() writes nothing if there is no secret", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  using storage = await secretStorage.open(await secretStorage.create({ onRecoveryKey: forget }));
  here.homeserver.requests.clear();
  await storage.delete(NAME);
  assertEquals(here.homeserver.requests.filter("PUT", /./).length, 0);
});

Deno.test("OpenSecretStorage.names() asks each time, so that no server answers from a cache, and stays unseen", async () => {
  await using here = clientStage();
  const { secretStorage } = here.client("alice");
  using storage = await secretStorage.open(await secretStorage.create({ onRecoveryKey: forget }));
  for (let time = 0; time < 10; time++) await storage.names();
  const queries = here.homeserver.requests.filter("GET", /\/sync/).map(({ query }) => query);
  assertEquals(new Set(queries.map(String)).size, 10);
  assertEquals(new Set(queries.map((query) => query.get("set_presence"))), new Set(["offline"]));
});

Deno.test("OpenSecretStorage.names() passes over what is no account data", async () => {
  await using here = clientStage();
  const odd = [null, 5, "text", {}, { type: NAME }, { type: 5, content: {} }, { type: NAME, content: null }, {
    type: keyType("x"),
    content: null,
  }];
  const { recoveryKey } = await here.client("bob").secretStorage.create({ onRecoveryKey: forget });
  for (const events of [undefined, null, "text", {}, odd]) {
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const answer = await here.homeserver.fetch(input, init);
      if (!String(input).includes("/sync")) return answer;
      return Response.json({ ...await answer.json(), account_data: { events } });
    };
    const { secretStorage } = here.client("alice", { fetch });
    using storage = await secretStorage.open(
      await secretStorage.reset({ recoveryKey, onRecoveryKey: forget }),
    );
    assertEquals(await storage.names(), []);
  }
});

Deno.test("OpenSecretStorage.set() leaves alone what lies deeper than any content does", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  using storage = await client.secretStorage.open(
    await client.secretStorage.create({ onRecoveryKey: forget }),
  );
  const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`);
  await plant(client, NAME, { encrypted: {}, deep });
  assertEquals(await problemOf(() => storage.set(NAME, "x")), "not-secret");
});

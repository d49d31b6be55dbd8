/**
 * A server shows a key of its own as the default one, so that what is stored next is encrypted for it.
 */

import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { DEFAULT_KEY, forget, kept, keyType, plant, problemOf } from "../../../encryption/secrets/scene.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { describe, StorageKey } from "../../../../src/crypto/secrets/secrets.ts";

const NAME = "com.example.token";

Deno.test("T110: nothing is encrypted for a default key that the server has made", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { secretStorage } = client;
  const ours = await secretStorage.create({ onRecoveryKey: forget });
  using open = await secretStorage.open(ours);
  await open.set(NAME, "hunter2");
  const before = await kept(client, NAME);

  using theirs = new StorageKey("theirs", new Uint8Array(32));
  await plant(client, keyType("theirs"), await describe(theirs, undefined));
  await plant(client, DEFAULT_KEY, { key: "theirs" });

  assertEquals(await problemOf(() => secretStorage.open(ours)), "wrong-key");
  assertEquals(await problemOf(() => open.set(NAME, "hunter3")), "changed");
  const handed: string[] = [];
  const onRecoveryKey = (key: string) => void handed.push(key);
  assertEquals(await problemOf(() => secretStorage.changeKey(ours, { onRecoveryKey })), "changed");
  assertEquals(await problemOf(() => secretStorage.create({ onRecoveryKey })), "exists");
  assertEquals([handed, await kept(client, NAME)], [[], before]);
  assertEquals(await open.get(NAME), "hunter2");
});

Deno.test("T110: nothing is encrypted for a key that is only called like the own one", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const ours = await client.secretStorage.create({ onRecoveryKey: forget });
  using theirs = new StorageKey(ours.keyId, new Uint8Array(32));
  await plant(client, keyType(ours.keyId), await describe(theirs, undefined));
  assertEquals(await problemOf(() => client.secretStorage.open(ours)), "wrong-key");
  await plant(client, keyType(ours.keyId), {});
  assertEquals(await problemOf(() => client.secretStorage.open(ours)), "absent");
});

Deno.test("T110: the name of a key that a server has made up can't act on a terminal, nor fill a log", async () => {
  await using here = clientStage();
  const client = here.client("alice");
  const { recoveryKey } = await client.secretStorage.create({ onRecoveryKey: forget });
  for (const key of ["\u001b[2J\u001b]0;owned\u0007", "\n2026-01-01 ERROR all is lost", "x".repeat(255)]) {
    await plant(client, DEFAULT_KEY, { key });
    const { message } = await assertRejects(
      () => client.secretStorage.open({ recoveryKey }),
      SecretStorageError,
      "the description of its key",
    );
    // deno-lint-ignore no-control-regex -- none of them may be there
    assertFalse(/[\u0000-\u001f\u007f-\u009f]|x{100}/.test(message), message);
  }
});

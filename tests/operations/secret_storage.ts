import { assert, assertEquals, assertRejects } from "@std/assert";
import { defineEvent } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import type { Operation } from "./support/operation.ts";

const NAME = "com.example.token";

/** Secret storage: what a server does with the requests that it is made of. */
export const secretStorage: readonly Operation[] = [
  {
    name: "secretStorage.create() makes a storage whose secrets can be stored, listed, read and deleted",
    covers: ["getAccountData", "setAccountData", "listAccountData"],
    async run(scene) {
      const alice = await scene.player("alice");
      assertEquals((await alice.secretStorage.info()).problem, "absent");
      const { keyId, recoveryKey } = await alice.secretStorage.create({ onRecoveryKey() {} });
      assertEquals((await alice.secretStorage.info()).keyId, keyId);
      using storage = await alice.secretStorage.open({ recoveryKey });
      const names = [NAME, "com.example/a%2Fb", "com.example.#?&+ ä日本", "m.megolm_backup.v1"];
      for (const name of names) {
        await storage.set(name, `the secret of ${name}`);
        assert((await storage.names()).includes(name), "a list is not as old as one before");
      }
      for (const name of names) assertEquals(await storage.get(name), `the secret of ${name}`);
      assertEquals(await storage.names(), names.sort());
      const most = "x".repeat(65_536);
      await storage.set(NAME, most);
      assertEquals(await storage.get(NAME), most);
      await storage.delete(NAME);
      assertEquals(await storage.get(NAME), undefined);
      assert(!(await storage.names()).includes(NAME));
    },
  },
  {
    name: "secretStorage.changeKey() moves all secrets to the new key, and more than ten of them",
    covers: ["getAccountData", "setAccountData", "listAccountData"],
    async run(scene) {
      const alice = await scene.player("alice");
      await alice.createRoom({ name: "not to be listed" });
      const old = await alice.secretStorage.create({ onRecoveryKey() {} });
      const names = Array.from({ length: 25 }, (_, index) => `com.example.${String(index).padStart(2, "0")}`);
      {
        using storage = await alice.secretStorage.open(old);
        for (const name of names) await storage.set(name, name);
      }
      const fresh = await alice.secretStorage.changeKey(old, { onRecoveryKey() {} });
      const { problem } = await assertRejects(() => alice.secretStorage.open(old), SecretStorageError);
      assertEquals(problem, "wrong-key");
      using storage = await alice.secretStorage.open(fresh);
      assertEquals(await storage.names(), names);
      const raw = await alice.getAccountData(defineEvent({ type: "com.example.00", class: "account_data" }));
      assertEquals(Object.keys(raw.encrypted as object), [fresh.keyId]);
      assertEquals(await alice.secretStorage.changeKey(old, { ...fresh, onRecoveryKey() {} }), fresh);
    },
  },
  {
    name: "secretStorage.reset() replaces the default key, and each user has a storage of one's own",
    covers: ["getAccountData", "setAccountData"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const old = await alice.secretStorage.create({ onRecoveryKey() {} });
      const fresh = await alice.secretStorage.reset({ onRecoveryKey() {} });
      assertEquals((await alice.secretStorage.info()).keyId, fresh.keyId);
      assertEquals((await bob.secretStorage.info()).problem, "absent");
      await assertRejects(
        () => alice.secretStorage.create({ onRecoveryKey() {} }),
        SecretStorageError,
        "reset()",
      );
      await assertRejects(() => alice.secretStorage.open(old), SecretStorageError, "is not that of its key");
    },
  },
];

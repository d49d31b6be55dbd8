import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { type FaultPlan, NO_FAULT, TestProcess } from "../../client/support/crash.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { forget, kept } from "./scene.ts";

const SECRETS = {
  "com.example.token": "hunter2",
  "m.cross_signing.master": "c2VlZA",
  "m.megolm_backup.v1": "a2V5",
};

/** What the application wrote down, which outlasts its processes. */
interface Notes {
  recoveryKey?: string;
}

/** A process, which runs to its end or crashes; whether it came to the end. */
async function runProcess(
  here: ClientStage,
  plan: FaultPlan,
  work: (client: Client, keep: (recoveryKey: string) => void) => Promise<unknown>,
  notes: Notes,
): Promise<TestProcess> {
  const process = new TestProcess(plan);
  const client = here.client("alice", { fetch: process.fetch(here.homeserver.fetch), retry: false });
  const keep = (recoveryKey: string) => {
    assert(process.isRunning);
    notes.recoveryKey = recoveryKey;
  };
  const running = work(client, keep);
  if (plan.at === 0) await running;
  else await assertRejects(() => running);
  return process;
}

/** All secrets that one of the keys opens; undefined if none opens the storage. */
async function opened(
  client: Client,
  keys: readonly (string | undefined)[],
): Promise<Record<string, string | undefined> | undefined> {
  for (const recoveryKey of keys) {
    if (recoveryKey === undefined) continue;
    const storage = await client.secretStorage.open({ recoveryKey }).catch(() => undefined);
    if (storage === undefined) continue;
    using _ = storage;
    const names = await storage.names();
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await storage.get(name)])));
  }
  return undefined;
}

/** Runs a story once for each request that it makes, and each way to crash at it. */
async function enumerate(
  story: (plan: FaultPlan) => Promise<TestProcess>,
): Promise<number> {
  const { log } = await story(NO_FAULT);
  for (const operation of ["request", "sync"] as const) {
    const count = log.count(operation);
    for (let at = 1; at <= count; at++) {
      for (const takesEffect of [false, true]) await story({ operation, at, takesEffect });
    }
  }
  return log.count("request") + log.count("sync");
}

Deno.test("C21: after a crash at any request of create() the kept recovery key opens what is published, and completes it", async () => {
  const requests = await enumerate(async (plan) => {
    await using here = clientStage();
    const notes: Notes = {};
    const create = (client: Client, onRecoveryKey: (key: string) => void) =>
      client.secretStorage.create({ ...notes, onRecoveryKey });
    const process = await runProcess(here, plan, create, notes);
    const client = here.client("alice");
    const { problem, keyId } = await client.secretStorage.info();
    assertEquals(problem, keyId === undefined ? "absent" : undefined);
    if (keyId !== undefined) assertEquals(await opened(client, [notes.recoveryKey]), {});

    const handed = notes.recoveryKey;
    await runProcess(here, NO_FAULT, create, notes);

    assertEquals(await opened(client, [notes.recoveryKey]), {});
    if (handed !== undefined) assertEquals(notes.recoveryKey, handed);
    return process;
  });
  assertEquals(requests, 5); // whoami, the default key, the description, and the default key twice
});

Deno.test("C21: after a crash before create() made its key the default one, its passphrase opens what completes it", async () => {
  await using here = clientStage();
  const notes: Notes = {};
  const create = (client: Client, onRecoveryKey: (key: string) => void) =>
    client.secretStorage.create({ ...notes, passphrase: "correct horse", onRecoveryKey });
  await runProcess(here, { operation: "request", at: 5, takesEffect: false }, create, notes);
  const handed = notes.recoveryKey;
  await runProcess(here, NO_FAULT, create, notes);
  assertEquals(notes.recoveryKey, handed);
  using _storage = await here.client("alice").secretStorage.open({ passphrase: "correct horse" });
});

Deno.test("C21: after a crash at any request of changeKey() one of the two keys opens all, and the new one when it is completed", async () => {
  const requests = await enumerate(async (plan) => {
    await using here = clientStage();
    const client = here.client("alice");
    const old = await client.secretStorage.create({ onRecoveryKey: forget });
    {
      using storage = await client.secretStorage.open(old);
      for (const [name, value] of Object.entries(SECRETS)) await storage.set(name, value);
    }
    const notes: Notes = {};
    const change = (client: Client, onRecoveryKey: (key: string) => void) =>
      client.secretStorage.changeKey(old, { ...notes, onRecoveryKey });
    const process = await runProcess(here, plan, change, notes);
    assertEquals(await opened(client, [old.recoveryKey, notes.recoveryKey]), SECRETS);

    const handed = notes.recoveryKey;
    await runProcess(here, NO_FAULT, change, notes);

    assertEquals(await opened(client, [notes.recoveryKey]), SECRETS);
    if (handed !== undefined) assertEquals(notes.recoveryKey, handed);
    const { keyId } = await client.secretStorage.info();
    for (const name of Object.keys(SECRETS)) {
      assertEquals(Object.keys((await kept(client, name)).encrypted as object), [keyId]);
    }
    return process;
  });
  assert(requests > 15, `only ${requests} requests`);
});

Deno.test("C21: after a crash at any request of reset() or set() nothing is lost that a key opened", async () => {
  await enumerate(async (plan) => {
    await using here = clientStage();
    const client = here.client("alice");
    const old = await client.secretStorage.create({ onRecoveryKey: forget });
    using storage = await client.secretStorage.open(old);
    await storage.set("com.example.token", "hunter2");
    const notes: Notes = {};
    const reset = async (client: Client, onRecoveryKey: (key: string) => void) => {
      const { recoveryKey } = await client.secretStorage.reset({ ...notes, onRecoveryKey });
      using fresh = await client.secretStorage.open({ recoveryKey });
      await fresh.set("com.example.token", "hunter3");
    };
    const process = await runProcess(here, plan, reset, notes);
    assertEquals(await storage.get("com.example.token"), "hunter2");
    assert(await opened(client, [old.recoveryKey, notes.recoveryKey]) !== undefined);

    await runProcess(here, NO_FAULT, reset, notes);

    assertEquals(await opened(client, [notes.recoveryKey]), { "com.example.token": "hunter3" });
    return process;
  });
});

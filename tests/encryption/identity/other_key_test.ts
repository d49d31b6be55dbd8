import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { DEFAULT_KEY, plant } from "../secrets/scene.ts";
import { ALICE, device, type DeviceOptions, KEY, OTHER_KEY } from "./scene.ts";

/** Starts a process of the device that has a store. */
async function start(here: ClientStage, store: MemoryStore, encryption: DeviceOptions["encryption"] = {}) {
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return await here.homeserver.fetch(request);
  };
  const client = await device(here, "BOT", { fetch, store, encryption });
  requests.length = 0;
  try {
    await client.crypto?.start();
    await client.crypto?.idle();
    return { report: await client.crypto?.ensureVerified(), requests };
  } finally {
    await client.close();
  }
}

/** Whether a process has opened the secret storage. */
function opens({ requests }: { readonly requests: readonly string[] }): boolean {
  return requests.some((name) => name.includes("m.secret_storage.key."));
}

Deno.test("A recovery key that opens nothing is refused by each start, though all private keys are at hand", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  assertEquals((await start(here, store, { recoveryKey: KEY })).report?.state, "verified");
  for (const at of ["first", "second"]) {
    const error = await assertRejects(
      () => start(here, store, { recoveryKey: OTHER_KEY }),
      SecretStorageError,
    );
    assertEquals(error.problem, "wrong-key", at);
  }
  assertEquals((await start(here, store, { recoveryKey: KEY })).report?.state, "verified");
});

Deno.test("A recovery key of which it is not known what it opens is tried once, and opens nothing after that", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const passphrase = "a passphrase";
  const keys: string[] = [];
  const onRecoveryKey = (key: string) => void keys.push(key);
  await start(here, store, { passphrase, onRecoveryKey });
  const [recoveryKey] = keys;
  assert(recoveryKey !== undefined);
  const error = await assertRejects(() => start(here, store, { recoveryKey: KEY }), SecretStorageError);
  assertEquals(error.problem, "wrong-key");
  const first = await start(here, store, { recoveryKey });
  assertEquals([first.report?.state, opens(first)], ["verified", true]);
  const spaced = recoveryKey.replaceAll(" ", "");
  assert(!opens(await start(here, store, { recoveryKey: spaced })));
});

Deno.test("The recovery key that was handed out opens nothing again when it is given", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  let recoveryKey = "";
  await start(here, store, { onRecoveryKey: (key) => void (recoveryKey = key) });
  assert(!opens(await start(here, store, { recoveryKey })));
  await assertRejects(() => start(here, store, { recoveryKey: KEY }), SecretStorageError);
});

Deno.test("A recovery key that was changed is taken when the new one is given, and opens nothing after that", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  await start(here, store, { recoveryKey: KEY });
  const other = await device(here, "OTHER");
  await other.secretStorage.changeKey({ recoveryKey: KEY }, {
    recoveryKey: OTHER_KEY,
    onRecoveryKey: () => {},
  });
  const first = await start(here, store, { recoveryKey: OTHER_KEY });
  assertEquals([first.report?.state, first.report?.backup, opens(first)], ["verified", "on", true]);
  assert(!opens(await start(here, store, { recoveryKey: OTHER_KEY })));
  await assertRejects(() => start(here, store, { recoveryKey: KEY }), SecretStorageError);
});

Deno.test("A recovery key of an account without a secret storage is refused by each start, though another client has verified the device", async () => {
  for (const hasKeys of [false, true]) {
    await using here = clientStage();
    const owner = await device(here, "OWNER", { encryption: { recoveryKey: KEY } });
    await owner.syncOnce();
    const store = new MemoryStore();
    const bot = await device(here, "BOT", { store });
    await bot.syncOnce();
    const own = await bot.crypto?.getIdentity(ALICE);
    assert(own !== undefined);
    await bot.crypto?.verifyUser(own);
    await owner.syncOnce();
    const [seen] = await owner.crypto?.getDevices(ALICE) ?? [];
    assert(seen !== undefined);
    await owner.crypto?.verifyDevice(seen);
    if (hasKeys) await bot.crypto?.requestSecrets();
    for (const client of [owner, bot]) {
      await client.crypto?.idle();
      await client.syncOnce();
      await client.crypto?.idle();
    }
    await bot.close();
    for (const name of ["master", "self_signing", "user_signing"]) {
      await plant(owner, `m.cross_signing.${name}`, {});
    }
    await plant(owner, DEFAULT_KEY, {});
    for (const at of ["first", "second"]) {
      const error = await assertRejects(() => start(here, store, { recoveryKey: KEY }), SecretStorageError);
      assertEquals(error.problem, "absent", at);
    }
    const { report } = await start(here, store);
    assertEquals(report?.state, hasKeys ? "verified" : "needs-secret");
  }
});

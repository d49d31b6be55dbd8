/**
 * What a start, or a reset of the identity, makes of the backup, while the server fails or hides something.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { type Client, MatrixError, MemoryStore } from "@greenroom/matrix";
import { KeyBackupError } from "@greenroom/matrix/errors";
import { kept, plant } from "../secrets/scene.ts";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { changed, device, KEY, OTHER_KEY, PASSWORD, patiently } from "../identity/scene.ts";
import { backupOf, before, hidden, lost, outcomeOf, SECRET, started } from "./scene.ts";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";

const VERSION = { method: "GET", path: "/room_keys/version" };
const WANTED = "m.key_backup";

/** How often a request of a kind was made. */
function count(here: ClientStage, method: string, path: string | RegExp): number {
  return here.homeserver.requests.filter(method, path).length;
}

/** How often the key was stored. */
function stores(here: ClientStage): number {
  return count(here, "PUT", `/account_data/${SECRET}`);
}

/** Has a device make a room key. */
async function said(client: Client): Promise<void> {
  await client.sendText(await client.createRoom({ initialState: ENCRYPTED }), "not backed up yet");
}

Deno.test("A first start stores the key of the backup, and notes that the user wants one; others store nothing", async () => {
  await using here = clientStage();
  const client = await started(here, "BOT");
  assertEquals([stores(here), await kept(client, WANTED)], [1, { enabled: true }]);
  await started(here, "NEXT");
  assertEquals([stores(here), count(here, "PUT", `/account_data/${WANTED}`)], [1, 1]);
});

Deno.test("A backup that is there as another version, with the same key, is used from the next start on", async () => {
  await using here = clientStage();
  const client = await started(here, "BOT");
  const { algorithm, auth_data } = await client.raw.getKeyBackupVersion();
  await client.raw.createKeyBackupVersion({ algorithm, auth_data });
  assertEquals((await backupOf(client).info()).problem, "untrusted");
  assertEquals([await outcomeOf(here, client), (await backupOf(client).info()).problem], ["on", undefined]);
});

Deno.test("A reset of the identity makes the backup that was not there before, with the old recovery key or a new one", async () => {
  for (const by of [{ recoveryKey: KEY }, { onRecoveryKey() {} }]) {
    await using here = clientStage();
    const { client } = await before(here);
    const reset = { ...by, password: PASSWORD, confirm: () => true };
    assertEquals((await patiently(here, client.crypto?.resetIdentity(reset)))?.backup, "on");
    assertEquals((await backupOf(client).info()).problem, undefined);
  }
});

Deno.test("A backup that is made, or replaced, while a start makes one is the only one, and is in use", async () => {
  for (const name of ["create", "reset"] as const) {
    await using here = clientStage();
    const { client, storage } = await before(here);
    let start: ReturnType<typeof outcomeOf> | undefined;
    const onRecoveryKey = async () => {
      start = client.crypto?.ensureVerified({ recoveryKey: KEY, backup: true }).then(({ backup }) => backup);
      for (let rounds = 0; rounds < 10; rounds++) await here.settle();
    };
    await backupOf(client)[name]({ storage, onRecoveryKey });
    assertEquals([await start, count(here, "POST", "/room_keys/version")], ["on", 1], name);
    assertEquals((await backupOf(client).info()).problem, undefined);
    assertEquals(await outcomeOf(here, await started(here, "NEXT")), "on");
  }
});

Deno.test("Keys from before go into the backup as soon as it is made, or used", async () => {
  await using here = clientStage();
  for (const name of ["FIRST", "SECOND"]) {
    const client = await device(here, name);
    await client.crypto?.start();
    await said(client);
    await client.crypto?.idle();
    const before = count(here, "PUT", "/room_keys/keys");
    await client.crypto?.ensureVerified({ recoveryKey: KEY });
    await here.until(() => count(here, "PUT", "/room_keys/keys") > before);
  }
});

Deno.test("A backup that the server hides is made again with the stored key, which is not written again", async () => {
  await using here = clientStage();
  await started(here, "FIRST");
  hidden(here, VERSION, 1);
  const next = await started(here, "NEXT");
  assertEquals([(await backupOf(next).info()).version, stores(here)], ["2", 1]);
});

Deno.test("A key that the server hides when it was stored is stored again, before the backup is used", async () => {
  await using here = clientStage();
  const { client } = await before(here);
  // At the first look, and after it was stored.
  hidden(here, { method: "GET", path: `/account_data/${SECRET}` }, 2);
  const report = await client.crypto?.ensureVerified({ recoveryKey: KEY });
  assertEquals(report?.backup, "on");
  assertEquals(await outcomeOf(here, await started(here, "NEXT")), "on");
});

Deno.test("While the server does not say whether the user wants a backup, none is made", async () => {
  await using here = clientStage();
  const { client } = await before(here);
  await plant(client, WANTED, { enabled: false });
  const match = { method: "GET", path: `/account_data/${WANTED}` };
  using fault = here.homeserver.faults.add({ kind: "status", status: 403, match });
  const bot = await started(here, "BOT");
  assertEquals(await outcomeOf(here, bot), "failed");
  await assertRejects(() => backupOf(bot).info(), MatrixError);
  fault[Symbol.dispose]();
  assertEquals(await outcomeOf(here, bot), "unwanted");
  assertEquals(count(here, "POST", "/room_keys/version"), 0);
});

Deno.test("What clients noted before the name was in the specification counts unless the specification's is there", async () => {
  const former = "m.org.matrix.custom.backup_disabled";
  const cases: [formerly: object, now: object | undefined, isWanted: boolean | undefined][] = [
    [{ disabled: true }, undefined, false],
    [{ disabled: false }, undefined, true],
    [{ disabled: "yes" }, undefined, undefined],
    [{ disabled: true }, { enabled: true }, true],
  ];
  for (const [formerly, now, isWanted] of cases) {
    await using here = clientStage();
    const { client } = await before(here);
    await plant(client, former, formerly);
    if (now !== undefined) await plant(client, WANTED, now);
    assertEquals((await backupOf(client).info()).isWanted, isWanted);
    const bot = await started(here, "BOT");
    assertEquals(await outcomeOf(here, bot), isWanted === false ? "unwanted" : "on");
  }
});

Deno.test("What says not yes or no to a backup is overwritten by the first start that makes one", async () => {
  await using here = clientStage();
  const { client } = await before(here);
  for (const content of [{}, { enabled: "no" }]) {
    await plant(client, WANTED, content);
    assertEquals((await backupOf(client).info()).isWanted, undefined);
  }
  await started(here, "BOT");
  assertEquals(await kept(client, WANTED), { enabled: true });
});

Deno.test("A server that fails to say which backup there is leads to no other one", async () => {
  await using here = clientStage();
  await started(here, "FIRST");
  const fault = here.homeserver.faults.add({ kind: "status", status: 403, match: VERSION });
  const next = await started(here, "NEXT");
  assertEquals(await outcomeOf(here, next), "failed");
  fault[Symbol.dispose]();
  assertEquals([await outcomeOf(here, next), (await backupOf(next).info()).version], ["on", "1"]);
});

Deno.test("A key that does not fit is looked for 15 times, as another device may be storing it, and what no waiting would help once", async () => {
  const cases: Record<string, (here: ClientStage) => Promise<typeof fetch>> = {
    async unusable(here) {
      await started(here, "FIRST");
      return changed(here, VERSION.path, (body) => body.algorithm = "org.example.other");
    },
    // Another client changes the key of the storage, so that nothing is stored with this one.
    async failed(here) {
      const { client } = await before(here);
      let reset: Promise<unknown> | undefined;
      return async (input, init) => {
        const request = new Request(input, init);
        if (request.url.endsWith(WANTED)) {
          await (reset ??= client.secretStorage.reset({ recoveryKey: OTHER_KEY, onRecoveryKey() {} }));
        }
        return await here.homeserver.fetch(request);
      };
    },
    async "wrong-key"(here) {
      const { client, storage } = await before(here);
      await backupOf(client).create({ storage });
      await storage.set(SECRET, new Uint8Array(32).toBase64({ omitPadding: true }));
      return here.homeserver.fetch;
    },
  };
  for (const [outcome, server] of Object.entries(cases)) {
    await using here = clientStage();
    const bot = await device(here, "BOT", { fetch: await server(here) });
    await bot.crypto?.start();
    const before = count(here, "GET", VERSION.path);
    const report = await patiently(here, bot.crypto?.ensureVerified({ recoveryKey: KEY }));
    const looks = count(here, "GET", VERSION.path) - before;
    assertEquals([report?.backup, looks], [outcome, outcome === "wrong-key" ? 15 : 1]);
  }
});

Deno.test("A backup that was hidden is used again with the key that is here, which is stored unless another one is", async () => {
  const other = new Uint8Array(32).fill(1).toBase64({ omitPadding: true });
  for (const stored of [undefined, other]) {
    await using here = clientStage();
    const { client, storage } = await before(here);
    await backupOf(client).create({ storage });
    const secret = await storage.get(SECRET);
    await (stored === undefined ? storage.delete(SECRET) : storage.set(SECRET, stored));
    await lost(here, client, said(client));
    const { version, problem, isReadable } = await backupOf(client).info();
    assertEquals([version, problem, isReadable], ["1", "untrusted", false]);
    const refused = await assertRejects(() => backupOf(client).restore(), KeyBackupError);
    assertEquals(refused.problem, "untrusted");
    const report = await patiently(here, client.crypto?.ensureVerified({ recoveryKey: KEY }));
    assertEquals([report?.backup, await storage.get(SECRET)], ["on", stored ?? secret]);
    await client.crypto?.idle();
    const { count, isComplete } = await backupOf(client).info();
    assertEquals([count, isComplete], [1, true]);
  }
});

Deno.test("The key of the backup in use goes to the storage that a reset makes, whatever the server hides and the user wants", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  await plant(bot, WANTED, { enabled: false });
  let recoveryKey = "";
  {
    using _fault = hidden(here, VERSION);
    const report = await bot.crypto?.resetIdentity({
      onRecoveryKey: (key) => void (recoveryKey = key),
      password: PASSWORD,
      confirm: () => true,
    });
    assertEquals([report?.state, report?.backup], ["reset", "unwanted"]); // none is shown
  }
  const next = await device(here, "NEXT");
  using storage = await next.secretStorage.open({ recoveryKey });
  const { version, isReadable } = await backupOf(next).trust({ storage });
  assertEquals([version, isReadable], ["1", true]);
});

Deno.test("A backup that is deleted while it is taken into use has no key stored", async () => {
  await using here = clientStage();
  let onWrite = () => Promise.resolve();
  class WatchedStore extends MemoryStore {
    override async commit(...change: Parameters<MemoryStore["commit"]>) {
      if (change[0].some(({ key }) => key.includes("backup"))) await onWrite();
      return await super.commit(...change);
    }
  }
  const { client: early, storage } = await before(here);
  const client = await device(here, "BOT", { store: new WatchedStore() });
  await backupOf(client).create({ onRecoveryKey() {} });
  await lost(here, client, said(client));
  let deleted: Promise<void> | undefined;
  onWrite = async () => {
    deleted ??= backupOf(client).delete();
    await here.until(() => count(here, "PUT", WANTED) === 2);
    await here.settle();
  };
  await patiently(here, client.crypto?.ensureVerified({ recoveryKey: KEY }));
  await deleted;
  assertEquals([deleted === undefined, await storage.get(SECRET)], [false, undefined]);
  assertEquals((await backupOf(early).info()).problem, "absent");
});

Deno.test("A key that is stored for another key of the storage does not keep a backup from being made, and stays", async () => {
  await using here = clientStage();
  const { client, storage } = await before(here);
  const stored = new Uint8Array(32).fill(1).toBase64({ omitPadding: true });
  await storage.set(SECRET, stored);
  await client.secretStorage.reset({ recoveryKey: OTHER_KEY, onRecoveryKey() {} });
  using now = await client.secretStorage.open({ recoveryKey: OTHER_KEY });
  for (const name of Object.values(SEED_SECRETS)) await now.set(name, await storage.get(name) ?? "");
  const bot = await started(here, "BOT", { encryption: { recoveryKey: OTHER_KEY } });
  assertEquals([await outcomeOf(here, bot), await storage.get(SECRET)], ["on", stored]);
});

/**
 * Accounts of which a part was made before: a secret storage without an identity,
 * or an identity that was cut off.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MatrixError, MatrixRequestError, MemoryStore } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { alter, DEFAULT_KEY, kept, plant } from "../secrets/scene.ts";
import { device, type DeviceOptions, KEY, PASSWORD, patiently, shown } from "./scene.ts";

const UPLOAD = "/keys/device_signing/upload";
const TOKEN = "com.example.token";
const GO_ON = () => true;

/** A storage without an identity, which has a secret of another application. */
async function storageOnly(here: ClientStage): Promise<string | undefined> {
  const owner = await device(here, "OWNER");
  await owner.secretStorage.create({ recoveryKey: KEY, onRecoveryKey() {} });
  using storage = await owner.secretStorage.open({ recoveryKey: KEY });
  await storage.set(TOKEN, "hunter2");
  return storage.keyId;
}

/** What the storage of the account has of it, opened by a key. */
async function token(here: ClientStage, recoveryKey = KEY): Promise<string | undefined> {
  using storage = await (await device(here, "OWNER")).secretStorage.open({ recoveryKey });
  return await storage.get(TOKEN);
}

/** A server that breaks the connection at an upload of an identity: before it has taken that, or after. */
function broken(here: ClientStage, when: "before" | "after"): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const isUpload = request.url.endsWith(UPLOAD);
    const response = isUpload && when === "before" ? undefined : await here.homeserver.fetch(request);
    if (response === undefined || (isUpload && response.ok)) throw new TypeError("connection reset");
    return response;
  };
}

/** What a call of a process of a bot comes to, which is closed then. */
async function ensured(
  here: ClientStage,
  store: MemoryStore,
  encryption: DeviceOptions["encryption"],
  fetch?: typeof globalThis.fetch,
) {
  await using bot = await device(here, "BOT", { store, ...(fetch && { fetch }) });
  return await patiently(here, bot.crypto?.ensureVerified(encryption));
}

Deno.test("A secret storage without an identity is used for the one that is made, and keeps what it has", async () => {
  await using here = clientStage();
  const keyId = await storageOnly(here);
  const report = await ensured(here, new MemoryStore(), { recoveryKey: KEY });
  assertEquals([report?.state, report?.backup], ["bootstrapped", "on"]);
  const { keyId: now } = await (await device(here, "OWNER")).secretStorage.info();
  assertEquals([now, await token(here)], [keyId, "hunter2"]);
});

Deno.test("Where nothing opens the secret storage no identity is made, nor prepared", async () => {
  await using here = clientStage();
  const keyId = await storageOnly(here);
  const handed: string[] = [];
  const bot = await device(here, "BOT");
  const report = await bot.crypto?.ensureVerified({ onRecoveryKey: (key) => void handed.push(key) });
  assertEquals(report, { state: "needs-secret", master: undefined, backup: undefined });
  assertEquals([handed, (await bot.secretStorage.info()).keyId], [[], keyId]);
  const codes = (await bot.crypto?.doctor() ?? []).map(({ code }) => code);
  assert(!codes.includes("private-keys-unpublished"), codes.join());
});

Deno.test("An identity that was cut off with a key that was given waits for that key", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  await assertRejects(() => ensured(here, store, { recoveryKey: KEY }, broken(here, "before")), MatrixError);
  assertEquals((await ensured(here, store, { onRecoveryKey() {} }))?.state, "needs-secret");
  assertEquals((await ensured(here, store, { recoveryKey: KEY }))?.state, "bootstrapped");
});

Deno.test("Stored private keys that can't be read are replaced by no others, by a first start nor by the one after it was cut off", async () => {
  const name = SEED_SECRETS.master;
  for (const isCutOff of [false, true]) {
    await using here = clientStage();
    const keyId = await storageOnly(here) ?? "";
    const store = new MemoryStore();
    if (isCutOff) {
      await assertRejects(
        () => ensured(here, store, { recoveryKey: KEY }, broken(here, "before")),
        MatrixError,
      );
    }
    const owner = await device(here, "OWNER");
    await plant(owner, name, { encrypted: { [keyId]: { iv: "", ciphertext: "", mac: "" } } });
    const before = await kept(owner, name);
    const error = await assertRejects(() => ensured(here, store, { recoveryKey: KEY }), SecretStorageError);
    assertEquals([error.problem, await kept(owner, name)], ["damaged", before]);
  }
});

Deno.test("Private keys that are stored for another key only are replaced by none of a first start", async () => {
  await using here = clientStage();
  await storageOnly(here);
  const owner = await device(here, "OWNER");
  const others = { encrypted: { other: { iv: "AA", ciphertext: "AA", mac: "AA" } } };
  for (const name of Object.values(SEED_SECRETS)) await plant(owner, name, others);
  const error = await assertRejects(
    () => ensured(here, new MemoryStore(), { recoveryKey: KEY }),
    SecretStorageError,
  );
  assertEquals([error.problem, await kept(owner, SEED_SECRETS.master)], ["other-keys", others]);
});

Deno.test("A device that finds private keys of the key before waits until they are stored for the key of now", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const { keyId = "" } = await first.secretStorage.info();
  const names = Object.values(SEED_SECRETS);
  const before = await Promise.all(names.map((name) => kept(first, name)));
  await plant(first, "m.secret_storage.key.again", await kept(first, `m.secret_storage.key.${keyId}`));
  await plant(first, DEFAULT_KEY, { key: "again" });
  let looks = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith(SEED_SECRETS.master) && ++looks === 4) {
      for (const [index, name] of names.entries()) {
        const { [keyId]: text } = before[index]?.encrypted as Record<string, object>;
        await alter(first, name, { encrypted: { again: text } });
      }
    }
    return await here.homeserver.fetch(request);
  };
  const next = await device(here, "NEXT", { fetch, encryption: { recoveryKey: KEY } });
  await patiently(here, next.crypto?.start());
  const { signers } = await shown(next);
  assertEquals([signers.NEXT?.length, signers.NEXT], [1, signers.FIRST]);
});

Deno.test("A new identity with a handed-out key, whose upload was not answered, is completed in the storage that was made for it", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  let recoveryKey = "";
  const options = { onRecoveryKey: (key: string) => void (recoveryKey = key) };
  await assertRejects(() => ensured(here, store, options, broken(here, "after")), MatrixError);
  const owner = await device(here, "OWNER");
  {
    using storage = await owner.secretStorage.open({ recoveryKey });
    await storage.set(TOKEN, "hunter2");
  }
  const bot = await device(here, "BOT", { store });
  await bot.crypto?.start();
  assertEquals((await bot.crypto?.ensureVerified())?.state, "bootstrapped");
  assertEquals(await token(here, recoveryKey), "hunter2");
});

Deno.test("A new identity whose upload was not answered is taken by the next start, which needs no key: the private keys are stored", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  await assertRejects(() => ensured(here, store, { recoveryKey: KEY }, broken(here, "after")), MatrixError);
  const bot = await device(here, "BOT", { store });
  await bot.crypto?.start();
  assertEquals((await bot.crypto?.ensureVerified())?.state, "bootstrapped");
});

Deno.test("A reset whose upload was not answered is completed by what opens the storage, and by nothing else", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  await ensured(here, store, { recoveryKey: KEY });
  const cut = await device(here, "BOT", { store, fetch: broken(here, "after") });
  const reset = { recoveryKey: KEY, password: PASSWORD, confirm: GO_ON };
  await assertRejects(async () => await cut.crypto?.resetIdentity(reset), MatrixError);
  await cut.close();
  assertEquals((await ensured(here, store, {}))?.state, "needs-secret");
  assertEquals((await ensured(here, store, { recoveryKey: KEY }))?.state, "bootstrapped");
});

Deno.test("A reset with the storage's own key leaves the key alone that one before has handed out", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  await storageOnly(here);
  await ensured(here, store, { recoveryKey: KEY });
  const cut = await device(here, "BOT", { store, fetch: broken(here, "before") });
  const reset = { password: PASSWORD, confirm: GO_ON };
  await assertRejects(
    async () => await cut.crypto?.resetIdentity({ ...reset, onRecoveryKey() {} }),
    MatrixError,
  );
  await cut.close();
  const bot = await device(here, "BOT", { store });
  const report = await patiently(here, bot.crypto?.resetIdentity({ ...reset, recoveryKey: KEY }));
  assertEquals([report?.state, await token(here)], ["reset", "hunter2"]);
  assertEquals(
    (await ensured(here, new MemoryStore(), { recoveryKey: KEY }).catch((error) => error)).problem,
    undefined,
  );
});

Deno.test("A passphrase that opens the storage keeps the new identity in it", async () => {
  await using here = clientStage();
  const passphrase = "correct horse battery staple";
  const bot = await device(here, "BOT", { encryption: { passphrase } });
  await bot.crypto?.start();
  const { keyId } = await bot.secretStorage.info();
  const report = await bot.crypto?.resetIdentity({ passphrase, password: PASSWORD, confirm: GO_ON });
  assertEquals([report?.state, (await bot.secretStorage.info()).keyId], ["reset", keyId]);
});

Deno.test("A reset that the server refuses is given up, and one that it fails at may have been done", async () => {
  for (const [status, isGivenUp] of [[400, true], [499, true], [500, false]] as const) {
    await using here = clientStage();
    const store = new MemoryStore();
    await ensured(here, store, { recoveryKey: KEY });
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith(UPLOAD)) return await here.homeserver.fetch(request);
      return Response.json({ errcode: "M_UNKNOWN", error: "no" }, { status });
    };
    const bot = await device(here, "BOT", { store, fetch });
    const reset = { recoveryKey: KEY, password: PASSWORD, confirm: GO_ON };
    await assertRejects(async () => await bot.crypto?.resetIdentity(reset), MatrixError);
    const codes = (await bot.crypto?.doctor() ?? []).map(({ code }) => code);
    assertEquals(codes.includes("private-keys-unpublished"), !isGivenUp);
  }
});

Deno.test("An upload that fails, and is not refused for want of a password, is made once", async () => {
  for (const [status, password] of [[500, PASSWORD], [401, undefined]] as const) {
    await using here = clientStage();
    let uploads = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith(UPLOAD)) return await here.homeserver.fetch(request);
      uploads++;
      const challenge = { flows: [{ stages: ["m.login.password"] }], params: {}, session: "1" };
      return Response.json(status === 401 ? challenge : { errcode: "M_UNKNOWN" }, { status });
    };
    const encryption = { recoveryKey: KEY, ...(password && { password }) };
    await assertRejects(() => ensured(here, new MemoryStore(), encryption, fetch), MatrixRequestError);
    assertEquals(uploads, 1);
  }
});

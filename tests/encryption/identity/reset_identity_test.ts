import { assert, assertEquals, assertRejects, fail } from "@std/assert";
import { type Client, MatrixError, MemoryStore, ValueError } from "@greenroom/matrix";
import { AuthenticationNeededError, OwnIdentityError, SecretStorageError } from "@greenroom/matrix/errors";
import type { CrossSigningKey, IdentityLoss } from "@greenroom/matrix/types";
import { type FaultPlan, type OperationLog, TestProcess } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { kept } from "../secrets/scene.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { FakeUser, type SigningKey } from "../../crypto/support/fake_user.ts";
import { ticking } from "./crash_scene.ts";
import { ALICE, changes, device, KEY, OTHER_KEY, PASSWORD, patiently, selfSigning, shown } from "./scene.ts";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";

const GO_ON = () => true;

/** A bot that is verified. */
async function verifiedBot(here: ClientStage, store = new MemoryStore()): Promise<Client> {
  const bot = await device(here, "BOT", { store, encryption: { recoveryKey: KEY } });
  await bot.crypto?.start();
  return bot;
}

/** The same, and another device that its identity has signed. */
async function verified(here: ClientStage): Promise<[bot: Client, other: Client]> {
  const bot = await verifiedBot(here);
  const other = await device(here, "OTHER", { encryption: { recoveryKey: KEY } });
  await other.crypto?.start();
  return [bot, other];
}

/** Has the signature of a device uploaded, if that is left to do. */
async function signed(client: Client): Promise<Record<string, string[]>> {
  await client.crypto?.idle();
  return (await shown(client)).signers;
}

/** Whether a device has the private keys of the identity that is published. */
async function hasKeys(client: Client): Promise<boolean> {
  const found = await client.crypto?.doctor() ?? [];
  return found.some(({ code }) => code === "private-keys-here");
}

Deno.test("An identity is replaced with the same recovery key, which opens the new one and all other secrets", async () => {
  await using here = clientStage();
  const [bot] = await verified(here);
  const before = (await shown(bot)).master ?? "";
  const unsigned = await device(here, "UNSIGNED");
  await unsigned.crypto?.start(); // which loses nothing
  using storage = await bot.secretStorage.open({ recoveryKey: KEY });
  await storage.set("com.example.token", "hunter2");
  const told: IdentityLoss[] = [];
  const report = await bot.crypto?.resetIdentity({
    recoveryKey: KEY,
    password: PASSWORD,
    confirm: (loss) => told.push(loss) > 0,
  });
  const { master } = await shown(bot);
  assertEquals(report, { state: "reset", master, backup: "on" });
  assert(master !== before);
  assertEquals(told, [{ master: before, devices: ["OTHER"], secretStorage: "kept" }]);
  assert((await signed(bot)).BOT?.includes(await selfSigning(bot)));
  assertEquals(await storage.get("com.example.token"), "hunter2");
  const next = await device(here, "NEXT", { encryption: { recoveryKey: KEY } });
  await next.crypto?.start();
  assertEquals((await signed(next)).NEXT, [await selfSigning(bot)]);
});

Deno.test("An identity is replaced with a new recovery key where the old one is lost", async () => {
  await using here = clientStage();
  const [bot] = await verified(here);
  const handed: string[] = [];
  const report = await bot.crypto?.resetIdentity({
    onRecoveryKey: (key) => void handed.push(key),
    password: PASSWORD,
    confirm: ({ secretStorage }) => secretStorage === "replaced",
  });
  assertEquals([report?.state, handed.length], ["reset", 1]);
  const next = await device(here, "NEXT", { encryption: { recoveryKey: handed[0] } });
  await next.crypto?.start();
  assertEquals((await signed(next)).NEXT, [await selfSigning(bot)]);
});

Deno.test("After a reset with a new recovery key nothing is left beside the new private keys, nor beside the keys of backup and dehydrated device", async () => {
  await using here = clientStage();
  const bot = await device(here, "BOT", { encryption: { recoveryKey: KEY, dehydratedDevice: true } });
  await bot.crypto?.start();
  let recoveryKey = "";
  const reset = { password: PASSWORD, confirm: GO_ON, dehydratedDevice: true };
  await bot.crypto?.resetIdentity({ ...reset, onRecoveryKey: (key) => void (recoveryKey = key) });
  using storage = await bot.secretStorage.open({ recoveryKey });
  const names = [...Object.values(SEED_SECRETS), "m.megolm_backup.v1", "org.matrix.msc3814"];
  for (const name of names) {
    assertEquals(Object.keys((await kept(bot, name)).encrypted as object), [storage.keyId], name);
    assert(await storage.get(name), name);
  }
});

Deno.test("The private keys of a new identity are stored once, as soon as it is published, before anything else is", async () => {
  await using here = clientStage();
  const { fetch, made } = changes(here);
  const bot = await device(here, "BOT", { fetch, encryption: { recoveryKey: KEY } });
  await bot.crypto?.start();
  made.length = 0;
  await bot.crypto?.resetIdentity({ onRecoveryKey() {}, password: PASSWORD, confirm: GO_ON });
  const secrets = /device_signing|m\.cross_signing\.\w+|m\.megolm_backup/;
  const seen = made.flatMap((request) => secrets.exec(request) ?? []);
  const stored = seen.splice(2, 3).sort(); // they are stored at once, in any order
  assertEquals([...seen.splice(0, 2), ...stored, ...seen], [
    ...["device_signing", "device_signing"], // the first is refused: it takes the password
    "m.cross_signing.master",
    "m.cross_signing.self_signing",
    "m.cross_signing.user_signing",
    "m.megolm_backup",
  ]);
});

Deno.test("A reset of an account without an identity makes one, and asks nothing", async () => {
  await using here = clientStage();
  const bot = await device(here, "BOT");
  await bot.crypto?.start();
  const confirm = () => fail("There is nothing to lose");
  const report = await bot.crypto?.resetIdentity({ recoveryKey: KEY, confirm });
  assertEquals([report?.state, report?.master], ["bootstrapped", (await shown(bot)).master]);
});

Deno.test("A reset without a backup makes none, whichever storage it makes", async () => {
  await using here = clientStage();
  const bot = await device(here, "BOT", { encryption: { recoveryKey: KEY, backup: false } });
  await bot.crypto?.start();
  const options = { onRecoveryKey() {}, password: PASSWORD, confirm: GO_ON, backup: false };
  assertEquals((await bot.crypto?.resetIdentity(options))?.backup, undefined);
  assertEquals((await bot.crypto?.backup.info())?.problem, "absent");
});

Deno.test("A reset of an identity without a secret storage replaces none, and makes one with the key that was given", async () => {
  await using here = clientStage();
  const bot = await device(here, "BOT");
  const before = new FakeUser(ALICE).crossSign();
  const { master, selfSigning, userSigning } = before;
  assert(master !== undefined && selfSigning !== undefined && userSigning !== undefined);
  const key = (of: SigningKey, usage: string) =>
    before.crossSigningKey(of, usage) as unknown as CrossSigningKey;
  await bot.raw.uploadCrossSigningKeys({
    masterKey: key(master, "master"),
    selfSigningKey: key(selfSigning, "self_signing"),
    userSigningKey: key(userSigning, "user_signing"),
  });
  await bot.crypto?.start();
  const told: IdentityLoss[] = [];
  const confirm = (loss: IdentityLoss) => told.push(loss) > 0;
  const report = await bot.crypto?.resetIdentity({ recoveryKey: KEY, password: PASSWORD, confirm });
  assertEquals(report?.state, "reset");
  assertEquals(told.map(({ master, secretStorage }) => [master, secretStorage]), [
    [master.publicKey, "kept"],
  ]);
  const next = await device(here, "NEXT", { encryption: { recoveryKey: KEY } });
  await next.crypto?.start();
  assertEquals((await next.crypto?.ensureVerified())?.state, "verified");
  assertEquals((await signed(next)).NEXT?.length, 1);
});

Deno.test("A reset that is declined, refused or can't be kept changes nothing", async () => {
  await using here = clientStage();
  const [bot, other] = await verified(here);
  const before = await shown(bot);
  const storage = await bot.secretStorage.info();
  const reset = async (options: object) =>
    await other.crypto?.resetIdentity({ password: PASSWORD, confirm: GO_ON, ...options });
  for (const said of [false, undefined, "no"]) {
    assertEquals((await reset({ recoveryKey: KEY, confirm: () => said }))?.state, "declined");
  }
  await assertRejects(() => reset({}), ValueError, "nothing would keep");
  await assertRejects(() => reset({ recoveryKey: OTHER_KEY }), SecretStorageError);
  const full = () => Promise.reject(new TypeError("the disk is full"));
  await assertRejects(() => reset({ onRecoveryKey: full }), OwnIdentityError, "nobody has");
  assertEquals([await shown(bot), await bot.secretStorage.info()], [before, storage]);
  assert(await hasKeys(other));
  await assertRejects(() => reset({ recoveryKey: KEY, password: undefined }), AuthenticationNeededError);
  assertEquals(await shown(bot), before);
  assert(await hasKeys(other));
  assertEquals((await other.crypto?.ensureVerified())?.state, "verified");
  const [seen] = await other.crypto?.getDevices("@alice:localhost") ?? [];
  assertEquals([seen?.deviceId, seen?.trust], ["BOT", "verified"]);
});

Deno.test("A new identity that the server has taken, with the answer lost, is not given up: the next call completes it", async () => {
  const answers = [
    () => Response.json({ errcode: "M_UNKNOWN", error: "Bad gateway" }, { status: 502 }),
    () => new Response(null, { status: 304 }),
    () => {
      throw new TypeError("connection reset");
    },
  ];
  for (const answer of answers) {
    await using here = clientStage();
    const store = new MemoryStore();
    const bot = await verifiedBot(here, store);
    const before = (await shown(bot)).master;
    await bot.close();
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await here.homeserver.fetch(request);
      return response.ok && request.url.endsWith("/keys/device_signing/upload") ? answer() : response;
    };
    const cut = await device(here, "BOT", { store, fetch });
    const reset = async () =>
      await cut.crypto?.resetIdentity({ recoveryKey: KEY, password: PASSWORD, confirm: GO_ON });
    await assertRejects(reset, MatrixError);
    const { master } = await shown(cut);
    assert(master !== before);
    const { state, master: now } = await cut.crypto?.ensureVerified({ recoveryKey: KEY }) ?? {};
    assertEquals([state, now], ["bootstrapped", master]);
    assert((await signed(cut)).BOT?.includes(await selfSigning(cut)));
  }
});

Deno.test("A device whose new identity is replaced at once leaves the private keys that are stored for the other", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL");
  let next: "identity" | "reset" | undefined = "identity";
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (next === "reset" && pathname.endsWith("/room_keys/version")) {
      next = undefined;
      await rival.crypto?.resetIdentity({ recoveryKey: KEY, password: PASSWORD, confirm: GO_ON });
    }
    if (pathname.endsWith("/keys/device_signing/upload")) next = "reset";
    return await here.homeserver.fetch(request);
  };
  const first = await device(here, "FIRST", { fetch, encryption: { recoveryKey: KEY } });
  await patiently(here, first.crypto?.start());
  assertEquals(next, undefined);
  const { master } = await rival.crypto?.ensureVerified() ?? {};
  const third = await device(here, "NEXT", { encryption: { recoveryKey: KEY } });
  await patiently(here, third.crypto?.start());
  assertEquals((await shown(third)).master, master);
  const signers = await signed(third);
  assertEquals(signers.NEXT, [await selfSigning(third)]);
  assert(signers.FIRST?.includes(await selfSigning(third)));
});

Deno.test("After a crash at any commit or request of a reset the next start ends verified, with a key that opens what is published", async () => {
  for (const way of ["kept", "replaced"] as const) {
    const story = async (plan: FaultPlan): Promise<OperationLog> => {
      await using here = clientStage();
      const store = new MemoryStore();
      await (await verifiedBot(here, store)).close();
      let recoveryKey = KEY;
      const process = new TestProcess(plan);
      const options = { store: process.store(store), lease: { duration: 1_000 }, encryption: {} };
      const client = await device(here, "BOT", { ...options, fetch: process.fetch(here.homeserver.fetch) });
      const keep = (key: string) => void (recoveryKey = key);
      const keeps = way === "kept" ? { recoveryKey: KEY } : { onRecoveryKey: keep };
      const working = async () =>
        await client.crypto?.resetIdentity({ ...keeps, password: PASSWORD, confirm: GO_ON });
      await ticking(here, working()).catch((error) => assert(!process.isRunning, String(error)));
      await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't

      const encryption = way === "kept" ? { recoveryKey: KEY } : { onRecoveryKey: keep };
      const again = await device(here, "BOT", { store, lease: options.lease, encryption });
      await ticking(here, again.crypto?.start() ?? Promise.reject());
      assertEquals((await again.crypto?.ensureVerified())?.state, "verified", JSON.stringify(plan));
      await again.crypto?.idle();
      const next = await device(here, "NEXT");
      // A key that was handed out opens nothing if the identity was not replaced: then the old one does.
      const opens = async (key: string) => await next.crypto?.ensureVerified({ recoveryKey: key });
      const report = await opens(recoveryKey).catch(() => opens(KEY));
      assertEquals([report?.state, report?.backup], ["verified", "on"], JSON.stringify(plan));
      assert((await signed(again)).BOT?.includes(await selfSigning(again)));
      await again.close();
      return process.log;
    };
    // Commits are the same whatever becomes of the secret storage.
    await atEachCrashPoint(story, { operations: way === "kept" ? ["commit", "request"] : ["request"] });
  }
});

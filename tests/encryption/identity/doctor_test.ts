import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import type { CryptoFinding, CryptoFindingCode } from "@greenroom/matrix/types";
import { fileOf, newEntries, PASSPHRASE } from "../../crypto/key_files/stage.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { changed, device, type DeviceOptions, KEY, OTHER_KEY, PASSWORD, patiently } from "./scene.ts";

/** A device that has been started. */
async function started(here: ClientStage, deviceId: string, options: DeviceOptions = {}): Promise<Client> {
  const client = await device(here, deviceId, { encryption: { recoveryKey: KEY }, ...options });
  await client.crypto?.start();
  await client.crypto?.idle();
  return client;
}

/** What the doctor finds, by code. */
async function found(
  client: Client,
  options?: { recoveryKey?: string; passphrase?: string },
): Promise<Map<CryptoFindingCode, CryptoFinding>> {
  const findings = await client.crypto?.doctor(options) ?? [];
  for (const { level, message, mend } of findings) {
    assert(message.endsWith("."), message);
    assertEquals(mend === undefined, level === "ok", message);
    assert(!`${message}${mend}`.includes(KEY), "no secret");
  }
  return new Map(findings.map((finding) => [finding.code, finding]));
}

/** The codes of what is not well. */
function complaints(findings: ReadonlyMap<CryptoFindingCode, CryptoFinding>): CryptoFindingCode[] {
  return [...findings.values()].filter(({ level }) => level !== "ok").map(({ code }) => code);
}

/** A server that says the time, some way off. */
function withTime(here: ClientStage, offset: number): typeof fetch {
  return async (input, init) => {
    const response = await here.homeserver.fetch(input, init);
    response.headers.set("date", new Date(here.clock.now() + offset).toUTCString());
    return response;
  };
}

Deno.test("A bot that was given a recovery key and a store has nothing to complain of", async () => {
  await using here = clientStage();
  const fetch = withTime(here, 0);
  const bot = await started(here, "BOT", { fetch, store: new MemoryStore() });
  const findings = await found(bot);
  assertEquals([...findings.keys()], [
    "device-signed",
    "identity-verified",
    "private-keys-here",
    "secret-storage-opens",
    "stored-keys-match",
    "backup-on",
    "one-time-keys-left",
    "fallback-key-published",
    "clock-right",
    "store-kept",
  ]);
  assertEquals(complaints(findings), []);
  const { master = "" } = await bot.crypto?.ensureVerified() ?? {};
  assertEquals(findings.get("identity-verified")?.facts, { master });
  assertEquals(findings.get("backup-on")?.facts, { version: "1", count: 0 });
  assertEquals(findings.get("one-time-keys-left")?.facts, { count: 50 });
});

Deno.test("Of a bot that was given nothing the doctor finds what is missing", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT", { encryption: {} });
  const findings = await found(bot);
  assertEquals([...findings.keys()], [
    "device-unsigned",
    "identity-absent",
    "secret-storage-absent",
    "backup-absent",
    "one-time-keys-left",
    "fallback-key-published",
    "store-volatile",
  ]);
  assertEquals(complaints(findings), [
    "device-unsigned",
    "identity-absent",
    "secret-storage-absent",
    "backup-absent",
    "store-volatile",
  ]);
});

Deno.test("Of a device beside a verified one the doctor finds that nothing was given that opens the storage, and what it opens", async () => {
  await using here = clientStage();
  await started(here, "FIRST");
  const second = await started(here, "SECOND", { encryption: {} });
  const locked = await found(second);
  assertEquals(complaints(locked), [
    "device-unsigned",
    "identity-unproven",
    "private-keys-missing",
    "backup-untrusted",
    "store-volatile",
  ]);
  assert(locked.has("secret-storage-locked"));
  const opened = await found(second, { recoveryKey: KEY });
  assert(opened.has("secret-storage-opens") && opened.has("stored-keys-match"));
  assert(opened.has("private-keys-missing"), "it takes nothing over");
});

Deno.test("The doctor finds that the secret storage does not open, and why", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const problem = async (options: Parameters<typeof found>[1]) =>
    (await found(bot, options)).get("secret-storage-unusable")?.facts?.problem;
  assertEquals(await problem({ recoveryKey: OTHER_KEY }), "wrong-key");
  assertEquals(await problem({ recoveryKey: KEY.replace(/.$/, "x") }), "mistyped");
  assertEquals(await problem({ passphrase: "correct horse" }), "no-passphrase");
});

Deno.test("The doctor finds stored private keys that are missing or of another identity", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  using storage = await bot.secretStorage.open({ recoveryKey: KEY });
  await storage.delete("m.cross_signing.user_signing");
  const incomplete = (await found(bot)).get("stored-keys-incomplete");
  assert(incomplete?.message.includes("userSigning"), incomplete?.message);
  await storage.set("m.cross_signing.master", btoa("x".repeat(32)).replace("=", ""));
  const mismatch = (await found(bot)).get("stored-keys-mismatch");
  assert(mismatch?.message.includes("master"), mismatch?.message);
});

Deno.test("The doctor finds that the own identity was replaced", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const other = await started(here, "OTHER");
  await other.crypto?.resetIdentity({ recoveryKey: KEY, password: PASSWORD, confirm: () => true });
  const findings = await found(bot);
  assert(findings.has("identity-changed") && findings.has("private-keys-missing"));
  assertEquals(findings.get("identity-changed")?.level, "error");
});

Deno.test("The doctor finds an identity that is being made", async () => {
  await using here = clientStage();
  const refusing: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("/device_signing/upload")) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_UNKNOWN", error: "Internal" }, { status: 500 });
  };
  const bot = await device(here, "BOT", { fetch: refusing });
  await bot.crypto?.ensureVerified({ recoveryKey: KEY }).catch(() => {});
  assert((await found(bot)).has("private-keys-unpublished"));
});

Deno.test("The doctor finds backups that are not used, can't be read, are unusable, or not wanted", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const young = await started(here, "YOUNG", {
    fetch: changed(here, "/room_keys/version", (body) => body.algorithm = "org.example.other"),
  });
  assert((await found(young)).has("backup-unusable"));
  await young.close();
  using storage = await bot.secretStorage.open({ recoveryKey: KEY });
  await bot.crypto?.backup.reset({ onRecoveryKey() {} });
  const stranger = await patiently(here, started(here, "STRANGER"));
  assert((await patiently(here, found(stranger))).has("backup-untrusted"));
  await bot.crypto?.backup.delete({ storage });
  assert((await found(bot)).has("backup-unwanted"));
});

Deno.test("The doctor finds few one-time keys, and a missing fallback key", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT", {
    fetch: changed(here, "/keys/upload", (body) => body.one_time_key_counts = { signed_curve25519: 9 }),
  });
  const scarce = await found(bot);
  const few = scarce.get("one-time-keys-few");
  assertEquals([few?.level, few?.facts], ["warning", { count: 9 }]);
  assert(!scarce.has("one-time-keys-left"));
  const mute: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const isUpload = request.url.includes("/keys/upload") && (await request.clone().text()).length > 2;
    if (!isUpload) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_UNKNOWN", error: "Internal" }, { status: 500 });
  };
  const unpublished = await device(here, "UNPUBLISHED", { fetch: mute });
  await unpublished.crypto?.start().catch(() => {});
  const findings = [...(await found(unpublished)).keys()];
  assert(findings.includes("device-missing") && findings.includes("fallback-key-missing"), `${findings}`);
  assert(!findings.includes("fallback-key-published"));
});

Deno.test("The doctor finds a clock that is wrong, and none where the server says no time", async () => {
  await using here = clientStage();
  for (const [offset, word] of [[-120_000, "ahead of"], [120_000, "behind"]] as const) {
    const bot = await started(here, `BOT${word.slice(0, 1)}`, { fetch: withTime(here, offset) });
    const { level, message } = (await found(bot)).get("clock-wrong") ?? {};
    assertEquals(level, "warning");
    assert(message?.includes(`120 seconds ${word}`) || message?.includes(`119 seconds ${word}`), message);
  }
  const bot = await started(here, "TIMELESS");
  const findings = await found(bot);
  assert(!findings.has("clock-right") && !findings.has("clock-wrong"));
});

Deno.test("The doctor finds that the server has other keys of the device", async () => {
  await using here = clientStage();
  await started(here, "BOT", { store: new MemoryStore() });
  let isHidden = false;
  const fetch = changed(here, "/keys/query", (body) => isHidden && (body.device_keys = {}));
  const twin = await device(here, "BOT", { store: new MemoryStore(), fetch });
  await twin.crypto?.start().catch(() => {});
  for (let time = 0; time < 2; time++) {
    assertEquals((await found(twin)).get("device-conflict")?.level, "error");
    isHidden = true; // what was seen once ends the device
  }
});

Deno.test("The doctor finds no conflict for that the server does not answer once", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const match = { path: "/keys/query" };
  using _fault = here.homeserver.faults.add({ kind: "status", status: 500, times: 1, match });
  const findings = await found(bot);
  assert(findings.has("device-signed"), [...findings.keys()].join());
});

Deno.test("The doctor says what it could not check when the server does not answer, and rejects nothing", async () => {
  await using here = clientStage();
  let isDown = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (isDown) throw new TypeError("refused");
    return await here.homeserver.fetch(input, init);
  };
  const bot = await started(here, "BOT", { fetch, store: new MemoryStore() });
  isDown = true;
  const findings = await bot.crypto?.doctor() ?? [];
  const unchecked = findings.filter(({ code }) => code === "not-checked").map(({ message }) => message);
  for (const what of ["own device", "secret storage", "backup", "one-time keys", "clock"]) {
    assert(unchecked.some((message) => message.includes(what)), what);
  }
  assert(findings.some(({ code }) => code === "store-kept"));
});

Deno.test("The doctor finds that another process has taken the device", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const bot = await started(here, "BOT", { store });
  for await (const { key } of store.list([])) {
    if (key.at(-1) === "owner") await store.commit([{ type: "set", key, value: { owner: "another" } }], []);
  }
  const lost = (await found(bot)).get("store-lost");
  assertEquals(lost?.level, "error");
  await bot.done.catch(() => {}); // it has ended by that
});

Deno.test("The doctor finds a backup that is followed without its private key, until that is in the secret storage", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const other = await started(here, "OTHER");
  let kept = "";
  await other.crypto?.backup.reset({ onRecoveryKey: (key) => void (kept = key) });
  await bot.crypto?.importKeys(await fileOf(newEntries(3)), { passphrase: PASSPHRASE });
  await bot.crypto?.idle(); // the server does not take them for the version of before
  const unreadable = (await found(bot)).get("backup-unreadable");
  assertEquals([unreadable?.level, unreadable?.facts], ["warning", { count: 3, version: "2" }]);
  await bot.crypto?.backup.trust({ recoveryKey: kept }); // the first mend
  assertEquals((await found(bot)).get("backup-on")?.facts, { count: 3, version: "2" });

  using storage = await other.secretStorage.open({ recoveryKey: KEY });
  await other.crypto?.backup.reset({ storage });
  await bot.crypto?.importKeys(await fileOf(newEntries(2)), { passphrase: PASSPHRASE });
  await bot.crypto?.idle();
  assert((await found(bot)).has("backup-unreadable"));
  await bot.crypto?.ensureVerified(); // the second
  assertEquals((await found(bot)).get("backup-on")?.facts, { count: 5, version: "3" });
});

Deno.test("The doctor finds that keys are on their way into the backup, until they are there", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const held = here.homeserver.faults.add({
    kind: "hold",
    match: { method: "PUT", path: "/room_keys/keys" },
  });
  await bot.crypto?.importKeys(await fileOf(newEntries(3)), { passphrase: PASSPHRASE });
  const behind = (await found(bot)).get("backup-behind");
  assertEquals([behind?.level, behind?.facts], ["ok", { count: 0, version: "1" }]);
  held.release();
  await bot.crypto?.idle();
  assertEquals((await found(bot)).get("backup-on")?.facts, { count: 3, version: "1" });
});

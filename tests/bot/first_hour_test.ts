import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { type Client, type Logger, MatrixError, MemoryStore, ValueError } from "@greenroom/matrix";
import { OwnIdentityError } from "@greenroom/matrix/errors";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { Homeserver } from "@greenroom/matrix/testing";
import { optionsFromEnv } from "../../src/bot/env.ts";

/** A logger that keeps warnings. */
function warningsOf(): { readonly log: Logger; readonly warnings: string[] } {
  const warnings: string[] = [];
  const none = () => {};
  return {
    warnings,
    log: { debug: none, info: none, warn: (text) => void warnings.push(text), error: none },
  };
}

/** A bot as the environment has it. */
function botOf(homeserver: Homeserver, env: Record<string, string>, more: Partial<BotOptions> = {}): Bot {
  const { baseUrl: MATRIX_URL, fetch } = homeserver;
  const all: Record<string, string> = { MATRIX_URL, ...env };
  return new Bot(optionsFromEnv((name) => all[name], { fetch, log: false, ...more }));
}

/** Has a bot live until it has heard what there was. */
async function live(bot: Bot): Promise<Client> {
  const done = bot.start({ signals: false });
  await Promise.race([bot.client.ready, done]);
  await bot.stop();
  await done;
  return bot.client;
}

Deno.test("MATRIX_RECOVERY_KEY_FILE: the first start makes the key and its file, for its owner alone; the next reads it", async () => {
  await using homeserver = new Homeserver();
  homeserver.createUser("bot", { password: "tea" });
  const folder = await Deno.makeTempDir();
  try {
    const env = {
      MATRIX_USER: "@bot:localhost",
      MATRIX_PASSWORD: "tea",
      MATRIX_RECOVERY_KEY_FILE: `${folder}/recovery.key`,
    };
    const devices: (string | undefined)[] = [];
    for (let life = 0; life < 2; life++) { // each has lost its disk but for the file
      await using bot = botOf(homeserver, env, { store: new MemoryStore() });
      const { deviceId } = await live(bot);
      devices.push(deviceId);
      const findings = await bot.client.crypto?.doctor() ?? [];
      assertEquals(findings.find(({ code }) => code.startsWith("device-"))?.code, "device-signed");
    }
    assertEquals(new Set(devices).size, 2);
    const path = env.MATRIX_RECOVERY_KEY_FILE;
    assert(/^Es\w[\w ]+\n$/.test(await Deno.readTextFile(path)));
    if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assertEquals(homeserver.requests.filter("POST", "/keys/device_signing/upload").length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Nothing is published before the recovery key is in its file; when it can be, the same start completes it", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: MATRIX_TOKEN } = homeserver.createUser("bot");
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/secrets/recovery.key`;
    const env = { MATRIX_TOKEN, MATRIX_RECOVERY_KEY_FILE: path };
    const store = new MemoryStore();
    await using first = botOf(homeserver, env, { store });
    const error = await assertRejects(() => live(first));
    const causes: unknown[] = [];
    for (let each: unknown = error; each instanceof Error; each = each.cause) causes.push(each);
    assert(causes.some((each) => each instanceof OwnIdentityError));
    assert(
      causes.some((each) =>
        each instanceof ValueError && /MATRIX_RECOVERY_KEY_FILE.*folder/.test(each.message)
      ),
    );
    assertEquals(homeserver.requests.filter("POST", "/keys/device_signing/upload").length, 0);
    await first.close();
    await Deno.mkdir(`${folder}/secrets`);
    await Deno.writeTextFile(path, ""); // a start was cut off right after it had made the file
    await using second = botOf(homeserver, env, { store });
    await live(second);
    await second.close();
    const key = (await Deno.readTextFile(path)).trim();
    await using third = botOf(homeserver, env, { store, log: false });
    assertEquals((await third.client.crypto?.ensureVerified())?.state, "verified");
    assert(key.length > 40);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A recovery key in the file is never replaced, and the file is not beside MATRIX_RECOVERY_KEY", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const MATRIX_RECOVERY_KEY_FILE = `${folder}/recovery.key`;
    const env: Record<string, string> = {
      MATRIX_URL: "https://example.org",
      MATRIX_TOKEN: "t",
      MATRIX_RECOVERY_KEY_FILE,
    };
    const read = (more: Record<string, string> = {}) =>
      optionsFromEnv((name) => more[name] ?? env[name], {}).encryption as {
        onRecoveryKey(key: string): void;
      };
    const early = read();
    await Deno.writeTextFile(MATRIX_RECOVERY_KEY_FILE, "EsT mine\n");
    await assertRejects(async () => await early.onRecoveryKey("EsU other"), ValueError, "another one by now");
    await early.onRecoveryKey("EsT mine");
    assertEquals(await Deno.readTextFile(MATRIX_RECOVERY_KEY_FILE), "EsT mine\n");
    const { message } = assertThrows(() => read({ MATRIX_RECOVERY_KEY: "EsT" }), ValueError);
    assert(message.includes("MATRIX_RECOVERY_KEY_FILE are both set"), message);
    const path = folder;
    assertThrows(() => read({ MATRIX_RECOVERY_KEY_FILE: path }), ValueError, "MATRIX_RECOVERY_KEY_FILE");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("An encrypted bot without a recovery key is told at its start what Element does, and the way out", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: MATRIX_TOKEN } = homeserver.createUser("bot");
  const { log, warnings } = warningsOf();
  await using bot = botOf(homeserver, { MATRIX_TOKEN }, { log, store: new MemoryStore(), encryption: true });
  await live(bot);
  assertEquals(warnings.length, 1);
  assert(/Element.*can't read.*MATRIX_RECOVERY_KEY_FILE=/.test(warnings[0] ?? ""), warnings[0]);
  const folder = await Deno.makeTempDir();
  try { // another bot of the account makes the key: then the account's is wanted
    const { accessToken } = homeserver.createUser("other", { password: "tea" });
    const env = { MATRIX_TOKEN: accessToken, MATRIX_RECOVERY_KEY_FILE: `${folder}/key` };
    await using first = botOf(homeserver, env, { store: new MemoryStore() });
    await live(first);
    const again = warningsOf();
    const account = { MATRIX_USER: "@other:localhost", MATRIX_PASSWORD: "tea" };
    await using second = botOf(homeserver, account, {
      log: again.log,
      store: new MemoryStore(),
      encryption: true,
    });
    await live(second);
    assert(
      /account has a recovery key.*MATRIX_RECOVERY_KEY /.test(again.warnings.join()),
      again.warnings.join(),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A token without a store: the first start says that the second is refused", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: MATRIX_TOKEN } = homeserver.createUser("bot");
  const folder = await Deno.makeTempDir();
  try {
    const env = { MATRIX_TOKEN, MATRIX_RECOVERY_KEY_FILE: `${folder}/key` };
    const { log, warnings } = warningsOf();
    await using bot = botOf(homeserver, env, { log, store: undefined });
    await live(bot);
    assertEquals(warnings.filter((each) => each.includes("DeviceConflictError")).length, 1);
    await bot.close();
    await using next = botOf(homeserver, env, { store: undefined });
    const error = await assertRejects(() => live(next));
    assert(String(error).includes("log in again"), String(error));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("An application service that encrypts without a store says so at its start", async () => {
  await using homeserver = new Homeserver();
  const url = "http://localhost:9000";
  const of = { id: "shop", url, serverName: "localhost", encryption: true };
  const registration = createRegistration(of);
  const { log, warnings } = warningsOf();
  const { baseUrl, fetch } = homeserver;
  await using appservice = new Appservice({
    ...{ registration, serverName: "localhost", baseUrl, fetch, log, encryption: true },
  });
  homeserver.addAppservice(registration, appservice.fetch);
  const done = appservice.start();
  await appservice.stop();
  await done;
  assertEquals(warnings.filter((each) => each.includes("DeviceConflictError")).length, 1);
});

Deno.test("What the server refuses of the environment's values names their variables, and is said once", async () => {
  await using homeserver = new Homeserver();
  homeserver.createUser("bot", { password: "tea" });
  homeserver.createUser("other", { password: "tea" });
  const keys: string[] = [];
  for (const name of ["bot", "other"]) {
    const account = { MATRIX_USER: `@${name}:localhost`, MATRIX_PASSWORD: "tea" };
    const encryption = { onRecoveryKey: (key: string) => void keys.push(key) };
    await using bot = botOf(homeserver, account, { store: new MemoryStore(), encryption });
    await live(bot);
  }
  const [, another = ""] = keys;
  const right = { MATRIX_USER: "@bot:localhost", MATRIX_PASSWORD: "tea" };
  const wrong: [env: Record<string, string>, named: string][] = [
    [{ MATRIX_TOKEN: "syt_none" }, "MATRIX_TOKEN"],
    [{ ...right, MATRIX_PASSWORD: "coffee" }, "MATRIX_USER and MATRIX_PASSWORD"],
    [{ ...right, MATRIX_USER: "@bto:localhost" }, "MATRIX_USER and MATRIX_PASSWORD"],
    [{ ...right, MATRIX_RECOVERY_KEY: another }, "MATRIX_RECOVERY_KEY"],
    [{ ...right, MATRIX_RECOVERY_KEY: "EsT no key" }, "MATRIX_RECOVERY_KEY"],
  ];
  for (const [env, named] of wrong) {
    const { log, warnings } = warningsOf();
    await using bot = botOf(homeserver, env, { store: new MemoryStore(), log });
    const error = await assertRejects(() => live(bot), MatrixError);
    assertStringIncludes(error.message, named);
    assertEquals(warnings, []);
  }
});

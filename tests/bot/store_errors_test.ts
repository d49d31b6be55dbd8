import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { DeviceConflictError, StoreError, StoreFormatError } from "@greenroom/matrix/errors";
import { Bot } from "@greenroom/matrix/bot";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Homeserver } from "@greenroom/matrix/testing";
import { LazyStore, optionsFromEnv } from "../../src/bot/env.ts";

/** A store that fails when it is used first, as one that is opened late. */
function failing(error: StoreError): MemoryStore {
  return Object.assign(new MemoryStore(), { getMany: () => Promise.reject(error) });
}

Deno.test("A store that can't be opened: file, variable and mend, and nothing of actors, however it is met", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken: MATRIX_TOKEN } = homeserver.createUser("bot");
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/text.db`,
      "no database at all, but long enough to look like one".repeat(9),
    );
    for (const [path, kind] of [["nowhere/bot.db", StoreError], ["text.db", StoreFormatError]] as const) {
      const MATRIX_STORE = `${folder}/${path}`;
      const env: Record<string, string> = { MATRIX_URL: baseUrl, MATRIX_TOKEN, MATRIX_STORE };
      const bot = () => new Bot(optionsFromEnv((name) => env[name], { fetch, log: false }));
      for (const meet of [() => bot().start({ signals: false }), () => bot().syncOnce()]) {
        const error = await assertRejects(meet, kind);
        assert(error.message.includes("MATRIX_STORE") && error.message.includes(path), error.message);
        assert(!/actor/i.test(error.message), error.message);
      }
      await assertRejects(() => SqliteStore.open(MATRIX_STORE), kind, MATRIX_STORE);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A bot that could not open its store can be started again", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { userId: mxid, accessToken } = homeserver.createUser("bot", { password: "tea" });
  for (const account of [{ mxid, password: "tea" }, { accessToken }]) {
    for (const make of [(path: string) => path, (path: string) => new KvStore(path)]) {
      const folder = await Deno.makeTempDir();
      const path = `${folder}/data/bot.db`;
      const store = make(path);
      await using bot = new Bot({ homeserver: baseUrl, fetch, ...account, store, log: false });
      await assertRejects(() => bot.start({ signals: false }), StoreError, path);
      await Deno.mkdir(`${folder}/data`);
      const done = bot.start({ signals: false });
      await Promise.race([bot.client.ready, done]);
      await bot.stop();
      await done;
      await bot.close();
      if (typeof store !== "string") await store.close();
      await Deno.remove(folder, { recursive: true });
    }
  }
});

Deno.test("A store that a bot has closed is not opened again", async () => {
  for (const isUsed of [true, false]) {
    let opened = 0;
    const store = new LazyStore(() => Promise.resolve((opened++, new MemoryStore())));
    if (isUsed) await store.getMany([["a"]]);
    await store.close();
    await assertRejects(() => store.getMany([["a"]]), ValueError, "Cannot use the store: its bot is closed");
    await store.close();
    assertEquals(opened, isUsed ? 1 : 0);
  }
});

Deno.test("What follows a store that failed says why it did, too", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token } = homeserver.createUser("bot");
  const store = failing(new StoreError("Cannot open the store bot.db: the disk is gone; bring it back"));
  const client = new Client({ baseUrl, fetch, accessToken: token, store, log: false });
  await assertRejects(() => client.start(), StoreError, "Cannot open the store bot.db");
  const messages = await Promise.all(
    [() => client.start(), () => client.syncOnce(), () => client.ready, () => client.done].map(async (call) =>
      (await assertRejects(call, Error)).message
    ),
  );
  for (const message of messages) {
    assert(message.includes("the disk is gone") && !message.includes("actor"), message);
  }
});

Deno.test("A conflict of devices is told once, and whole", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token } = homeserver.createUser("bot");
  await using first = new Client({
    baseUrl,
    fetch,
    accessToken: token,
    store: new MemoryStore(),
    encryption: true,
    log: false,
  });
  await first.crypto?.start();
  const told: string[] = [];
  const say = (message: string, data?: object) => void told.push(message + JSON.stringify(data ?? {}));
  const log = { debug() {}, info() {}, warn: say, error: say };
  await using second = new Client({
    baseUrl,
    fetch,
    accessToken: token,
    store: new MemoryStore(),
    encryption: true,
    log,
  });
  const error = await assertRejects(() => second.start(), DeviceConflictError);
  assert(error.message.endsWith("give another deviceId"), error.message);
  assertEquals(
    told.filter((each) => each.includes("conflict") || each.includes("Cannot use the device")),
    [],
  );
});

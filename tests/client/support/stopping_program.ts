/**
 * A program that is over when what it has started was stopped: it closes nothing.
 *
 * Arguments: what is started, and its store.
 *
 * @module
 */

import { Client, MemoryStore, type Store } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot } from "@greenroom/matrix/bot";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Homeserver } from "@greenroom/matrix/testing";

const [kind, storeKind] = Deno.args;
const path = `${await Deno.makeTempDir()}/bot.db`;
const homeserver = new Homeserver();
const { baseUrl, fetch } = homeserver;
const { accessToken } = homeserver.createUser("bot");
const alice = homeserver.createUser("alice");
const room = await alice.createRoom({ isPublic: true });

async function opened(): Promise<Store> {
  if (storeKind === "MemoryStore") return new MemoryStore();
  return storeKind === "SqliteStore" ? await SqliteStore.open(path) : await KvStore.open(path);
}

async function client(): Promise<Client> {
  const client = new Client({
    baseUrl,
    fetch,
    accessToken,
    store: await opened(),
    encryption: true,
    log: false,
  });
  await client.joinRoom(room);
  return client;
}

/** Starts and stops it twice, as a bot does that is paused for a while. */
async function twice(
  started: { start(): Promise<void>; stop(): Promise<void> },
  ready: () => Promise<unknown>,
) {
  for (let start = 0; start < 2; start++) {
    const done = started.start();
    await ready();
    await started.stop();
    await done;
  }
}

switch (kind) {
  case "Client": {
    const stopped = await client();
    await twice(stopped, () => stopped.ready);
    break;
  }
  case "Client with a signal": {
    const stopped = await client();
    const ending = new AbortController();
    const done = stopped.start({ signal: ending.signal });
    await stopped.ready;
    ending.abort();
    await done;
    break;
  }
  case "Client after a pass": {
    await (await client()).syncOnce();
    break;
  }
  case "Client stopped by its handler": {
    const stopped = await client();
    stopped.on("m.room.message", () => stopped.stop());
    const done = stopped.start({ ignoreInitialSync: true });
    await stopped.ready;
    await alice.sendMessage(room, "stop");
    await done;
    break;
  }
  case "Bot": {
    const store = storeKind === "path" ? path : await opened();
    const bot = new Bot({ baseUrl, fetch, accessToken, store, encryption: true, log: false });
    bot.command("stop", async (c) => {
      await c.remind("1h", "later");
      await c.reply("Bye");
      await bot.stop();
    });
    const done = bot.start();
    await bot.client.ready;
    await bot.client.joinRoom(room);
    await alice.sendMessage(room, "!stop");
    await done;
    break;
  }
  case "Appservice": {
    const url = "http://127.0.0.1:1";
    const registration = createRegistration({
      ...{ id: "toy", url, serverName: "localhost", userPrefix: "toy_", encryption: true },
    });
    const appservice = new Appservice({
      ...{
        registration,
        baseUrl,
        fetch,
        serverName: "localhost",
        store: await opened(),
        encryption: true,
        log: false,
      },
    });
    homeserver.addAppservice(registration, appservice.fetch);
    await twice(appservice, () => appservice.botClient.ready);
    const done = appservice.start();
    const ghost = appservice.intent("toy_parrot"); // whose device has a lease of its own
    await ghost.sendText(await ghost.createRoom({ encrypted: true }), "Hello");
    await appservice.stop();
    await done;
  }
}
console.log("the end of the program");

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import { ActorError, HomeserverAddressError } from "@greenroom/matrix/errors";
import { roomOf, Scene } from "../operations/support/scene.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";
import { EVERYBODY } from "../support/everybody.ts";

/** Tells of the requests that are sent. */
function watched() {
  const paths: string[] = [];
  const watch: typeof fetch = (input, init) => {
    paths.push(new URL(String(input)).pathname);
    return fetch(input, init);
  };
  return { paths, fetch: watch };
}

/** Defines a test of a bot that encrypts, in a room where another user sends. */
function botTest(
  name: string,
  test: (parts: {
    bot: Client;
    paths: string[];
    password: string;
    elsewhere: (password: string) => Promise<Client>;
    say: (text: string) => Promise<unknown>;
  }) => Promise<void>,
): void {
  synapseTest(name, async (server: SynapseServer) => {
    await using scene = new Scene(synapseHost(server));
    const { userId, deviceId, accessToken, password } = await newUser(server, "bot");
    const { paths, fetch } = watched();
    const account = { mxid: userId, deviceId, accessToken };
    const bot = scene.client({
      ...account,
      fetch,
      encryption: EVERYBODY,
      store: new MemoryStore(),
      log: false,
    });
    const alice = await scene.player("alice");
    const roomId = await roomOf(alice);
    await bot.joinRoom(roomId);
    const elsewhere = async (password: string) => {
      const client = scene.client();
      await client.login({ identifier: userId, password });
      return client;
    };
    await test({ bot, paths, password, elsewhere, say: (text) => alice.sendText(roomId, text) });
  });
}

const LEAVING: Record<string, (bot: Client, password: string) => Promise<unknown>> = {
  "logout()": (bot) => bot.logout(),
  "logoutAll()": (bot) => bot.logoutAll(),
  "deactivateAccount()": (bot, password) => bot.deactivateAccount({ authentication: { password } }),
};

for (const [name, leave] of Object.entries(LEAVING)) {
  botTest(`${name} while a bot syncs ends start() cleanly, and nothing more is sent`, async (parts) => {
    const { bot, paths, password } = parts;
    const running = bot.start();
    await bot.ready;
    await leave(bot, password);
    const before = paths.length;
    await running;
    await bot.close();
    await bot.done;
    assertEquals(paths.slice(before), []);
  });

  botTest(`${name} in a handler does so too`, async ({ bot, paths, password, say }) => {
    const left = Promise.withResolvers<number>();
    bot.on("m.room.message", async () => {
      await leave(bot, password);
      left.resolve(paths.length);
    });
    const running = bot.start();
    await bot.ready;
    await say("go");
    const before = await left.promise;
    await running;
    await bot.close();
    await bot.done;
    assertEquals(paths.slice(before), []);
  });
}

botTest("A token that another session voids ends start() and `done` with the cause", async (parts) => {
  const { bot, password, elsewhere } = parts;
  const running = bot.start();
  running.catch(() => {}); // it may reject before logoutAll() resolves
  await bot.ready;
  const other = await elsewhere(password);
  await other.logoutAll();
  const error = await assertRejects(() => running, UnknownTokenError, "log in again");
  assert(!error.isSoftLogout);
  const ended = await assertRejects(() => bot.done, ActorError, "M_UNKNOWN_TOKEN");
  assertEquals(ended.cause, error);
  await bot.stop();
  await bot.close();
});

botTest("deactivateAccount() with a wrong password leaves a bot as it was", async ({ bot, say }) => {
  const heard = Promise.withResolvers<string>();
  bot.on("m.room.message", ({ content }) => heard.resolve(content.body));
  const running = bot.start();
  await bot.ready;
  await assertRejects(() => bot.deactivateAccount({ authentication: { password: "wrong" } }));
  await say("still there?");
  assertEquals(await heard.promise, "still there?");
  await bot.stop();
  await running;
});

synapseTest("An address that is a path beside the homeserver's ends start() immediately", async (server) => {
  await using scene = new Scene(synapseHost(server));
  const { accessToken: token } = await newUser(server, "bot");
  const bot = scene.client({ baseUrl: `${server.baseUrl}/matrix`, accessToken: token, log: false });
  await assertRejects(() => bot.start(), HomeserverAddressError, "Client.discover(");
});

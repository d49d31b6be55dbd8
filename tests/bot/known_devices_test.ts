import { assert, assertEquals } from "@std/assert";
import { MemoryStore, type Store } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { Homeserver, TestClock } from "@greenroom/matrix/testing";

/** Starts and ends bots of one user; each start says what it has warned of. */
function scene() {
  const clock = new TestClock();
  const homeserver = new Homeserver({ clock });
  homeserver.createUser("bot", { password: "tea" });
  const settle = async () => {
    for (let round = 0; round < 40; round++) await clock.tick(0);
  };
  return {
    homeserver,
    async start(options: Partial<BotOptions> & { store?: Store }): Promise<string[]> {
      const warnings: string[] = [];
      const warn = (message: string, fields: unknown) =>
        void warnings.push(`${message} ${Deno.inspect(fields)}`);
      const { baseUrl, fetch } = homeserver;
      const log = { debug() {}, info() {}, warn, error: warn };
      const bot = new Bot({ baseUrl, fetch, clock, log, ...options });
      const running = bot.start({ signals: false });
      await settle();
      await bot.stop();
      await running;
      await bot.close();
      return warnings;
    },
    [Symbol.asyncDispose]: () => homeserver[Symbol.asyncDispose](),
  };
}

Deno.test("A bot whose token is another device's than before warns of what stays with the old one, once", async () => {
  await using here = scene();
  const { homeserver } = here;
  const store = new MemoryStore();
  const [first, second] = [homeserver.createUser("bot"), homeserver.createUser("bot")];
  assert(first.deviceId !== second.deviceId);
  assertEquals(await here.start({ store, accessToken: first.accessToken }), []);
  assertEquals(await here.start({ store, accessToken: first.accessToken }), []);
  const [warning = "", ...more] = await here.start({ store, accessToken: second.accessToken });
  assertEquals(more, []);
  for (const part of [first.deviceId, second.deviceId, "conversations, reminders, sessions"]) {
    assert(warning.includes(part), `${part} in ${warning}`);
  }
  assertEquals(await here.start({ store, accessToken: second.accessToken }), []);
  const { accessToken: token } = homeserver.createUser("other");
  assertEquals(await here.start({ store, accessToken: token }), []); // another user's bot may share the store
});

Deno.test("A bot with a password and no store warns that each start is a new device", async () => {
  await using here = scene();
  const account = { mxid: "@bot:localhost", password: "tea" } as const;
  const [warning = "", ...more] = await here.start(account);
  assertEquals(more, []);
  assert(warning.includes("new device") && warning.includes("store"), warning);
  assertEquals(await here.start({ ...account, store: new MemoryStore() }), []);
});

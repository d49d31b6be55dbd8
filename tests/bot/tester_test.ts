import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { BotTester, ExpectationError } from "@greenroom/matrix/testing";
import { Bot } from "@greenroom/matrix/bot";

const EXTRACTABLE = false;

/** Work that another thread does, in real time, while the tester's clock stands still. */
async function workElsewhere(): Promise<void> {
  const { subtle } = crypto;
  const key = await subtle.importKey("raw", new Uint8Array(8), "PBKDF2", EXTRACTABLE, ["deriveBits"]);
  const params = { name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(8), iterations: 2_000_000 };
  await crypto.subtle.deriveBits(params, key, 256);
}

Deno.test("A tester waits for what a bot has other threads do", async () => {
  await using tester = new BotTester((options) => {
    const bot = new Bot(options);
    bot.command("hash", async (c) => {
      await workElsewhere();
      await c.reply("done");
    });
    return bot;
  });
  const room = await tester.room("alice");
  await room.say("!hash");
  await room.expect("done");
});

Deno.test("A tester says what a bot says in place of what was expected, and what it has logged", async () => {
  await using tester = new BotTester((options) => {
    const bot = new Bot(options);
    bot.command("ping", (c) => c.reply("pong"));
    return bot;
  });
  const room = await tester.room("alice");
  await room.say("!ping");
  await assertRejects(() => room.expect("ping"), ExpectationError, 'was to say "ping", and says "pong"');
});

Deno.test("BotTester.create() starts the bot, and closes the homeserver if it does not start", async () => {
  await using tester = await BotTester.create((options) => {
    const bot = new Bot(options);
    bot.command("ping", (c) => c.reply("pong"));
    return bot;
  });
  assertEquals(tester.homeserver.requests.filter("GET", "/sync")[0]?.user, tester.mxid);
  const room = await tester.room("alice");
  await room.say("!ping");
  await room.expect("pong");
  await assertRejects(() => BotTester.create(() => undefined as never), ValueError, "end it with return bot");
});

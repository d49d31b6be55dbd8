import { assert, assertEquals, assertMatch } from "@std/assert";
import { Client } from "@greenroom/matrix";
import type { Bot } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { type Access, reportUnread } from "../../src/bot/policy/policy.ts";
import { trying } from "./support.ts";

const CAREFUL = { encryption: { accept: "cross-signed", sendTo: "cross-signed" } } as const;

/** Carol, whose device nobody has signed, says something to the bot in an encrypted room. */
async function said(
  tester: BotTester,
  times: number,
  { disableEncryption = false } = {},
): Promise<AsyncDisposable> {
  const { baseUrl, fetch } = tester.homeserver;
  const { accessToken: token } = tester.homeserver.createUser("carol");
  const encryption = { accept: "all", sendTo: "all" } as const;
  const carol = new Client({
    baseUrl,
    fetch,
    accessToken: token,
    clock: tester.clock,
    log: false,
    encryption,
  });
  const running = carol.start();
  await tester.settle();
  const content = { algorithm: "m.megolm.v1.aes-sha2" };
  const initialState = [{ type: "m.room.encryption", state_key: "", content }];
  const invitees = [tester.mxid];
  const secret = await carol.createRoom({ preset: "private_chat", invitees, initialState });
  await tester.until(() => tester.homeserver.room(secret).membership(tester.mxid) === "join", "not joined");
  for (let time = 0; time < times; time++) {
    const sent = carol.sendText(secret, "!ping", { disableEncryption });
    await tester.until(() => tester.homeserver.room(secret).messages.length > time, "not sent");
    await sent;
  }
  await tester.settle();
  return {
    async [Symbol.asyncDispose]() {
      await carol.close();
      await running;
    },
  };
}

function unreadIn({ logged }: BotTester): string[] {
  return logged.filter((line) => line.includes("unless the device that sent it"));
}

Deno.test("What a bot can't read is in its log, with the mend, once for each sender and reason", async () => {
  await using tester = trying((bot) => void bot.command("ping", (c) => c.reply("pong")), CAREFUL);
  const room = await tester.room("alice"); // whose device nobody has signed
  await using _carol = await said(tester, 3);
  await tester.pass(14_999);
  assertEquals(unreadIn(tester), []);
  await tester.pass(1);
  assertEquals(unreadIn(tester).length, 1);
  assertMatch(unreadIn(tester)[0] ?? "", /@carol:localhost.*encryption\.accept/s);
  await room.expectNothing();
});

Deno.test("What comes in clear into an encrypted room is in a bot's log, with the mend, once for each sender", async () => {
  const ping = (bot: Bot) => void bot.command("ping", (c) => c.reply("pong"));
  const clear = ({ logged }: BotTester) => logged.filter((line) => line.includes("in clear"));
  {
    await using tester = trying(ping, { encryption: true });
    await tester.room("alice");
    await using _carol = await said(tester, 3, { disableEncryption: true });
    assertEquals(clear(tester).length, 1);
    assertMatch(clear(tester)[0] ?? "", /@carol:localhost.*encryption\.unencrypted/s);
  }
  await using tester = trying(ping, { encryption: { unencrypted: "deliver" } });
  await tester.room("alice");
  await using _carol = await said(tester, 1, { disableEncryption: true });
  assertEquals(clear(tester), []);
});

Deno.test("Nobody is warned of what a bot reads seconds later", async () => {
  let bot: Bot | undefined;
  await using tester = trying((each) => {
    bot = each.command("ping", (c) => c.reply("pong"));
  }, CAREFUL);
  await tester.room("alice");
  await using _carol = await said(tester, 1);
  await tester.pass(5_000);
  const [device] = await bot?.client.crypto?.getDevices(tester.userId("carol")) ?? [];
  assert(device !== undefined);
  await bot?.client.crypto?.setDeviceTrust(device, "verified");
  await tester.pass(15_000);
  assertEquals(unreadIn(tester), []);
});

Deno.test("What a bot has not read when it ends is in its log then", async () => {
  await using tester = trying((bot) => void bot.command("ping", (c) => c.reply("pong")), CAREFUL);
  await tester.room("alice");
  await using _carol = await said(tester, 1);
  await tester.stop();
  assertEquals(unreadIn(tester).length, 1);
});

Deno.test("A bot without encryption says once for each room that it can't read, and what to do", async () => {
  await using tester = trying((bot) => void bot.command("ping", (c) => c.reply("pong")));
  const [one, two] = [await tester.room("alice"), await tester.room("bob")];
  const secret = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "…", session_id: "s" };
  const unread = () => tester.logged.filter((line) => line.includes("can't be read"));
  for (let times = 0; times < 3; times++) await one.send("m.room.encrypted", secret);
  await one.expectNothing();
  assertEquals(unread().length, 1);
  assertMatch(unread()[0] ?? "", /encryption and store.*MATRIX_STORE.*--unstable-kv/);
  assert(unread()[0]?.includes(one.id));
  await two.send("m.room.encrypted", secret);
  await one.say("!ping");
  await one.expect("pong");
  assertEquals(unread().map((line) => line.includes(two.id)), [false, true]);
});

Deno.test("How many senders of unread messages are remembered, and how many messages wait, is bounded", () => {
  let tell: (event: unknown) => void = () => {};
  let [delays, warnings] = [0, 0];
  const client = {
    addEventHandler: (_type: string, handler: typeof tell) => void (tell = handler),
    api: { clock: { delay: () => (delays++, new Promise(() => {})) } },
    log: { warn: () => void warnings++ },
  } as unknown as Client;
  const access = { hears: () => true } as unknown as Access;
  reportUnread(client, access, new AbortController().signal);
  const unread = (sender: number) =>
    tell({ event: { sender: `@${sender}:a`, room_id: "!a" }, reason: "", code: "MISSING_KEY" });
  for (let sender = 0; sender < 3_000; sender++) unread(sender);
  assertEquals([delays, warnings], [1_000, 2_000], "beyond a thousand that wait each is said immediately");
  for (const sender of [2_000, 2_999]) unread(sender);
  assertEquals(warnings, 2_000, "and not again");
  unread(1_500);
  assertEquals(warnings, 2_001, "but for those that were forgotten");
});

Deno.test("Unread messages that have waited make room for others, thousands of times", async () => {
  let tell: (event: unknown) => void = () => {};
  let delays = 0;
  const client = {
    addEventHandler: (_type: string, handler: typeof tell) => void (tell = handler),
    api: { clock: { delay: () => (delays++, Promise.resolve()) } },
    crypto: { wasRecovered: () => true },
    log: { warn: () => {} },
  } as unknown as Client;
  const access = { hears: () => true } as unknown as Access;
  reportUnread(client, access, new AbortController().signal);
  for (let time = 0; time < 3_000; time++) {
    tell({ event: { sender: "@alice:a", room_id: "!a" }, reason: "", code: "MISSING_KEY" });
    for (let turn = 0; turn < 3; turn++) await Promise.resolve();
  }
  assertEquals(delays, 3_000);
});

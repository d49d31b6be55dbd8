/** A homeserver that is away for a while, as when it is restarted. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { ClientEndedError } from "@greenroom/matrix/errors";
import { Bot } from "@greenroom/matrix/bot";
import { Homeserver, TestClock, type TestUser } from "@greenroom/matrix/testing";
import { EVERYBODY } from "../support/everybody.ts";
import { trying } from "./support.ts";

/** How long it is away, in milliseconds. */
const AWAY = [10_000, 150_000];

for (const away of AWAY) {
  Deno.test(`An answer that is due while the homeserver is away for ${away / 1_000} s arrives once it is back`, async () => {
    const begun = Promise.withResolvers<void>();
    await using tester = trying((bot) => {
      bot.command("ping", async (c) => {
        await begun.promise;
        await c.reply("pong");
      });
    });
    const room = await tester.room("alice");
    await room.say("!ping");
    using _ = tester.homeserver.faults.add({ kind: "drop", match: { path: /./, user: tester.mxid } });
    begun.resolve();
    await tester.pass(away);
    tester.homeserver.faults.clear();
    await tester.pass(60_000);
    await room.expect("pong");
    assertEquals(room.messages.filter(({ sender }) => sender === tester.mxid).map(({ text }) => text), [
      "pong",
    ]);
  });

  Deno.test(`A conversation goes on where the homeserver was away for ${away / 1_000} s with 502`, async () => {
    await using tester = trying((bot) => {
      bot.command("wizard", async (c) => {
        const name = await c.ask("Name?");
        const age = await c.ask(`Age, ${name}?`);
        await c.reply(`${name} is ${age}`);
      });
    });
    const room = await tester.room("alice");
    await room.say("!wizard");
    await room.expect("Name?");
    using _ = tester.homeserver.faults.add({ kind: "html", match: { path: /send/, user: tester.mxid } });
    await room.say("Alice");
    await tester.pass(away);
    tester.homeserver.faults.clear();
    await tester.pass(60_000);
    await room.expect("Age, Alice?");
    await room.say("7");
    await room.expect("Alice is 7");
  });
}

Deno.test("Answers that wait for the limit of Synapse longer than their functions may take all arrive, once", async () => {
  await using tester = trying((bot) => {
    bot.command("ping", (c) => c.reply(`pong ${c.sender}`));
  }, { handlerTimeout: "20s" });
  const names = Array.from({ length: 30 }, (_, index) => `user${index}`);
  const rooms = await Promise.all(names.map((name) => tester.room(name)));
  tester.homeserver.rateLimits.messages = { perSecond: 0.2, burst: 10 };
  await Promise.all(rooms.map((room) => room.say("!ping")));
  await tester.pass(150_000);
  const said = rooms.map(({ messages }) => messages.filter(({ sender }) => sender === tester.mxid).length);
  assertEquals(said, names.map(() => 1));
});

Deno.test("An encrypted answer that needs keys while the homeserver is away for 60 s arrives once it is back", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  const { baseUrl, fetch } = homeserver;
  const [alice, bob] = ["alice", "bob"].map((name) => homeserver.createUser(name)) as [TestUser, TestUser];
  const made = { baseUrl, fetch, clock, log: false, encryption: EVERYBODY } as const;
  await using person = new Client({ ...made, accessToken: alice.accessToken, store: new MemoryStore() });
  await using bot = new Bot({ ...made, accessToken: bob.accessToken, store: new MemoryStore() });
  const begun = Promise.withResolvers<void>();
  bot.command("ping", async (c) => {
    await begun.promise;
    await c.reply("pong");
  });
  const heard: string[] = [];
  person.on("m.room.message", ({ content }) => void heard.push(content.body));
  const until = async (condition: () => boolean): Promise<void> => {
    for (let round = 0; round < 20_000 && !condition(); round++) await clock.tick(0);
    assert(condition());
  };
  const running = [person.start(), bot.start({ signals: false })];
  await until(() => homeserver.requests.filter("GET", "/sync").length >= 2);
  const content = { algorithm: "m.megolm.v1.aes-sha2" };
  const room = await person.createRoom({
    invitees: [bob.userId],
    initialState: [{ type: "m.room.encryption", state_key: "", content }],
  });
  await until(() => homeserver.room(room).state("m.room.member", bob.userId)?.membership === "join");
  await person.sendText(room, "!ping");
  await until(() => heard.includes("!ping"));
  homeserver.faults.add({ kind: "drop", match: { path: /./, user: bob.userId } });
  begun.resolve();
  for (let passed = 0; passed < 60_000; passed += 1_000) await clock.tick(1_000);
  homeserver.faults.clear();
  for (let passed = 0; passed < 120_000; passed += 1_000) await clock.tick(1_000);
  await until(() => heard.includes("pong"));
  await Promise.all([person.stop(), bot.stop()]);
  await Promise.all(running);
});

for (const kind of ["drop", "status"] as const) {
  Deno.test(`A bot with a password that starts while the homeserver is away (${kind}) logs in once it is back`, async () => {
    const clock = new TestClock();
    await using homeserver = new Homeserver({ clock });
    homeserver.createUser("bot", { password: "tea" });
    const warnings: string[] = [];
    const nothing = () => {};
    const log = {
      debug: nothing,
      info: nothing,
      warn: (message: string) => void warnings.push(message),
      error: nothing,
    };
    const { baseUrl, fetch } = homeserver;
    const account = { mxid: "@bot:localhost", password: "tea", store: new MemoryStore() } as const;
    await using bot = new Bot({ baseUrl, fetch, clock, log, ...account });
    const match = { path: /./ };
    const away = kind === "drop" ? { kind, match } as const : { kind, status: 503, match } as const;
    homeserver.faults.add(away);
    let isOver = false;
    const running = bot.start({ signals: false }).finally(() => isOver = true);
    for (let minute = 0; minute < 10; minute++) await clock.tick(60_000);
    assertEquals([isOver, bot.client.deviceId], [false, undefined]);
    assert(warnings.includes("The bot can't log in yet, and tries again"));
    homeserver.faults.clear();
    for (let minute = 0; minute < 6; minute++) await clock.tick(60_000);
    await bot.client.ready;
    assert(bot.client.deviceId !== undefined);
    await bot.stop();
    await running;
  });
}

for (const how of ["stop", "close"] as const) {
  Deno.test(`${how}() ends a start that waits for a homeserver to log in at`, async () => {
    const clock = new TestClock();
    await using homeserver = new Homeserver({ clock });
    const { baseUrl, fetch } = homeserver;
    const account = { mxid: "@bot:localhost", password: "tea" } as const;
    await using bot = new Bot({ baseUrl, fetch, clock, log: false, ...account });
    homeserver.faults.add({ kind: "drop", match: { path: /./ } });
    const running = bot.start({ signals: false });
    await clock.tick(60_000);
    await bot[how]();
    await running;
    assertEquals(clock.pending, 0);
    if (how === "close") await assertRejects(() => bot.start(), ClientEndedError);
  });
}

/**
 * How bots are run: variables, environment, options, what is said at the start.
 *
 * Over 300 lines because it is one table after the other.
 *
 * @module
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { MemoryStore, type Store, ValueError } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot, type BotMessage, pollResponse } from "@greenroom/matrix/bot";
import { Homeserver, TestClock } from "@greenroom/matrix/testing";
import { optionsFromEnv } from "../../src/bot/env.ts";
import { trying } from "./support.ts";

/** Lets what is ready run. */
async function settle(clock: TestClock): Promise<void> {
  for (let round = 0; round < 40; round++) await clock.tick(0);
}

Deno.test("A bot with a password logs in once, and goes on with its token and device after a restart", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  homeserver.createUser("bot", { password: "tea" });
  const store = new MemoryStore();
  const devices: (string | undefined)[] = [];
  for (let life = 0; life < 3; life++) {
    const { baseUrl, fetch } = homeserver;
    const account = { mxid: "@bot:localhost", password: "tea" } as const;
    await using bot = new Bot({ baseUrl, fetch, clock, store, log: false, ...account });
    const done = bot.start({ signals: false });
    await settle(clock);
    devices.push(bot.client.deviceId);
    await bot.stop();
    await done;
  }
  assert(devices[0] !== undefined);
  assertEquals(new Set(devices).size, 1);
  assertEquals(homeserver.requests.filter("POST", "/login").length, 1);
});

Deno.test("A bot whose device the server has deleted logs in again, with a new device", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  homeserver.createUser("bot", { password: "tea" });
  const store = new MemoryStore();
  const devices: (string | undefined)[] = [];
  for (let life = 0; life < 2; life++) {
    const { baseUrl, fetch } = homeserver;
    const account = { mxid: "@bot:localhost", password: "tea" } as const;
    await using bot = new Bot({ baseUrl, fetch, clock, store, log: false, ...account });
    const done = bot.start({ signals: false });
    await settle(clock);
    devices.push(bot.client.deviceId);
    if (life === 0) {
      await bot.stop();
      await bot.client.request("POST", "/_matrix/client/v3/logout", { body: {} });
    } else await bot.stop();
    await done.catch(() => {});
  }
  assertEquals(new Set(devices).size, 2);
  assert(!devices.includes(undefined));
});

Deno.test("Bot.fromEnv() reads the environment, and says which variable is missing, and what it is for", () => {
  const read = (values: Record<string, string>) => optionsFromEnv((name) => values[name], {});
  for (
    const [values, name] of [
      [{}, "MATRIX_URL"],
      [{ MATRIX_URL: "https://example.org" }, "MATRIX_TOKEN"],
      [{ MATRIX_URL: "https://example.org", MATRIX_PASSWORD: "tea" }, "MATRIX_USER"],
    ] as const
  ) assertThrows(() => read(values), ValueError, `${name} is not set`);
  assertThrows(() => read({ MATRIX_USER: "bot", MATRIX_TOKEN: "t" }), ValueError, "bot");
  for (const MATRIX_URL of ["example.org", "localhost:8008", "https://example.org"]) {
    assertEquals(read({ MATRIX_URL, MATRIX_TOKEN: "t" }).homeserver, MATRIX_URL);
  }
  for (const MATRIX_URL of ["example", "ftp://example.org", "example.org/matrix"]) {
    const { message } = assertThrows(() => read({ MATRIX_URL, MATRIX_TOKEN: "t" }), ValueError);
    assert(message.includes(`MATRIX_URL is "${MATRIX_URL}"`), message);
  }
  const { message } = assertThrows(() => read({ MATRIX_URL: "syt_Ym90", MATRIX_TOKEN: "t" }), ValueError);
  assert(message.includes("MATRIX_URL") && !message.includes("syt_Ym90"), message);
  const all = read({
    MATRIX_URL: "https://example.org",
    MATRIX_TOKEN: " t\n",
    MATRIX_RECOVERY_KEY: "EsT…",
    MATRIX_ADMINS: "@a:example.org, @b:example.org",
    MATRIX_WAKE_SECRET: "0123456789abcdef",
  });
  assertEquals([all.accessToken, all.encryption, all.admins, all.wake], [
    "t",
    { recoveryKey: "EsT…" },
    ["@a:example.org", "@b:example.org"],
    { secret: "0123456789abcdef" },
  ]);
});

Deno.test("MATRIX_STORE_KEY_FILE seals the store, and its errors say what is wrong with the file, not what is in it", async () => {
  const folder = await Deno.makeTempDir();
  const [MATRIX_STORE, MATRIX_STORE_KEY_FILE] = [`${folder}/bot.db`, `${folder}/store.key`];
  const read = (values: Record<string, string>) => {
    const all: Record<string, string> = { MATRIX_URL: "https://example.org", MATRIX_TOKEN: "t", ...values };
    return optionsFromEnv((name) => all[name], {});
  };
  const store = () => read({ MATRIX_STORE, MATRIX_STORE_KEY_FILE }).store as Store;
  const key = ["greeting"];
  await assertRejects(() => store().getMany([key]), ValueError, "MATRIX_STORE_KEY_FILE");
  await Deno.writeTextFile(MATRIX_STORE_KEY_FILE, "s3cret");
  const { message } = await assertRejects(() => store().getMany([key]), ValueError, "32 bytes");
  assert(!message.includes("s3cret"));
  await Deno.writeTextFile(MATRIX_STORE_KEY_FILE, `${new Uint8Array(32).fill(7).toBase64()}\n`);
  const sealed = store();
  await sealed.commit([{ type: "set", key, value: "a long greeting" }]);
  assertEquals((await sealed.getMany([key]))[0]?.value, "a long greeting");
  await sealed.close();
  const clear = read({ MATRIX_STORE }).store as Store;
  assert((await clear.getMany([key]))[0]?.value !== "a long greeting");
  await clear.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("Bot.fromEnv() takes a recovery key of the environment also beside other options of encryption", () => {
  const onRecoveryKey = () => {};
  const environment: Record<string, string> = { MATRIX_URL: "https://example.org", MATRIX_TOKEN: "t" };
  const read = (encryption: boolean | { onRecoveryKey(): void; recoveryKey?: string }) =>
    optionsFromEnv((name) => environment[name], { encryption }).encryption;
  assertEquals(read({ onRecoveryKey }), { onRecoveryKey });
  environment.MATRIX_RECOVERY_KEY = "EsT…";
  assertEquals(read({ onRecoveryKey }), { recoveryKey: "EsT…", onRecoveryKey });
  assertEquals(read({ onRecoveryKey, recoveryKey: "EsU…" }), { recoveryKey: "EsU…", onRecoveryKey });
  assertEquals([true, false].map(read), [{ recoveryKey: "EsT…" }, false]);
});

Deno.test("stop() right after start() ends the bot, also while it logs in", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token } = homeserver.createUser("bot");
  await using bot = new Bot({
    baseUrl: homeserver.baseUrl,
    fetch: homeserver.fetch,
    accessToken: token,
    log: false,
  });
  const done = bot.start({ signals: false });
  await bot.stop();
  await done;
});

Deno.test("bot.fetch answers /health below any path, and others as the client does", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token } = homeserver.createUser("bot");
  await using bot = new Bot({
    baseUrl: homeserver.baseUrl,
    fetch: homeserver.fetch,
    accessToken: token,
    log: false,
  });
  const { fetch } = bot;
  assertEquals((await fetch(new Request("http://bot/below/health"))).status, 200);
  assertEquals((await fetch(new Request("http://bot/ready"))).status, 404);
  assertEquals((await fetch(new Request("http://bot/other"))).status, 404);
});

Deno.test("A bot lives in an application service with the same functions, conversations and reminders", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  const registration = createRegistration({
    id: "shop",
    url: "http://localhost:9000",
    serverName: "localhost",
  });
  const { baseUrl, fetch } = homeserver;
  await using appservice = new Appservice({
    registration,
    serverName: "localhost",
    baseUrl,
    fetch,
    clock,
    log: false,
  });
  homeserver.addAppservice(registration, appservice.fetch);
  const bot = new Bot({ appservice });
  bot.command("order", async (c) => {
    const what = await c.ask("What?");
    await c.reply(`One ${what}`);
    await c.remind({ in: 60_000 }, "Ready!");
  });
  const done = bot.start({ signals: false });
  await settle(clock);
  const { accessToken } = homeserver.createUser("alice");
  const ask = async (method: string, path: string, body: object) =>
    await (await fetch(`${baseUrl}/_matrix/client/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}` },
      body: JSON.stringify(body),
    })).json();
  const own = `@${registration.sender_localpart}:localhost`;
  const { room_id } = await ask("POST", "/createRoom", { invite: [own] });
  await settle(clock);
  const said = () =>
    homeserver.room(room_id).messages.filter(({ sender }) => sender === own).map(({ content }) =>
      content.body
    );
  for (const [index, body] of ["!order", "tea"].entries()) {
    await ask("PUT", `/rooms/${encodeURIComponent(room_id)}/send/m.room.message/${index}`, {
      msgtype: "m.text",
      body,
    });
    await settle(clock);
  }
  await clock.tick(60_000);
  await settle(clock);
  assertEquals(said(), ["What?", "One tea", "Ready!"]);
  await bot.stop();
  await clock.tick(10_000);
  await done;
});

Deno.test("A poll's events are heard by each of their names, whichever of them the client has sent", async () => {
  const heard: string[] = [];
  const names = ["poll:vote", "m.poll.response", "org.matrix.msc3381.poll.response"] as const;
  await using tester = trying((bot) => {
    for (const name of names) {
      bot.on(name, async (c, next) => {
        heard.push(`${name} of ${c.event.type}`);
        await next();
      });
    }
  });
  const room = await tester.room("alice");
  const poll = await room.say("A poll");
  for (const type of names.slice(1)) await room.send(type, { ...pollResponse(poll, ["1"]) });
  await tester.until(() => heard.length >= 6, "it hears both votes");
  assertEquals(heard, names.slice(1).flatMap((type) => names.map((name) => `${name} of ${type}`)));
});

Deno.test("A poll is begun, counted and ended, and its end says the result", async () => {
  const counts: unknown[] = [];
  await using tester = trying((bot) => {
    let poll: BotMessage;
    bot.command("poll", async (c) => {
      poll = await c.sendPoll("Tea?", ["Yes", "No"]);
    });
    bot.on("poll:vote", async (c) => {
      const { answers } = await c.getPollResults(poll);
      counts.push(answers.map(({ votes }) => votes));
    });
    bot.command("end", async (c) => {
      const { winners } = await c.endPoll(poll);
      await c.send(`${winners.map(({ text }) => text)}`);
    });
  });
  const room = await tester.room("alice", "bob");
  await room.say("!poll");
  const begun = () => room.view().messages.find(({ type }) => type === "org.matrix.msc3381.poll.start");
  await tester.until(() => begun() !== undefined, "it begins a poll");
  const id = begun()?.event_id ?? "$";
  const vote = async (as: string, answer: string) => {
    await tester.pass(1); // the last vote of a user is that of the latest time
    await room.as(as).send("org.matrix.msc3381.poll.response", { ...pollResponse(id, [answer]) });
  };
  await vote("alice", "1");
  await vote("bob", "1");
  await vote("bob", "2");
  await vote("bob", "1");
  await tester.settle();
  assertEquals(counts.at(-1), [2, 0]);
  await room.say("!end");
  await room.expect("Yes");
  const end = room.view().messages.find(({ type }) => type === "org.matrix.msc3381.poll.end");
  assertEquals(String(end?.content["org.matrix.msc1767.text"]).includes("Yes"), true as boolean);
});

Deno.test("A structured command gets its arguments by name", async () => {
  await using tester = trying((bot) =>
    bot.command("add <first> <second>", (c) => c.reply(`${Number(c.args.first) + Number(c.args.second)}`))
  );
  const room = await tester.room("alice", "bob");
  await room.say("add 1 and 2", {
    content: { "org.matrix.msc4391.command": { command: "add", arguments: { first: 1, second: "2" } } },
  });
  await room.expect("3");
  await room.say("add", {
    content: { "org.matrix.msc4391.command": { command: "add", arguments: { first: 1 } } },
  });
  await room.expect("second is missing\n\nUsage: !add <first> <second>");
});

Deno.test("image() says how large a picture is, and file() sends data by its name", async () => {
  const gif = Uint8Array.from([
    ...new TextEncoder().encode("GIF89a"),
    1,
    0,
    1,
    0,
    0x80,
    0,
    0,
    255,
    255,
    255,
    0,
    0,
    0,
    0x2c,
    0,
    0,
    0,
    0,
    1,
    0,
    1,
    0,
    0,
    2,
    2,
    0x44,
    1,
    0,
    0x3b,
  ]);
  await using tester = trying((bot) => {
    bot.command("picture", (c) => c.sendImage(gif, { filename: "dot.gif" }));
    bot.command(
      "file",
      (c) => c.sendFile(new TextEncoder().encode("tea"), { filename: "tea.txt", mimeType: "text/plain" }),
    );
    bot.on("message:file", async (c) => c.reply(new TextDecoder().decode(await c.download())));
  });
  const room = await tester.room("alice");
  await room.say("!picture");
  await tester.until(() => room.messages.length === 1, "it sends a picture");
  const { info, msgtype } = room.messages[0]?.content as { info: Record<string, unknown>; msgtype: string };
  assertEquals([msgtype, info.w, info.h, info.mimetype, info.size], [
    "m.image",
    1,
    1,
    "image/gif",
    gif.length,
  ]);
  await room.say("!file");
  await tester.until(() => room.messages.length === 2, "it sends a file");
  const { url } = room.messages[1]?.content as { url: string };
  await room.send("m.room.message", { msgtype: "m.file", body: "tea.txt", url });
  await tester.until(() => room.messages.length === 3, "it answers");
  assertEquals(room.messages[2]?.text, "tea");
});

Deno.test("A bot shows that it types while something is done, and not afterwards", async () => {
  const gate = Promise.withResolvers<string>();
  await using tester = trying((bot) =>
    bot.command("think", async (c) => void await c.reply(await c.typing(gate.promise)))
  );
  const room = await tester.room("alice");
  await room.say("!think");
  await tester.until(() => room.view().typing.length === 1, "it types");
  await tester.pass(60_000);
  assertEquals(room.view().typing.length, 1);
  gate.resolve("done");
  await room.expect("done");
  assertEquals(room.view().typing, []);
});

import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { clientStage, heard } from "../support/stage.ts";
import { copyOf } from "../support/store_copy.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

const [KEY, OTHER_KEY] = [7, 8].map(recoveryKeyOf);

/** A way to a server that refuses tokens until it was asked for everything without one, so many times. */
function forgetful(fetch: typeof globalThis.fetch, times = 1): typeof globalThis.fetch {
  let left = times;
  return async (input, init) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
    const isSync = pathname.endsWith("/sync");
    if (isSync && left > 0 && searchParams.has("since")) {
      return Response.json({ errcode: "M_UNKNOWN_POS", error: "Unknown position" }, { status: 400 });
    }
    if (isSync && !searchParams.get("filter")?.includes('"rooms":[]')) left--;
    return await fetch(input, init);
  };
}

Deno.test("What was said in an encrypted room while a token was lost is read once, and answered", async () => {
  await using here = clientStage();
  const path = await Deno.makeTempFile({ suffix: ".db" });
  try {
    const alice = here.client("alice", {
      store: new MemoryStore(),
      encryption: { recoveryKey: OTHER_KEY },
    });
    const room = await alice.createRoom({
      preset: "public_chat",
      initialState: [{
        type: "m.room.encryption",
        state_key: "",
        content: { algorithm: "m.megolm.v1.aes-sha2" },
      }],
    });
    const sight = heard(alice);
    const lives: string[][] = [];
    for (const [index, text] of ["first", "second", "third"].entries()) {
      await using store = await SqliteStore.open(path);
      const fetch = index === 1 ? forgetful(here.homeserver.fetch) : here.homeserver.fetch;
      await using bot = here.client("bot", { store, encryption: { recoveryKey: KEY }, fetch });
      if (index === 0) {
        await bot.joinRoom(room);
        await bot.syncOnce();
        await alice.syncOnce();
      }
      await alice.sendText(room, text);
      const texts = heard(bot);
      lives.push(texts);
      await bot.syncOnce();
      await bot.sendText(room, `re ${text}`);
      await alice.syncOnce();
      await bot.close();
    }
    assertEquals(lives, [["first"], ["re first", "second"], ["re second", "third"]]);
    assertEquals(sight.filter((text) => text.startsWith("re ")), ["re first", "re second", "re third"]);
  } finally {
    await Deno.remove(path).catch(() => {});
  }
});

Deno.test("A bot whose token is refused runs each command once, and accepts no invitation twice", async () => {
  const run: string[] = [];
  let isForgetful = false;
  await using tester = new BotTester((given) => {
    const fetch = isForgetful ? forgetful(given.fetch) : given.fetch;
    const bot = new Bot({ ...given, fetch });
    bot.command("deploy <number>", (c) => void run.push(`deploy ${c.args.number}`));
    bot.on("invite", () => void run.push("invited"));
    return bot;
  });
  await tester.start();
  const room = await tester.room("alice");
  await room.say("!deploy 1");
  await tester.settle();
  await tester.stop();
  isForgetful = true;
  await room.say("!deploy 2");
  const started = tester.start();
  for (let minute = 0; minute < 3; minute++) await tester.clock.tick(60_000);
  await started;
  await room.say("!deploy 3");
  await tester.settle();
  isForgetful = false;
  await tester.restart();
  await tester.settle();
  assertEquals(run, ["invited", "deploy 1", "deploy 2", "deploy 3"]);
});

Deno.test("What is in hand is not handled again where the server refuses the token of a new start, too", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const alice = here.client("alice");
  const lives: string[][] = [];
  const done = Promise.withResolvers<void>();
  const bots = [1, 2, 1].map((times, life) => {
    const fetch = life === 0 ? here.homeserver.fetch : forgetful(here.homeserver.fetch, times);
    return here.client("bot", { store, fetch });
  });
  const room = await alice.createRoom({ preset: "public_chat" });
  for (const [life, bot] of bots.entries()) {
    if (life === 0) await bot.joinRoom(room);
    else if (life === 1) await alice.sendText(room, "once");
    lives.push(heard(bot));
    if (life === 1) bot.on("m.room.message", () => done.promise);
    bot.start();
    await here.settle();
    if (life === 0) await alice.sendText(room, "before");
    for (let minute = 0; minute < 3; minute++) {
      await here.clock.tick(60_000);
      await here.settle();
    }
    if (life === 1) done.resolve();
    if (life === 1) await alice.sendText(room, "after");
    await here.settle();
    await bot.close();
  }
  assertEquals(lives, [["before"], ["once", "after"], []]);
});

for (const way of ["left", "banned", "kept"] as const) {
  Deno.test(`A room that was ${way} while the token was lost is known so, with what was said before`, async () => {
    await using here = clientStage();
    const store = new MemoryStore();
    const alice = here.client("alice");
    const first = here.client("bot", { store });
    const elsewhere = here.client("bot");
    const rooms = await Promise.all([1, 2].map(() => alice.createRoom({ preset: "public_chat" })));
    const [room, other] = rooms as [RoomID, RoomID];
    for (const each of rooms) await first.joinRoom(each);
    await first.syncOnce();
    for (const each of rooms) await alice.sendText(each, "before");
    await first.syncOnce();
    await first.close();
    await alice.sendText(room, "meanwhile");
    if (way === "left") await elsewhere.leaveRoom(room);
    else if (way === "banned") await alice.banUser(room, "@bot:localhost");
    if (way !== "kept") await alice.sendText(room, "later");
    const seen: string[] = [];
    for (const fetch of [forgetful(here.homeserver.fetch), here.homeserver.fetch]) {
      await using bot = here.client("bot", { store, fetch });
      bot.on("m.room.message", ({ content }) => void seen.push(content.body));
      bot.on("LEAVE", ({ state_key }) => void seen.push(`${state_key} left`));
      bot.on("BAN", ({ state_key }) => void seen.push(`${state_key} banned`));
      bot.on("GAP", () => void seen.push("gap"));
      await bot.syncOnce();
      const joined = await bot.stateStore.getJoinedRooms();
      assertEquals(new Set(joined), new Set(way === "kept" ? rooms : [other]));
    }
    assertEquals(seen, ["meanwhile", ...way === "kept" ? [] : [`@bot:localhost ${way}`]]);
  });
}

Deno.test("A token that is lost after a crash loses no invitation that the crash has cut off, nor that the bot was thrown out", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const alice = here.client("alice");
  const invitees = ["@bot:localhost"] as const;
  const first = here.client("bot", { store });
  const room = await alice.createRoom({ invitees });
  await alice.createRoom({ invitees }); // this invitation is handled
  await first.joinRoom(room);
  await first.syncOnce();
  const gate = Promise.withResolvers<void>();
  for (const type of ["INVITE", "KICK", "m.room.message"] as const) first.on(type, () => gate.promise);
  const running = first.start();
  await here.settle();
  const invited = await alice.createRoom({ invitees });
  await here.settle();
  await alice.sendText(room, "goodbye");
  await alice.kickUser(room, "@bot:localhost");
  await here.settle();
  const crashed = await copyOf(store);
  gate.resolve();
  await first.stop();
  await running;
  await here.clock.tick(15_000); // the lease of what has crashed
  const lives: string[][] = [];
  for (const fetch of [forgetful(here.homeserver.fetch), here.homeserver.fetch]) {
    const seen: string[] = [];
    lives.push(seen);
    await using bot = here.client("bot", { store: crashed, fetch });
    bot.on("INVITE", ({ room_id }) => void seen.push(room_id === invited ? "invited" : "invited again"));
    bot.on("KICK", () => void seen.push("thrown out"));
    bot.on("m.room.message", ({ content }) => void seen.push(content.body));
    await bot.syncOnce();
    await bot.close();
  }
  assertEquals(lives, [["goodbye", "thrown out", "invited"], []]);
});

Deno.test("A token that is lost before the first response is handled, and a crash, lose nothing of that response", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const alice = here.client("alice");
  const bot = here.client("bot", { store, fetch: forgetful(here.homeserver.fetch, 2) });
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await here.client("bot").joinRoom(room);
  await alice.sendText(room, "first");
  await alice.createRoom({ invitees: ["@bot:localhost"] });
  const gate = Promise.withResolvers<void>();
  for (const type of ["INVITE", "m.room.message"] as const) bot.on(type, () => gate.promise);
  let refusals = 0;
  bot.on("SYNC_ERRORED", () => void refusals++);
  const running = bot.start();
  for (let minute = 0; minute < 3; minute++) await here.clock.tick(60_000);
  await alice.sendText(room, "second");
  await here.settle();
  assert(refusals > 0);
  const crashed = await copyOf(store);
  gate.resolve();
  await bot.stop();
  await running;
  await here.clock.tick(15_000); // the lease of what has crashed
  const lives: string[][] = [];
  for (let life = 0; life < 2; life++) {
    const seen: string[] = [];
    lives.push(seen);
    await using next = here.client("bot", { store: crashed });
    next.on("INVITE", () => void seen.push("invited"));
    next.on("m.room.message", ({ content }) => void seen.push(content.body));
    next.on("GAP", () => void seen.push("gap"));
    await next.syncOnce();
    await next.close();
  }
  assertEquals(lives, [["first", "invited", "second"], []]);
});

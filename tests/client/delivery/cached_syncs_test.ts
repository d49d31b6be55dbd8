import { assertEquals, assertRejects } from "@std/assert";
import { PaginationDirection } from "@greenroom/matrix/types";
import { MemoryStore } from "@greenroom/matrix";
import { Gates } from "../support/hearing.ts";
import { NO_FAULT, TestProcess } from "../support/crash.ts";
import { clientStage, heard } from "../support/stage.ts";
import { MEGOLM } from "../support/encrypted_room.ts";

/** For how long Synapse gives an answer again, in milliseconds. */
const CACHED = 120_000;

/** A homeserver that gives answers again, and Alice, in a room that the bot has joined. */
async function cachingStage(versions?: readonly string[]) {
  const here = clientStage({ quirks: { syncCache: CACHED }, ...(versions && { versions }) });
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  await here.client("bot").joinRoom(room);
  return { here, alice, room, [Symbol.asyncDispose]: () => here[Symbol.asyncDispose]() };
}

/** Filters, one of which can't be spelled in another way, and one of which is too long for an address. */
const LONG = {
  room: { not_rooms: Array.from({ length: 200 }, (_, index) => `!room${index}:localhost` as const) },
};
const filters = [undefined, { room: { timeline: { limit: 5 } } }, LONG, "0"];

for (const [index, filterData] of filters.entries()) {
  Deno.test(`A command is not run again at restarts without a store, though the server gives old answers: filter ${index}`, async () => {
    await using stage = await cachingStage();
    const { here, alice, room } = stage;
    if (filterData === "0") await here.client("bot").createFilter({});
    for (let life = 0; life < 4; life++) {
      await using bot = here.client("bot");
      const texts = heard(bot);
      bot.start({ ignoreInitialSync: true, filterData });
      await bot.ready;
      if (life === 0) await alice.sendText(room, "!deploy");
      await here.settle();
      assertEquals(texts, life === 0 ? ["!deploy"] : []);
    }
  });
}

Deno.test("A script with one pass a run and no store sees each invitation, though the server gives old answers", async () => {
  await using stage = await cachingStage();
  const { here, alice } = stage;
  for (let run = 1; run <= 3; run++) {
    await alice.createRoom({ invitees: ["@bot:localhost"] });
    await using bot = here.client("bot");
    const invitations = new Set<string>();
    bot.on("INVITE", ({ room_id }) => void invitations.add(room_id));
    await bot.syncOnce();
    assertEquals(invitations.size, run);
  }
});

Deno.test("An invitation that was withdrawn is not accepted at a restart, though the server gives old answers", async () => {
  await using stage = await cachingStage();
  const { here, alice } = stage;
  const invited = await alice.createRoom({ invitees: ["@bot:localhost"] });
  const seen: string[][] = [];
  for (let run = 0; run < 2; run++) {
    await using bot = here.client("bot");
    const rooms: string[] = [];
    seen.push(rooms);
    bot.on("INVITE", ({ room_id }) => void rooms.push(room_id));
    bot.start();
    await bot.ready;
    if (run === 0) await alice.kickUser(invited, "@bot:localhost");
  }
  assertEquals(seen, [[invited], []]);
});

Deno.test("Nothing goes in clear into a room that was encrypted between two starts, though the server gives old answers", async () => {
  await using stage = await cachingStage();
  const { here, alice, room } = stage;
  const start = async () => {
    const bot = here.client("bot");
    bot.start();
    await bot.ready;
    return bot;
  };
  await (await start()).close();
  await alice.sendStateEvent(room, "m.room.encryption", MEGOLM);
  const bot = await start();
  await assertRejects(() => bot.sendText(room, "secret"), Error, "encrypt");
});

Deno.test("A wake after a pass that was killed brings what came in between, once, though the server gives old answers", async () => {
  await using stage = await cachingStage();
  const { here, alice, room } = stage;
  const store = new MemoryStore();
  const lives: string[][] = [];
  using gates = new Gates();
  const wake = (process: TestProcess) => {
    const texts: string[] = [];
    lives.push(texts);
    const bot = here.client("bot", {
      store: process.store(store),
      fetch: process.fetch(here.homeserver.fetch),
      lease: { duration: 1_000 },
    });
    bot.on("m.room.message", async ({ content }) => {
      texts.push(content.body);
      if (lives.length === 2) await gates.at(content.body);
    });
    return { bot, pass: bot.syncOnce() };
  };
  await wake(new TestProcess(NO_FAULT)).pass;
  await alice.sendText(room, "one");
  const process = new TestProcess(NO_FAULT);
  const { bot, pass } = wake(process);
  pass.catch(() => {});
  await here.until(() => lives[1]?.length === 1);
  process.kill();
  bot.close();
  await alice.sendText(room, "two");
  await here.clock.tick(1_000);
  await wake(new TestProcess(NO_FAULT)).pass;
  await wake(new TestProcess(NO_FAULT)).pass;
  assertEquals(lives, [[], ["one"], ["one", "two"], []]);
});

Deno.test("getMessages() begins at the newest message on servers that need a token, though they give old answers", async () => {
  await using stage = await cachingStage(["v1.2"]);
  const { alice, room } = stage;
  for (const text of ["one", "two"]) {
    await alice.sendText(room, text);
    const { chunk } = await alice.getMessages(room, PaginationDirection.BACKWARD, undefined, { limit: 1 });
    assertEquals(chunk[0]?.content.body, text);
  }
});

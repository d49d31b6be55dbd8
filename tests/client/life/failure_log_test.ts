import { assertEquals, assertRejects } from "@std/assert";
import { defineSession, UnknownTokenError } from "@greenroom/matrix";
import { ActorError } from "@greenroom/matrix/errors";
import { eventLoopTurn } from "../../actors/kernel/support.ts";
import { WatchedStore } from "../support/company.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

const COUNT = defineSession({ name: "count", per: "room", initial: () => ({ count: 0 }) });

/** What has gone wrong, as the log says it. */
function failures({ log }: ClientStage): string[] {
  return log.lines.flatMap(([level, message]) => level === "error" ? [message] : []);
}

Deno.test("Why start() can't begin is thrown, and not in the log as well", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { accessToken: "nobody's" });
  await assertRejects(() => bot.start(), UnknownTokenError);
  await stage.settle();
  assertEquals(failures(stage), []);
});

Deno.test("A store that fails while the client syncs is what start() throws, and not in the log as well", async () => {
  await using stage = clientStage();
  const store = new WatchedStore();
  const bot = stage.client("bot", { store });
  const roomId = await bot.createRoom();
  const failed = assertRejects(() => bot.start(), ActorError, "The store is closed");
  await bot.ready;
  store.isClosed = true;
  await stage.client("bot").sendText(roomId, "x");
  await failed;
  await stage.settle();
  assertEquals(failures(stage), []);
});

Deno.test("A token that dies while the client syncs is what start() throws, and not in the log as well", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { store: new WatchedStore(), encryption: true });
  const roomId = await bot.createRoom();
  bot.on("m.room.message", () => void bot.sendText(roomId, "x").catch(() => {}));
  const failed = assertRejects(() => bot.start(), UnknownTokenError);
  await bot.ready;
  await bot.sendText(roomId, "x");
  stage.homeserver.revokeTokens("@bot:localhost");
  await stage.clock.tick(60_000);
  await failed;
  await stage.settle();
  assertEquals(failures(stage), []);
});

Deno.test("What ends a client that nobody has started is in the log once", async () => {
  await using stage = clientStage();
  const store = new WatchedStore();
  const bot = stage.client("bot", { store, encryption: true });
  await bot.sessions.update(COUNT, "!room:x", (state) => void state.count++);
  store.isClosed = true;
  await assertRejects(() => bot.sessions.update(COUNT, "!room:x", (state) => void state.count++));
  await assertRejects(() => bot.done, ActorError, "The store is closed");
  assertEquals(failures(stage), ["The client has failed"]);
});

Deno.test("A handler that starts, stops and hangs leaves no unhandled rejection when its client is closed", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { closeTimeout: 2_000 });
  const roomId = await bot.createRoom();
  const stuck = Promise.withResolvers<void>();
  const isStopped = Promise.withResolvers<void>();
  bot.on("m.room.message", async () => {
    const running = bot.start();
    await bot.stop();
    await running;
    isStopped.resolve();
    await stuck.promise;
  });
  const running = bot.start();
  await bot.ready;
  await stage.client("bot").sendText(roomId, "x");
  await isStopped.promise;
  const closed = bot.close();
  await stage.settle();
  await stage.clock.tick(2_000);
  await closed;
  await running;
  stuck.resolve();
  await eventLoopTurn(); // in which the runtime looks for rejections that nobody handles
  assertEquals(failures(stage), []);
});

Deno.test("A store that fails between passes is a warning: the client goes on", async () => {
  await using stage = clientStage();
  const store = new WatchedStore();
  const bot = stage.client("bot", { store });
  await bot.syncOnce();
  await bot.sessions.update(COUNT, "!room:x", (state) => void state.count++); // takes the device
  store.isClosed = true;
  await assertRejects(() => bot.sessions.update(COUNT, "!room:x", (state) => void state.count++));
  store.isClosed = false;
  const again = bot.sessions.update(COUNT, "!room:x", (state) => void state.count++);
  for (let second = 0; second < 20; second++) await stage.clock.tick(1_000); // the lease of before runs out
  await again;
  assertEquals(failures(stage), []);
  assertEquals(stage.log.lines.filter(([, message]) => message.includes("goes on with new parts")).length, 1);
});

import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Client, MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import { ActorError, ClientEndedError } from "@greenroom/matrix/errors";
import { Homeserver } from "@greenroom/matrix/testing";
import { assertPending } from "../../actors/kernel/support.ts";
import { company, WatchedStore } from "../support/company.ts";
import { clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

for (
  const [name, end] of Object.entries<(bot: Client) => unknown>({
    "stop()": (bot) => bot.stop(),
    "stop() in a handler": (bot) => bot.on("m.room.message", () => bot.stop()),
    "close()": (bot) => bot.close(),
    "close() in a handler": (bot) => bot.on("m.room.message", () => bot.close()),
  })
) {
  Deno.test(`When start() resolves after ${name}, nothing uses the store any more`, async () => {
    await using stage = clientStage();
    const { store, bot, alice, roomId } = await company(stage);
    const heard: string[] = [];
    const gate = Promise.withResolvers<void>();
    bot.on("m.room.message", async ({ content }) => {
      await gate.promise;
      await bot.sendNotice(roomId, `heard ${content.body}`);
      heard.push(content.body);
    });
    const running = bot.start();
    await bot.ready;
    const isByHandler = name.includes("handler");
    if (isByHandler) end(bot);
    await alice.sendText(roomId, "x");
    await stage.settle();
    if (!isByHandler) end(bot);
    await stage.settle();
    await assertPending(running);
    gate.resolve();
    await running;
    assertEquals(heard, ["x"]);
    store.isClosed = true;
    const before = store.uses.length;
    for (let minute = 0; minute < 5; minute++) await stage.clock.tick(60_000);
    assertEquals(store.uses.slice(before), []);
    await bot.close(); // which finds the store closed, if it comes to that
    await bot.done;
  });
}

Deno.test("A handler that does not settle holds start() for no longer than closeTimeout, which the log says", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { closeTimeout: 2_000 });
  const roomId = await bot.createRoom();
  const stuck = Promise.withResolvers<void>();
  bot.on("m.room.message", () => stuck.promise);
  const running = bot.start();
  await stage.settle();
  await stage.client("bot").sendText(roomId, "x");
  await stage.settle();
  await bot.stop();
  await stage.clock.tick(1_000);
  await assertPending(running);
  await stage.clock.tick(1_000);
  await running;
  assert(stage.log.lines.some(([level, message]) => level === "warn" && message.includes("still at work")));
  stuck.resolve();
});

Deno.test("A client that was stopped goes on with its store when there is something to do, and as before when it is started", async () => {
  await using stage = clientStage();
  const { store, bot, alice, roomId } = await company(stage);
  const heard: string[] = [];
  bot.on("m.room.message", ({ content }) => heard.push(content.body));
  for (const round of ["1", "2"]) {
    const running = bot.start();
    await bot.ready;
    await alice.sendText(roomId, round);
    await stage.until(() => heard.includes(round));
    await bot.stop();
    await running;
    await stage.clock.tick(60_000);
    const before = store.uses.length;
    await bot.sendText(roomId, `said after round ${round}`);
    assert(store.uses.length > before);
    await stage.clock.tick(60_000); // the device is handed back
    const rest = store.uses.length;
    await stage.clock.tick(60_000);
    assertEquals([store.uses.length, stage.clock.pending], [rest, 0]);
  }
  assertEquals(heard, ["1", "said after round 1", "2"]);
});

Deno.test("stop(), close() and prune() after a failure: the first two resolve, together, twice, and in handlers", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { store: new MemoryStore() });
  const inHandlers: Promise<void>[] = [];
  bot.on("SYNC_STOPPED", async () => {
    await bot.stop();
    inHandlers.push(bot.stop(), bot.close(), bot.close());
  });
  const running = bot.start();
  await bot.ready;
  stage.homeserver.revokeTokens("@bot:localhost");
  await assertRejects(() => running, UnknownTokenError);
  await Promise.all([bot.stop(), bot.close(), bot.stop(), bot.close(), ...inHandlers]);
  assertEquals(inHandlers.length, 3);
  await bot.stop();
  const error = await assertRejects(() => bot.start(), ClientEndedError, "M_UNKNOWN_TOKEN");
  assertInstanceOf(error.cause, ActorError);
  await assertRejects(() => bot.syncOnce(), ClientEndedError, "M_UNKNOWN_TOKEN");
  await assertRejects(() => bot.ready.then(() => bot.start()), ClientEndedError);
});

Deno.test("A store that fails while the client waits for the server ends start() with that failure, when all has stopped", async () => {
  await using stage = clientStage();
  const store = new WatchedStore();
  const bot = stage.client("bot", { store });
  const running = bot.start().then(() => "resolved", (error) => error);
  await bot.ready;
  store.commit = () => Promise.reject(new TypeError("The disk is gone"));
  await stage.clock.tick(60_000);
  const error = await running;
  assertInstanceOf(error, ActorError);
  assertEquals(error.actor, "store");
  store.isClosed = true;
  await assertRejects(() => bot.done, ActorError, "The disk is gone");
});

Deno.test("start() twice: the first ends, the second goes on", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot");
  const [first, second] = [bot.start(), bot.start()];
  await Promise.all([first, bot.ready]);
  await assertPending(second);
  await bot.stop();
  await second;
});

const ENDS: Record<string, (bot: Client, abort: AbortController) => unknown> = {
  "stop()": (bot) => bot.stop(),
  "close()": (bot) => bot.close(),
  "its signal": (_, abort) => abort.abort(),
};

for (const [name, end] of Object.entries(ENDS)) {
  Deno.test(`${name} ends a start that has not got going yet, and what it was about to ask`, async () => {
    await using stage = clientStage();
    stage.homeserver.faults.add({ kind: "hold" }); // no question is answered
    const underway = new Set<AbortSignal>();
    const { fetch: send } = stage.homeserver;
    const fetch: typeof send = (input, init) => {
      if (init?.signal) underway.add(init.signal);
      return send(input, init);
    };
    for (const isLater of [false, true]) {
      for (const known of [{}, { mxid: "@bot:localhost", deviceId: "BOT" } as const]) {
        for (const options of [{}, { encryption: EVERYBODY, store: new MemoryStore() }]) {
          const bot = stage.client("bot", { ...options, ...known, fetch });
          const abort = new AbortController();
          const asking = bot.crypto?.getOwnDeviceKeys().catch(() => {});
          const running = bot.start({ signal: abort.signal });
          const ready = assertRejects(() => bot.ready, ClientEndedError, "the client was");
          if (isLater) await stage.settle();
          await end(bot, abort);
          await stage.clock.tick(5_000); // what encryption has begun is waited for so long
          await Promise.all([running, ready]);
          await bot.close();
          await asking;
          assertEquals([...underway].filter(({ aborted }) => !aborted).length, 0);
        }
      }
    }
  });
}

Deno.test("A signal that was aborted before ends start() immediately, and nothing is sent", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot");
  await bot.start({ signal: AbortSignal.abort() });
  await assertRejects(() => bot.ready, ClientEndedError, "stopped");
  assertEquals(stage.homeserver.requests.length, 0);
});

Deno.test("`ready` resolves when the handlers of the first response have settled, of each start", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot");
  const roomId = await bot.createRoom();
  await bot.sendText(roomId, "1");
  const handled: string[] = [];
  let gate = Promise.withResolvers<void>();
  bot.on("m.room.message", async ({ content }) => {
    await gate.promise;
    handled.push(content.body);
  });
  const first = bot.ready;
  let running = bot.start();
  await stage.settle();
  await assertPending(first);
  gate.resolve();
  await first;
  assertEquals(handled, ["1"]);
  assert(await bot.stateStore.isJoined(roomId, "@bot:localhost"));
  await bot.stop();
  await running;
  await bot.ready; // still that of the first start
  gate = Promise.withResolvers();
  await stage.client("bot").sendText(roomId, "2");
  running = bot.start();
  const second = bot.ready;
  await stage.settle();
  await assertPending(second);
  gate.resolve();
  await second;
  assertEquals(handled, ["1", "2"]);
  await bot.stop();
  await running;
});

Deno.test("`ready` resolves with syncOnce() too, and rejects when the client is closed before", async () => {
  await using stage = clientStage();
  const [one, two] = [stage.client("bot"), stage.client("bot")];
  const { ready } = one;
  await one.syncOnce();
  await ready;
  await two.close();
  await assertRejects(() => two.ready, ClientEndedError, "closed");
});

Deno.test("`ready` of a start that fails rejects with the reason, which need not be handled", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { accessToken: "nobody's" });
  void bot.ready;
  await assertRejects(() => bot.start(), UnknownTokenError);
  await assertRejects(() => bot.ready, UnknownTokenError);
});

Deno.test("close() leaves no connection, no timer, and nothing that waits, by the machine's own clock", async () => {
  await using homeserver = new Homeserver();
  const baseUrl = await homeserver.listen();
  const { accessToken: token } = homeserver.createUser("bot");
  const options = {
    baseUrl,
    accessToken: token,
    log: false,
    encryption: EVERYBODY,
    store: new MemoryStore(),
  } as const;
  await using well = new Client(options);
  const running = well.start();
  await well.ready;
  await well.close();
  await running;
  const failure = Promise.withResolvers<void>();
  const ill = new Client(options);
  ill.on("SYNC_ERRORED", () => failure.resolve());
  using _ = homeserver.faults.add({ kind: "status", status: 500, match: { path: "/sync" } });
  const failing = ill.start();
  await failure.promise; // it waits for some seconds now
  await ill.close();
  await failing;
}); // what is left would fail the test

for (const reads of [false, true]) {
  const how = reads ? " whose fetch was read before" : "";
  Deno.test(`start() of a client${how} with a dead token says why, and done names the part`, async () => {
    await using stage = clientStage();
    const bot = stage.client("bot", { store: new MemoryStore() });
    if (reads) assert(bot.fetch);
    stage.homeserver.revokeTokens("@bot:localhost");
    const done = assertRejects(() => bot.done, ActorError);
    await assertRejects(() => bot.start(), UnknownTokenError);
    assertInstanceOf((await done).cause, UnknownTokenError);
    const { cause } = await assertRejects(() => bot.start(), ClientEndedError);
    assertInstanceOf(cause, ActorError);
  });

  Deno.test(`start() of a client${how} that is to end while another has the device ends, and may begin anew`, async () => {
    await using stage = clientStage();
    const store = new MemoryStore();
    const [first, second] = [stage.client("bot", { store }), stage.client("bot", { store })];
    const running = first.start();
    await first.ready;
    if (reads) assert(second.fetch);
    const ending = new AbortController();
    const waiting = second.start({ signal: ending.signal });
    await stage.settle();
    ending.abort();
    await waiting;
    await first.close();
    await running;
    const again = second.start();
    await second.ready;
    await second.stop();
    await again;
  });
}

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Client, defineSession, type HandlerContext, MemoryStore, ValueError } from "@greenroom/matrix";
import { atEachCrashPoint } from "../support/crash_points.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { clientStage } from "../support/stage.ts";

const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
const visits = defineSession({ name: "visits", per: "member", initial: () => ({ count: 0 }) });

Deno.test("sessions.update() changes a session that handlers read, and end() ends it", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  assertEquals(await bot.sessions.read(points, "@alice:localhost"), undefined);
  await bot.sessions.update(points, "@alice:localhost", (state) => void (state.points += 5));
  await bot.sessions.update(points, "@alice:localhost", (state) => ({ points: state.points * 2 }));
  assertEquals(await bot.sessions.read(points, "@alice:localhost"), { points: 10 });
  await bot.sessions.end(points, "@alice:localhost");
  assertEquals(await bot.sessions.read(points, "@alice:localhost"), undefined);
});

Deno.test("sessions.read() returns a copy", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  await bot.sessions.update(points, "@alice:localhost", (state) => void (state.points = 1));
  const read = await bot.sessions.read(points, "@alice:localhost");
  if (read !== undefined) read.points = 100;
  assertEquals(await bot.sessions.read(points, "@alice:localhost"), { points: 1 });
});

Deno.test("sessions.update() waits for the handler that has the session, and neither loses a change", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const go = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  bot.on("m.room.message", async (_, ctx) => {
    ctx.session.points += 1;
    begun.resolve();
    await go.promise;
  }, { session: points });
  const room = await bot.createRoom();
  bot.start();
  await bot.sendText(room, "hello");
  await here.until(() => true);
  await begun.promise;
  const updated = bot.sessions.update(points, "@bot:localhost", (state) => void (state.points += 10));
  go.resolve();
  await updated;
  assertEquals(await bot.sessions.read(points, "@bot:localhost"), { points: 11 });
});

Deno.test("sessions.list() goes through the sessions of a definition in the order of their keys, between two", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { store: new MemoryStore() });
  const dates = defineSession({ name: "dates", per: () => undefined, initial: () => ({ is: "" }) });
  const other = defineSession({ name: "dates2", per: () => undefined, initial: () => ({ is: "" }) });
  const keys = Array.from({ length: 250 }, (_, index) => String(index).padStart(4, "0"));
  for (const key of keys.toReversed()) {
    await bot.sessions.update(dates, key, (state) => void (state.is = key));
  }
  await bot.sessions.update(other, "0001", (state) => void (state.is = "other"));
  const all = await Array.fromAsync(bot.sessions.list(dates));
  assertEquals(all.map(({ key, state }) => [key, state.is]), keys.map((key) => [key, key]));
  const some = await Array.fromAsync(bot.sessions.list(dates, { after: "0100", before: "0103" }));
  assertEquals(some.map(({ key }) => key), ["0101", "0102"]);
  await bot.sessions.update(visits, ["!a:localhost", "@b:localhost"], (state) => void state.count++);
  assertEquals(await Array.fromAsync(bot.sessions.list(visits)), [
    { key: ["!a:localhost", "@b:localhost"], state: { count: 1 } },
  ]);
});

Deno.test("A key that a definition can't have is refused before anything is stored", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  for (
    const key of [
      "",
      ["!a:localhost", "@b:localhost"],
      "x".repeat(256),
      "alice",
      "@alice",
      3 as never,
    ] as const
  ) {
    await assertRejects(() => bot.sessions.update(points, key, () => {}), ValueError, '"points"');
  }
  await assertRejects(() => bot.sessions.read(visits, "!a:localhost"), ValueError, "the room and the user");
  await assertRejects(() => bot.sessions.read(visits, ["lobby", "@b:localhost"]), ValueError, "the room and");
  assertEquals(await Array.fromAsync(bot.sessions.list(points)), []);
});

Deno.test("What a change throws, or makes that is no plain data, changes nothing", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  await assertRejects(
    () =>
      bot.sessions.update(points, "@a:b", (state) => {
        state.points = 7;
        throw new ValueError("no");
      }),
    ValueError,
    "no",
  );
  await assertRejects(
    () => bot.sessions.update(points, "@a:b", () => ({ points: 1, call: () => {} })),
    ValueError,
    "plain data",
  );
  assertEquals(await bot.sessions.read(points, "@a:b"), undefined);
});

Deno.test("updateSession() is refused in a handler that has a session, and in one that has settled", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const failures: string[] = [];
  let late: (() => void) | undefined;
  bot.on("HANDLER_ERROR", ({ error }) => void failures.push(String(error)));
  bot.on("m.room.message", (_, ctx) => ctx.updateSession(visits, ["!a:b", "@a:b"], () => {}), {
    session: points,
  });
  bot.on("m.room.message", (_, ctx) => {
    ctx.updateSession(points, "@other:localhost", (state) => void state.points++);
    late = () => ctx.updateSession(points, "@other:localhost", (state) => void state.points++);
  });
  const room = await bot.createRoom();
  bot.start();
  await bot.sendText(room, "hello");
  await here.until(() => failures.length === 1);
  await here.settle();
  assertEquals(failures, [
    'ValueError: Cannot change the session "visits": the handler has "points" as its own; add it without the option session',
  ]);
  assertThrows(() => late?.(), ValueError, "has settled");
  assertEquals(await bot.sessions.read(points, "@other:localhost"), { points: 1 });
});

Deno.test("What a handler changes of a session when it has settled is refused, since nothing would keep it", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const late: (() => unknown)[] = [];
  const use = (change: () => void) => void late.push(change);
  for (const isAsync of [false, true]) { // which changes nothing in time
    bot.on("m.room.message", (_, ctx) => {
      use(() => ctx.updateSession(visits, ["!a:b", "@a:b"], () => {}));
      return isAsync ? Promise.resolve() : undefined;
    });
  }
  bot.on("m.room.message", (_, ctx) => {
    ctx.session.points++;
    use(() => ctx.session.points++);
    use(() => ctx.session = { points: 9 });
    use(() => ctx.endSession());
  }, { session: points });
  const room = await bot.createRoom();
  bot.start();
  await bot.sendText(room, "hello");
  await here.until(() => late.length === 5);
  await here.settle();
  for (const change of late) assertThrows(change, ValueError, "the handler has settled");
  assertEquals(await bot.sessions.read(points, bot.mxid), { points: 1 });
});

Deno.test("What a handler changes of a session when it has thrown is refused, too", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const late: (() => unknown)[] = [];
  const fail = () => {
    throw new RangeError("failed");
  };
  const change = (ctx: Pick<HandlerContext, "updateSession">) =>
    void late.push(() => ctx.updateSession(visits, ["!a:b", "@a:b"], () => {}));
  bot.on("m.room.message", (_, ctx) => {
    change(ctx);
    fail();
  });
  bot.on("m.room.message", async (_, ctx) => {
    change(ctx);
    await Promise.resolve();
    fail();
  });
  bot.on("m.room.message", ({ room_id }, ctx) => {
    change(ctx);
    bot.getState(room_id).catch(() => {}); // it is still at work when it throws
    fail();
  });
  bot.on("m.room.message", (_, ctx) => {
    late.push(() => ctx.session.points++);
    fail();
  }, { session: points });
  const room = await bot.createRoom();
  bot.start();
  await bot.sendText(room, "hello");
  await here.until(() => late.length === 4);
  await here.settle();
  for (const change of late) assertThrows(change, ValueError, "the handler has settled");
});

Deno.test("What a task changes of a session when its work has settled or thrown is refused, too", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const late: (() => unknown)[] = [];
  const change = (ctx: HandlerContext) =>
    void late.push(() => ctx.updateSession(points, "@a:b", (state) => void state.points++));
  await bot.runTask("settled", (ctx) => change(ctx));
  const failed = bot.runTask("failed", (ctx) => {
    change(ctx);
    throw new RangeError("failed");
  });
  await assertRejects(() => failed, RangeError, "failed");
  for (const change of late) assertThrows(change, ValueError, "has settled");
  assertEquals(await bot.sessions.read(points, "@a:b"), undefined);
});

Deno.test("A handler that throws changes no session, also not by updateSession()", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const failures: unknown[] = [];
  bot.on("HANDLER_ERROR", ({ error }) => void failures.push(error));
  bot.on("m.room.message", async (_, ctx) => {
    ctx.updateSession(points, "@a:b", (state) => void state.points++);
    await Promise.reject(new ValueError("handler"));
  });
  const room = await bot.createRoom();
  bot.start();
  await bot.sendText(room, "hello");
  await here.until(() => failures.length === 1);
  assertEquals(await bot.sessions.read(points, "@a:b"), undefined);
});

const due = defineSession({ name: "due", per: () => undefined, initial: () => ({ text: "" }) });

/** Does what is due, one after the other. */
async function remind(bot: Client): Promise<void> {
  for await (const { key, state } of bot.sessions.list(due)) {
    await bot.runTask(`reminder ${key}`, async (ctx) => {
      const room = (await bot.getJoinedRooms())[0];
      if (room !== undefined) await bot.sendText(room, state.text);
      ctx.updateSession(due, key, () => null);
      ctx.updateSession(points, "@alice:localhost", (mine) => void mine.points++);
    });
  }
}

Deno.test("runTask() sends once and changes once, through a crash at any moment", async () => {
  const { names } = await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const alice = here.client("alice");
    const bot = new RestartingBot(here, { plans: [plan], setUp: () => {} });
    const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
    await bot.complete((client) => client.joinRoom(room));
    for (const [key, text] of [["1", "tea"], ["2", "tea"]] as const) {
      await bot.complete((client) => client.sessions.update(due, key, (state) => void (state.text = text)));
    }
    await bot.complete(remind);
    await bot.complete(remind);
    await bot.client.close();
    const said = here.homeserver.room(room).messages.filter(({ sender }) => sender === "@bot:localhost");
    assertEquals(said.length, 2, bot.crashes.join());
    const left = (await bot.records("session")).map(({ value }) => value);
    assertEquals(left, [{ points: 2 }], bot.crashes.join());
    return bot.log;
  });
  assert(names.commit.some((name) => name.includes("session")), names.commit.join("\n"));
  assert(names.request.some((name) => name.includes("send/m.room")), names.request.join("\n"));
});

Deno.test("runTask() refuses a name that can't be one, and rejects with what the work throws", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  for (const name of ["", "x".repeat(201), 7 as never]) {
    await assertRejects(() => bot.runTask(name, () => {}), ValueError, "its name must have");
  }
  await assertRejects(
    () => bot.runTask("one", () => Promise.reject(new ValueError("work"))),
    ValueError,
    "work",
  );
  assertEquals(await bot.runTask("two", ({ deliveryId }) => deliveryId), "task-two");
});

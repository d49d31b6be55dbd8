import { assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { NO_FAULT, TestProcess } from "../support/crash.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { copyOf } from "../support/store_copy.ts";

/** How long a device is left alone whose process has ended, in milliseconds. */
const LEASE = 15_000;

/** Answers each message of Alice twice, by two handlers, and then never comes to an end. */
function answering(bot: Client, end: Promise<void>): void {
  for (const voice of ["first", "second"]) {
    bot.on("m.room.message", async ({ sender, room_id, content }) => {
      if (sender !== "@alice:localhost") return;
      await bot.sendNotice(room_id, `${voice} a ${content.body}`);
      await bot.sendNotice(room_id, `${voice} b ${content.body}`);
      await end;
    });
  }
  bot.on("JOIN", async ({ room_id, state_key }) => {
    if (state_key !== "@alice:localhost") return;
    await bot.sendNotice(room_id, "Welcome");
    await end;
  });
}

Deno.test("A handler's message is sent once, though the handler runs again after a crash", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const store = new MemoryStore();
  const end = Promise.withResolvers<void>();
  const process = new TestProcess(NO_FAULT);
  const before = here.client("bot", { store: process.store(store) });
  const room = await before.createRoom({ preset: "public_chat" });
  await before.syncOnce();
  answering(before, end.promise);
  before.start().catch(() => {}); // the end of the process
  await here.settle();
  await alice.joinRoom(room);
  await alice.sendText(room, "hello");
  const answers = () =>
    here.homeserver.room(room).messages.map(({ content }) => String(content.body)).filter((body) =>
      body !== "hello"
    );
  await here.until(() => answers().length === 5);
  const sent = here.homeserver.requests.filter("PUT", "/send/").length;

  process.kill(); // its handlers have sent, and not settled
  await here.clock.tick(LEASE);
  const after = here.client("bot", { store });
  answering(after, end.promise);
  after.start();
  await here.until(() => here.homeserver.requests.filter("PUT", "/send/").length === sent + 5);
  await here.settle();
  assertEquals(answers().toSorted(), [
    "Welcome",
    "first a hello",
    "first b hello",
    "second a hello",
    "second b hello",
  ]);
  end.resolve();
});

Deno.test("A restart delivers what was cut off, at-most-once does not, and a stop in between loses nothing", async () => {
  for (const deliver of ["at-least-once", "at-most-once"] as const) {
    const never = Promise.withResolvers<void>();
    await using here = clientStage();
    const alice = here.client("alice");
    const store = new MemoryStore();
    const before = here.client("bot", { store, deliver });
    const room = await before.createRoom({ preset: "public_chat" });
    await before.syncOnce();
    await alice.joinRoom(room);
    const texts: string[] = [];
    before.on("m.room.message", ({ content }) => {
      texts.push(content.body);
      return content.body === "2" ? never.promise : undefined;
    });
    before.start();
    for (const text of ["1", "2", "3"]) {
      await alice.sendText(room, text);
      await here.until(() => texts.includes(text));
    }
    await before.stop();
    await alice.sendText(room, "4");
    const copy = await copyOf(store); // as if the process had ended
    await here.clock.tick(LEASE);
    const after = here.client("bot", { store: copy, deliver });
    const again = heard(after);
    await after.syncOnce();
    assertEquals([texts, again], [["1", "2", "3"], deliver === "at-least-once" ? ["2", "3", "4"] : ["4"]]);
    before.start();
    await here.until(() => texts.length === 4);
    assertEquals(texts.at(-1), "4");
    never.resolve();
  }
});

Deno.test("stop() leaves nothing to be written of what has been handled", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const alice = here.client("alice");
  const bot = here.client("bot", { store });
  const room = await bot.createRoom({ preset: "public_chat" });
  const seen = heard(bot);
  bot.start();
  await here.settle();
  await alice.joinRoom(room);
  await alice.sendText(room, "hello");
  await here.until(() => seen.length === 1);
  await bot.stop();
  const records = await Array.fromAsync(store.list([]));
  const position = records.find(({ key }) => key.length === 3 && key[2] === "sync")?.value as
    | Record<string, string>
    | undefined;
  assertEquals(position?.handled, position?.nextBatch);
});

Deno.test("A delivery has a name if the client was given a store; without one nothing comes again", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  for (const store of [new MemoryStore(), undefined]) {
    const bot = here.client(store === undefined ? "forgetful" : "keeper", { store });
    const names: unknown[] = [];
    await bot.joinRoom(room);
    await bot.syncOnce();
    bot.on("m.room.message", ({ event_id }, { deliveryId }) => {
      names.push(deliveryId?.startsWith(event_id));
    });
    bot.start();
    await alice.sendText(room, "hello");
    await here.settle();
    assertEquals(names, [store && true]);
  }
});

/**
 * What a bot missed while it was away: more than a response holds.
 *
 * @param answer What a server answers that is asked for the rest; undefined: what it should.
 */
async function missed(here: ClientStage, answer: () => Response | undefined) {
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  const store = new MemoryStore();
  const bot = here.client("bot", { store });
  await bot.joinRoom(room);
  await bot.syncOnce();
  await bot.close();
  const said = Array.from({ length: 30 }, (_, index) => `${index}`);
  for (const text of said) await alice.sendText(room, text);
  const failing: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const isGap = new URL(request.url).pathname.endsWith("/messages");
    const failure = isGap ? answer() : undefined;
    return failure === undefined ? here.homeserver.fetch(request) : Promise.resolve(failure);
  };
  return { store, said, failing };
}

Deno.test("What a gap hides is delivered, though the token dies while the gap is read", async () => {
  await using here = clientStage();
  const { store, said, failing } = await missed(
    here,
    () => Response.json({ errcode: "M_UNKNOWN_TOKEN" }, { status: 401 }),
  );
  const second = here.client("bot", { store, fetch: failing });
  const texts = heard(second);
  await assertRejects(() => second.start());
  await second.close();
  const third = here.client("bot", { store });
  const later = heard(third);
  await third.syncOnce();
  assertEquals([texts, later], [[], said]);
});

/** What a bot hears that was away, on a server that fails so often when a gap is read. */
async function heardWith(outages: number, status = 502): Promise<string[]> {
  await using here = clientStage();
  let left = outages;
  const { store, failing } = await missed(
    here,
    () => left-- > 0 ? new Response("Out of order", { status }) : undefined,
  );
  const second = here.client("bot", { store, fetch: failing, retry: false });
  const texts = heard(second);
  second.start();
  for (let round = 0; !texts.includes("29"); round++) {
    if (round === 200) throw new Error("The bot does not go on");
    await here.clock.tick(1_000);
  }
  return texts;
}

Deno.test("What a gap hides is delivered when the server is back, and left out if it never shows it", async () => {
  assertEquals((await heardWith(3)).length, 30);
  assertEquals((await heardWith(1, 500)).length, 30);
  assertEquals((await heardWith(Infinity)).length, 10);
});

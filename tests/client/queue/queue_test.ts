import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Client, defineSession, ForbiddenError, MemoryStore, ValueError } from "@greenroom/matrix";
import { ClientEndedError, MatrixRequestError } from "@greenroom/matrix/errors";
import { PaginationDirection, type QueueProgress, type RoomID } from "@greenroom/matrix/types";
import { begin, ENCRYPTED, twoInARoom } from "../support/encrypted_room.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

/** The texts of a room, in the server's order. */
async function textsOf(client: Client, roomId: RoomID): Promise<string[]> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.FORWARD, undefined, { limit: 100 });
  return chunk.flatMap(({ content }) => "body" in content ? [String(content.body)] : []);
}

const SEND = { method: "PUT", path: "/send/" };

/** Lets time pass until something has settled. */
async function passing<Result>(here: ClientStage, work: Promise<Result>, step = 2_000): Promise<Result> {
  let isOver = false;
  work.catch(() => {}).then(() => isOver = true);
  for (let round = 1; round < 2_000 && !isOver; round++) await here.clock.tick(round % 50 === 0 ? step : 0);
  assert(isOver, "it does not settle");
  return await work;
}

const states = ({ state, send: { content }, left }: QueueProgress) =>
  `${state} ${(content as { body: string }).body} ${left}`;

Deno.test("A queue sends in order what is not awaited, though the server fails at the first", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  here.homeserver.faults.add({ kind: "status", status: 502, match: SEND, times: 1 });
  const queue = bot.queue(room);
  const sends = ["1", "2", "3", "4"].map((text) => queue.sendText(text));
  assertEquals((await queue.list()).length, 4);
  await passing(here, queue.settled());
  assertEquals(await textsOf(bot, room), ["1", "2", "3", "4"]);
  assertEquals(new Set(await Promise.all(sends.map(({ sent }) => sent))).size, 4);
  assertEquals(await queue.list(), []);
});

Deno.test("A queue waits while the server is away, reports it, and goes on when it is back", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const seen: string[] = [];
  const queue = bot.queue(room, { onProgress: (progress) => seen.push(states(progress)) });
  const send = queue.sendNotice("Hello");
  await here.until(() => seen.includes("waiting Hello 1"));
  away.remove();
  await passing(here, send.sent);
  assertEquals(seen[0], "stored Hello 1");
  assertEquals(seen.at(-1), "sent Hello 0");
  assertEquals(
    here.log.lines.filter(([, message]) => message.includes("queued for a room, waiting")).length,
    1,
  );
});

Deno.test("What the server refuses for good rejects, is logged, and does not hold up what comes after it", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const room = await bot.createRoom();
  const body = { errcode: "M_FORBIDDEN", error: "no" };
  here.homeserver.faults.add({ kind: "status", status: 403, body, match: SEND, times: 1 });
  const seen: string[] = [];
  const queue = bot.queue(room, { onProgress: ({ state }) => seen.push(state) });
  const [refused, next] = [queue.sendText("refused"), queue.sendText("next")];
  await assertRejects(() => passing(here, refused.sent), ForbiddenError);
  await passing(here, next.sent);
  assertEquals(await textsOf(bot, room), ["next"]);
  assert(seen.includes("failed"));
  assertEquals(here.log.lines.filter(([, message]) => message.includes("can't be sent")).length, 1);
});

Deno.test("A message at which the server itself fails again and again is taken out at last, and the next is sent", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const body = { errcode: "M_UNKNOWN", error: "Internal server error" };
  const poison = { method: "PUT", path: "poison" };
  const fault = here.homeserver.faults.add({ kind: "status", status: 500, body, match: poison, times: 29 });
  const queue = bot.queue(room);
  const taken = queue.sendText("taken at the thirtieth try", { txnId: "poison-1" });
  await passing(here, taken.sent, 60_000);
  fault.remove();
  here.homeserver.faults.add({ kind: "status", status: 500, body, match: poison });
  const lost = queue.sendText("never taken", { txnId: "poison-2" });
  const next = queue.sendText("next");
  await assertRejects(() => passing(here, lost.sent, 60_000), MatrixRequestError, "500 M_UNKNOWN");
  await passing(here, next.sent);
  assertEquals(here.homeserver.requests.filter("PUT", "poison-2").length, 30);
});

Deno.test("A send can be cancelled while it waits, also between two tries, and not when it has been sent", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false, store: new MemoryStore() });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const seen: string[] = [];
  const queue = bot.queue(room, { onProgress: (progress) => seen.push(states(progress)) });
  const [first, second, third] = ["1", "2", "3"].map((text) => queue.sendText(text));
  assert(first !== undefined && second !== undefined && third !== undefined);
  await here.until(() => seen.includes("waiting 1 3"));
  assertEquals([await second.cancel(), await second.cancel()], [true, false]);
  away.remove();
  assert(await first.cancel());
  await passing(here, third.sent);
  assert(!await third.cancel());
  assertEquals((await assertRejects(() => second.sent, DOMException)).name, "AbortError");
  assertEquals(await textsOf(bot, room), ["3"]);
});

Deno.test("A cancellation waits for the try under way, and says what became of it; others need not wait", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false, store: new MemoryStore() });
  const room = await bot.createRoom();
  for (const isLost of [true, false]) {
    const held = here.homeserver.faults.add({ kind: "hold", match: SEND, times: 1 });
    const lost = here.homeserver.faults.add({ kind: "drop", match: SEND });
    const queue = bot.queue(room);
    const [first, second] = [queue.sendText(`first ${isLost}`), queue.sendText("second")];
    await here.until(() => held.hits > 0);
    const cancelled = first.cancel();
    assert(await second.cancel());
    if (isLost) {
      await here.clock.tick(61_000); // no answer comes
    } else {
      lost.remove();
      held.release();
    }
    assertEquals(await passing(here, cancelled), isLost);
    if (isLost) assertEquals((await assertRejects(() => first.sent, DOMException)).name, "AbortError");
    else await first.sent;
    assertEquals(await queue.list(), []);
    lost.remove();
  }
  await here.clock.tick(600_000);
  assertEquals(await textsOf(bot, room), ["first false"]);
});

Deno.test("A queue holds a thousand sends, and refuses more", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  here.homeserver.faults.add({ kind: "drop", match: SEND });
  const queue = bot.queue(room);
  for (let count = 0; count < 1_000; count++) queue.sendText("x");
  await assertRejects(() => queue.sendText("one more").stored, ValueError, "1000 are waiting");
  await assertRejects(() => bot.queue(room).sendText("and one").sent, ValueError, "1000 are waiting");
});

Deno.test("A queue copies what it is given, and refuses what can't be sent", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const room = await bot.createRoom();
  const content = { msgtype: "m.text" as const, body: "before" };
  const queue = bot.queue(room);
  const { sent } = queue.sendMessage(content);
  content.body = "after";
  await passing(here, sent);
  assertEquals(await textsOf(bot, room), ["before"]);
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  await assertRejects(() => queue.sendMessageEvent("org.example.circle", circle).stored, ValueError, "JSON");
  await assertRejects(() => queue.sendText("x", { signal: null } as never).stored, ValueError, "signal");
  await assertRejects(() => queue.sendText(null).stored, ValueError, "neither text nor html");
  assertThrows(() => bot.queue("nowhere" as never), ValueError);
  assertThrows(() => bot.queue(room, { onProgress: 1 as never }), ValueError);
});

Deno.test("What a client leaves in its queues the next one sends when it has started, in order", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const before = here.client("bot", { retry: false, store });
  const rooms = [await before.createRoom(), await before.createRoom()] as const;
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const left = rooms.flatMap((room) => ["1", "2"].map((text) => before.queue(room).sendText(text)));
  await Promise.all(left.map(({ stored }) => stored));
  await before.close();
  for (const { sent } of left) await assertRejects(() => sent, ClientEndedError);
  await assertRejects(() => before.queue(rooms[0]).settled(), ClientEndedError);
  away.remove();
  const bot = here.client("bot", { store });
  bot.start();
  await bot.ready;
  for (const room of rooms) {
    await passing(here, bot.queue(room).settled());
    assertEquals(await textsOf(bot, room), ["1", "2"]);
  }
});

Deno.test("Each start goes on with what another process has left in the queues", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const [bot, other] = [here.client("bot", { store }), here.client("bot", { store, retry: false })];
  const room = await bot.createRoom();
  for (const text of ["1", "2", "3"]) {
    const running = bot.start();
    await bot.ready;
    await here.settle();
    assertEquals(await textsOf(bot, room), ["1", "2", "3"].slice(0, Number(text) - 1));
    await bot.stop();
    await running;
    const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
    await other.queue(room).sendText(text).stored;
    await other.syncOnce();
    away.remove();
  }
});

Deno.test("A queue sends encrypted into an encrypted room, in order, though an answer gets lost", async () => {
  await using here = clientStage();
  const { alice, bob, roomId } = await twoInARoom(here);
  const texts = heard(bob);
  here.homeserver.faults.add({ kind: "drop-after", match: SEND, times: 1 });
  const queue = alice.queue(roomId);
  for (const text of ["1", "2", "3"]) queue.sendText(text);
  await passing(here, queue.settled());
  await here.until(() => texts.length === 3);
  assertEquals(texts, ["1", "2", "3"]);
  assert(
    here.homeserver.requests.filter("PUT", "/send/").every(({ path }) => path.includes("m.room.encrypted")),
  );
});

Deno.test("A queue keeps what can't be encrypted while the server is away, and sends it in order when it is back", async () => {
  await using here = clientStage();
  const alice = here.client("alice", { encryption: EVERYBODY, retry: false });
  await begin(here, alice);
  const roomId = await alice.createRoom({ initialState: ENCRYPTED });
  await here.settle();
  const away = here.homeserver.faults.add({ kind: "html", match: { path: "/rooms/" } });
  const seen: string[] = [];
  const queue = alice.queue(roomId, { onProgress: (progress) => seen.push(states(progress)) });
  const sends = ["1", "2"].map((text) => queue.sendText(text));
  await here.until(() => seen.includes("waiting 1 2"));
  away.remove();
  await passing(here, queue.settled());
  const { chunk } = await alice.getMessages(roomId, PaginationDirection.FORWARD, undefined, { limit: 100 });
  const ids = await Promise.all(sends.map(({ sent }) => sent));
  assertEquals(chunk.filter(({ type }) => type === "m.room.encrypted").map(({ event_id: id }) => id), ids);
});

Deno.test("A queue of a client that begins without the server waits, too: nobody knows yet whose store it is", async () => {
  await using here = clientStage();
  const room = await here.client("bot").createRoom();
  const away = here.homeserver.faults.add({ kind: "drop" });
  const bot = here.client("bot", { retry: false, store: new MemoryStore() });
  const sends = ["1", "2"].map((text) => bot.queue(room).sendText(text));
  await away.hit();
  await here.settle();
  away.remove();
  await Promise.all(sends.map(({ sent }) => passing(here, sent)));
  assertEquals(await textsOf(bot, room), ["1", "2"]);
});

Deno.test("A client without encryption refuses a send to an encrypted room by its queue, and goes on elsewhere", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const room = await bot.createRoom({ initialState: ENCRYPTED });
  await assertRejects(() => passing(here, bot.queue(room).sendText("x").sent), Error, "has no encryption");
  assertEquals(await bot.queue(room).list(), []);
});

Deno.test("A handler that adds to a queue waits until it is stored; what it adds twice under one key is one", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { store: new MemoryStore() });
  const done = defineSession({ name: "done", per: "room", initial: () => ({ count: 0 }) });
  const room = await bot.createRoom();
  bot.on("m.room.message", ({ content }, ctx) => {
    if (content.body !== "go") return;
    ctx.session.count++;
    const queue = bot.queue(room);
    queue.sendText("answer", { key: "answer" });
    queue.sendText("answer again", { key: "answer" });
  }, { session: done });
  await begin(here, bot);
  await bot.sendText(room, "go");
  await here.until(() => here.homeserver.requests.filter("PUT", "/send/").length === 2);
  await passing(here, bot.queue(room).settled());
  assertEquals(await textsOf(bot, room), ["go", "answer"]);
});

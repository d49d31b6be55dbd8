/** The option `queue` of operations that send. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, ForbiddenError, MatrixRequestError, MemoryStore, ValueError } from "@greenroom/matrix";
import { PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { begin, twoInARoom } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const SEND = { method: "PUT", path: "/send/" };

async function textsOf(client: Client, roomId: RoomID): Promise<string[]> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.FORWARD, undefined, { limit: 100 });
  return chunk.flatMap(({ content }) => "body" in content ? [String(content.body)] : []);
}

/** Lets time pass until something has settled. */
async function passing<Result>(here: ClientStage, work: Promise<Result>): Promise<Result> {
  let isOver = false;
  work.catch(() => {}).then(() => isOver = true);
  while (!isOver) await here.clock.tick(1_000);
  return await work;
}

Deno.test("queue: if-away queues what is sent while the server is away, with its transaction ID, in order", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop-after", match: SEND });
  const sending = ["1", "2"].map((text) => bot.sendText(room, text, { queue: "if-away" }));
  sending.push(bot.sendSticker(room, "mxc://localhost/3", {}, { text: "3", queue: "if-away" }));
  sending.push(bot.sendFile(room, new Uint8Array(1), { fileName: "4", queue: "if-away" }));
  await here.until(() => away.hits > 0);
  away.remove();
  const ids = await passing(here, Promise.all(sending));
  assertEquals(new Set(ids).size, 4);
  assertEquals(await textsOf(bot, room), ["1", "2", "3", "4"]);
  assertEquals(await bot.queue(room).list(), []);
});

Deno.test("queue: if-away keeps the order in an encrypted room, also of what is encrypted already when one is queued", async () => {
  await using here = clientStage();
  const { alice, bob, roomId } = await twoInARoom(here);
  const texts = heard(bob);
  here.homeserver.faults.add({ kind: "html", match: SEND, times: 1 });
  const options = { queue: "if-away", retry: false } as const;
  await passing(here, Promise.all(["1", "2", "3"].map((text) => alice.sendText(roomId, text, options))));
  await here.until(() => texts.length === 3);
  assertEquals(texts, ["1", "2", "3"]);
  const paths = here.homeserver.requests.filter("PUT", "/send/").map(({ path }) => path);
  assert(paths.every((path) => path.includes("m.room.encrypted")));
  const txnIds = paths.map((path) => path.split("/").at(-1));
  assertEquals([txnIds.length, new Set(txnIds).size], [4, 3]); // the first was sent twice
});

Deno.test("queue: if-away queues what is sent while the server can't say whether its room is encrypted", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const client = () => here.client("bot", { encryption: EVERYBODY, retry: false, store });
  const first = client();
  const room = await first.createRoom();
  await begin(here, first);
  await first.close();
  const bot = client();
  const away = here.homeserver.faults.add({ kind: "drop", match: { path: "/rooms/" } });
  await begin(here, bot);
  const sending = ["1", "2"].map((text) => bot.sendText(room, text, { queue: "if-away" }));
  await here.until(() => away.hits > 2); // both, and the first again, by the queue
  assertEquals((await bot.queue(room).list()).length, 2);
  away.remove();
  const ids = await passing(here, Promise.all(sending));
  assertEquals(new Set(ids).size, 2);
  assertEquals(await textsOf(bot, room), ["1", "2"]);
  assertEquals(here.homeserver.requests.filter("PUT", "m.room.encrypted").length, 0);
});

Deno.test("queue: if-away sends what a handler said once, if the server could not say whether its room is encrypted", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  const store = new MemoryStore();
  const client = () => {
    const made = here.client("bot", { encryption: EVERYBODY, retry: false, store });
    made.on("m.room.message", async ({ sender }) => {
      if (sender === "@alice:localhost") await made.sendText(room, "pong", { queue: "if-away" });
    });
    return made;
  };
  const first = client();
  await first.joinRoom(room);
  await begin(here, first);
  await first.close();
  const away = here.homeserver.faults.add({
    kind: "drop",
    match: { path: "/rooms/", user: "@bot:localhost" },
  });
  const second = client();
  await begin(here, second);
  await alice.sendText(room, "ping");
  await here.until(() => away.hits > 1);
  await second.close();
  away.remove();
  const third = client();
  await begin(here, third);
  await passing(here, third.queue(room).settled());
  await here.settle();
  assertEquals(await textsOf(alice, room), ["ping", "pong"]);
});

Deno.test("queue: if-away queues what waits for the server's limit, and all arrive in the order of their rooms", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const rooms = [await bot.createRoom(), await bot.createRoom()];
  here.homeserver.rateLimits.messages = { perSecond: 0.05, burst: 1 };
  const sending = rooms.flatMap((room) =>
    ["1", "2", "3"].map((text) => bot.sendText(room, text, { queue: "if-away" }))
  );
  for (let time = 0; time < 8; time++) await here.clock.tick(1_000);
  const left = await Promise.all(rooms.map((room) => bot.queue(room).list()));
  assertEquals(left.map(({ length }) => length > 0), [true, true]);
  const ids = await passing(here, Promise.all(sending));
  assertEquals(new Set(ids).size, 6);
  for (const room of rooms) assertEquals(await textsOf(bot, room), ["1", "2", "3"]);
});

Deno.test("queue: if-away fails where the server refuses, or fails by itself, as without it", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  for (const [status, kind] of [[403, ForbiddenError], [500, MatrixRequestError]] as const) {
    const body = { errcode: status === 403 ? "M_FORBIDDEN" : "M_UNKNOWN", error: "no" };
    here.homeserver.faults.add({ kind: "status", status, body, match: SEND, times: 1 });
    await assertRejects(() => passing(here, bot.sendText(room, "no", { queue: "if-away" })), kind);
  }
  assertEquals(await bot.queue(room).list(), []);
});

Deno.test("A signal ends the wait for what is queued, which is sent all the same; a close ends it, too", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const bot = here.client("bot", { retry: false, store });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "html", match: SEND });
  const over = new AbortController();
  const [first, second] = [
    bot.sendText(room, "1", { queue: "if-away", signal: over.signal }),
    bot.sendText(room, "2", { queue: "always" }),
  ];
  second.catch(() => {});
  await here.until(() => away.hits > 0);
  await here.settle();
  over.abort(new Error("enough"));
  await assertRejects(() => first, Error, "enough");
  await bot.close();
  await assertRejects(() => second, Error, "the next one sends what is in its queues");
  away.remove();
  const next = here.client("bot", { store });
  await passing(here, next.queue(room).settled());
  assertEquals(await textsOf(next, room), ["1", "2"]);
});

Deno.test("queue refuses other words, and has no effect as another user", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const odd = { queue: "later" as never };
  for (
    const send of [
      () => bot.sendText(room, "x", odd),
      () => bot.sendFile(room, new Uint8Array(1), odd),
      () => bot.react(room, "$event", "x", odd),
    ]
  ) await assertRejects(send, ValueError, 'queue must be "if-away" or "always"');
  here.homeserver.faults.add({ kind: "html", match: SEND });
  const asUserId = "@ghost:localhost";
  await assertRejects(
    () => passing(here, bot.sendText(room, "x", { queue: "if-away", asUserId })),
    MatrixRequestError,
  );
});

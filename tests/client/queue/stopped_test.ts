import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { ClientEndedError, EventTooLargeError, ForbiddenError } from "@greenroom/matrix/errors";
import { PaginationDirection } from "@greenroom/matrix/types";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { clientStage } from "../support/stage.ts";

const SEND = { method: "PUT", path: "/send/" };
const FORBIDDEN = { kind: "status", status: 403, body: { errcode: "M_FORBIDDEN", error: "no" } } as const;

/** Has a client's store refuse to take anything out of its queues, as it does when another device acts. */
function keepsAll(client: Client): { remove(): void } {
  const { sessions } = client;
  const { update } = sessions;
  sessions.update = (definition, key, change) => {
    if (definition.name !== "greenroom.queue") return update(definition, key, change);
    return update(definition, key, (state) => {
      const changed = change(state);
      if (changed === null) throw new ValueError("kept");
      return changed;
    });
  };
  return { remove: () => void (sessions.update = update) };
}

const stops = (lines: readonly (readonly [string, string, ...unknown[]])[]) =>
  lines.filter(([, message]) => message.includes("A queue has stopped")).length;

Deno.test("A queue whose refused send stays in the store stops, says so once, and sends no more", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  keepsAll(bot);
  here.homeserver.faults.add({ ...FORBIDDEN, match: SEND });
  const queue = bot.queue(room);
  const [refused, next] = [queue.sendText("refused"), queue.sendText("next")];
  await assertRejects(() => refused.sent, ForbiddenError, "no");
  await assertRejects(() => next.sent, ClientEndedError, "its queue has stopped; make a new client");
  await here.clock.tick(600_000);
  assertEquals(here.homeserver.requests.filter("PUT", "/send/").length, 1);
  assertEquals(stops(here.log.lines), 1);
  await assertRejects(() => queue.sendText("one more").stored, ClientEndedError, "its queue has stopped");
});

Deno.test("A queue stops behind a send that has arrived and stays in the store; that send has its event", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const kept = keepsAll(bot);
  const queue = bot.queue(room);
  const [sent, next] = [queue.sendText("arrives"), queue.sendText("next")];
  assert((await sent.sent).startsWith("$"));
  await assertRejects(() => next.sent, ClientEndedError, "its queue has stopped");
  kept.remove();
  const again = bot.queue(room); // reads both: the server takes the first for what it has
  assertEquals((await again.list()).length, 2);
  await again.settled();
  const texts = here.homeserver.requests.filter("PUT", "/send/").map(({ path }) => path);
  assertEquals([texts.length, new Set(texts).size], [3, 2]);
});

Deno.test("A cancellation that the store refuses rejects with that, and its queue stops", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const queue = bot.queue(room);
  const [first, second] = [queue.sendText("1"), queue.sendText("2")];
  await Promise.all([second.stored, away.hit()]);
  keepsAll(bot);
  await assertRejects(() => second.cancel(), ValueError, "kept");
  await assertRejects(() => second.sent, ValueError, "kept");
  await here.clock.tick(600_000);
  await assertRejects(() => first.sent, ClientEndedError, "its queue has stopped");
});

Deno.test("A queue waits as long as the server asks for, and no shorter", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const body = { errcode: "M_LIMIT_EXCEEDED", error: "slowly", retry_after_ms: 90_000 };
  here.homeserver.faults.add({ kind: "status", status: 429, body, match: SEND, times: 1 });
  const waits = Promise.withResolvers<void>();
  const send = bot.queue(room, { onProgress: ({ state }) => state === "waiting" && waits.resolve() })
    .sendText("Hello");
  await waits.promise;
  await here.clock.tick(89_999);
  await here.settle();
  assertEquals(here.homeserver.requests.filter("PUT", "/send/").length, 1);
  await here.clock.tick(1);
  await send.sent;
});

Deno.test("A queue takes out what can never be encrypted, and sends what comes after it", async () => {
  await using here = clientStage();
  const alice = here.client("alice", { encryption: EVERYBODY });
  await begin(here, alice);
  const room = await alice.createRoom({ initialState: ENCRYPTED });
  await here.settle();
  const queue = alice.queue(room);
  const [large, next] = [queue.sendText("x".repeat(70_000)), queue.sendText("next")];
  await assertRejects(() => large.sent, EventTooLargeError);
  await next.sent;
  assertEquals(await queue.list(), []);
});

Deno.test("What an earlier process left in many rooms is sent, though some of them have to wait", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const before = here.client("bot", { retry: false, store });
  const rooms = await Promise.all(Array.from({ length: 12 }, () => before.createRoom()));
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const left = rooms.flatMap((room) => ["1", "2"].map((text) => before.queue(room).sendText(text)));
  await Promise.all(left.map(({ stored }) => stored));
  await before.close();
  away.remove();
  const blocked = rooms.toSorted().slice(0, 6); // more than are begun at once
  const faults = blocked.map((room) =>
    here.homeserver.faults.add({ kind: "drop", match: { path: `/rooms/${encodeURIComponent(room)}/send/` } })
  );
  const free = rooms.filter((room) => !blocked.includes(room));
  const arrived = () =>
    here.homeserver.requests.filter("PUT", "/send/").filter(({ path, status }) =>
      status === 200 && free.some((room) => path.includes(encodeURIComponent(room)))
    ).length;
  const bot = here.client("bot", { retry: false, store });
  bot.start();
  await here.until(() => arrived() === 2 * free.length);
  for (const fault of faults) fault.remove();
});

Deno.test("A queue that reads a full room refuses more", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const before = here.client("bot", { retry: false, store });
  const room = await before.createRoom();
  here.homeserver.faults.add({ kind: "drop", match: SEND });
  const left = Array.from({ length: 1_000 }, () => before.queue(room).sendText("x"));
  await left.at(-1)?.stored;
  await before.close();
  const bot = here.client("bot", { retry: false, store });
  await assertRejects(() => bot.queue(room).sendText("one more").stored, Error, "1000 are waiting already");
});

Deno.test("After a logout a token that is set by hand revives the queues; what was queued before is not sent", async () => {
  await using here = clientStage();
  const { accessToken } = here.homeserver.createUser("actor", { password: "curtain" });
  const bot = here.client("bot", { retry: false, accessToken });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const old = bot.queue(room).sendText("before");
  await away.hit();
  away.remove();
  await bot.logout();
  await assertRejects(() => bot.queue(room).sendText("in between").stored, ClientEndedError, "logged out");
  const elsewhere = here.client("elsewhere", { accessToken: undefined });
  await elsewhere.login({ identifier: "@actor:localhost", password: "curtain" });
  bot.api.accessToken = elsewhere.api.accessToken;
  await bot.queue(room).sendText("after").sent;
  await assertRejects(() => old.sent, ClientEndedError, "logged out");
  const { chunk } = await bot.getMessages(room, PaginationDirection.FORWARD, undefined, { limit: 100 });
  assertEquals(chunk.flatMap(({ content }) => "body" in content ? [content.body] : []), ["after"]);
});

Deno.test("A token of another user, set by hand after a logout, sends nothing of what the store has", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false, store: new MemoryStore() });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  await bot.queue(room).sendText("of the bot").stored;
  await away.hit();
  away.remove();
  await bot.logout();
  bot.api.accessToken = here.homeserver.createUser("other").accessToken;
  await assertRejects(() => bot.queue(room).list(), Error, "the access token is that of @other:localhost");
  await here.clock.tick(600_000);
  assertEquals(here.homeserver.requests.filter("PUT", "/send/").length, 1);
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { ClientEndedError, MatrixError } from "@greenroom/matrix/errors";
import { PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { atEachCrashPoint } from "../support/crash_points.ts";
import { type FaultPlan, TestProcess } from "../support/crash.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

const SEND = { method: "PUT", path: "/send/" };
const TEXTS = ["1", "2", "3"];

/** Alice in a room, and instances of a bot there that queue three sends when she says "go". */
async function scene(here: ClientStage) {
  const alice = here.client("alice");
  const roomId = await alice.createRoom({ preset: "public_chat" });
  const store = new MemoryStore();
  const instance = (options = {}): Client => {
    const bot = here.client("bot", { store, retry: false, lease: { duration: 1_000 }, ...options });
    bot.on("m.room.message", ({ content, room_id }) => {
      if (content.body !== "go") return;
      for (const text of TEXTS) bot.queue(room_id).sendText(text);
    });
    return bot;
  };
  const first = instance();
  await first.joinRoom(roomId);
  await first.syncOnce();
  return { alice, roomId, store, instance, first };
}

async function textsOf(client: Client, roomId: RoomID): Promise<string[]> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.FORWARD, undefined, { limit: 100 });
  return chunk.flatMap(({ content }) => "body" in content ? [String(content.body)] : []);
}

/** Has a client's store fail when it is asked what became of sends. */
function hideOutcomes({ sessions }: Client): void {
  const { list } = sessions;
  sessions.list = async function* (definition, place) {
    if (definition.name === "greenroom.queue.outcomes") throw new Error("no");
    yield* list(definition, place);
  };
}

const sends = (here: ClientStage) => here.homeserver.requests.filter("PUT", "/send/").length;

Deno.test("What a handler queues in a pass has been sent when the pass ends", async () => {
  await using here = clientStage();
  const { alice, roomId, first } = await scene(here);
  await alice.sendText(roomId, "go");
  await first.syncOnce();
  assertEquals(await textsOf(alice, roomId), ["go", ...TEXTS]);
});

Deno.test("What a pass has to leave in the queue, the next pass sends, of the same instance or of another", async () => {
  for (const isSame of [true, false]) {
    await using here = clientStage();
    const { alice, roomId, first, instance } = await scene(here);
    await alice.sendText(roomId, "go");
    const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
    await first.syncOnce();
    assertEquals(await textsOf(alice, roomId), ["go"]);
    away.remove();
    await (isSame ? first : instance()).syncOnce();
    assertEquals(await textsOf(alice, roomId), ["go", ...TEXTS]);
  }
});

Deno.test("What another instance has sent an old one does not send again, and says which events it is", async () => {
  await using here = clientStage();
  const { alice, roomId, first, instance } = await scene(here);
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const left = TEXTS.map((text) => first.queue(roomId).sendText(text));
  await first.syncOnce();
  away.remove();
  await instance().syncOnce();
  const before = sends(here);
  await first.syncOnce();
  await here.clock.tick(600_000);
  assertEquals(sends(here), before);
  const { chunk } = await alice.getMessages(roomId, PaginationDirection.FORWARD, undefined, { limit: 100 });
  const said = chunk.filter(({ content }) => "body" in content).map(({ event_id }) => event_id);
  assertEquals(await Promise.all(left.map(({ sent }) => sent)), said);
  assertEquals(await textsOf(alice, roomId), TEXTS);
});

Deno.test("What another instance has sent an old one does not send again if it can't read which events it is", async () => {
  await using here = clientStage();
  const { roomId, first, instance } = await scene(here);
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const left = TEXTS.map((text) => first.queue(roomId).sendText(text));
  await first.syncOnce();
  away.remove();
  await instance().syncOnce();
  hideOutcomes(first);
  const before = sends(here);
  await first.syncOnce();
  await here.clock.tick(600_000);
  assertEquals(sends(here), before);
  for (const { sent } of left) await assertRejects(() => sent, ClientEndedError, "what became of a send");
});

Deno.test("What another instance has cancelled, or the server has refused there, an old one says, too", async () => {
  await using here = clientStage();
  const { roomId, first, instance } = await scene(here);
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const states: string[] = [];
  first.queue(roomId, { onProgress: ({ state, send }) => void states.push(`${state} ${send === refused}`) });
  const refused = first.queue(roomId).sendText("too long");
  const cancelled = first.queue(roomId).sendText("never mind");
  await first.syncOnce();
  const other = instance();
  await other.syncOnce();
  assert(await (await other.queue(roomId).list())[1]?.cancel());
  away.remove();
  const refusal = here.homeserver.faults.add({
    ...{ kind: "status", status: 413, match: SEND },
    body: { errcode: "M_TOO_LARGE", error: "Too large" },
  });
  await other.syncOnce();
  refusal.remove();
  const before = sends(here);
  states.length = 0;
  await first.syncOnce();
  await here.clock.tick(600_000);
  assertEquals(sends(here), before);
  await assertRejects(() => refused.sent, MatrixError, "M_TOO_LARGE");
  const error = await assertRejects(() => cancelled.sent, DOMException);
  assertEquals(error.name, "AbortError");
  assertEquals(states, ["failed true", "cancelled false"]);
});

Deno.test("An old instance sends what another has left, before what its own handlers add", async () => {
  await using here = clientStage();
  const { alice, roomId, first, instance } = await scene(here);
  await first.queue(roomId).sendText("0").sent;
  await here.clock.tick(1_000); // between passes a send takes the device for a while
  const other = instance();
  await other.syncOnce();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  await other.queue(roomId).sendText("left").stored;
  await other.syncOnce();
  await other.close();
  away.remove();
  await alice.sendText(roomId, "go");
  await first.syncOnce();
  assertEquals(await textsOf(alice, roomId), ["0", "go", "left", ...TEXTS]);
});

Deno.test("A pass does not wait for a queue longer than it may take, and the next one sends the rest", async () => {
  await using here = clientStage();
  const { alice, roomId, first } = await scene(here);
  await alice.sendText(roomId, "go");
  const held = here.homeserver.faults.add({ kind: "hold", match: SEND });
  const pass = first.syncOnce({ passTimeout: 5_000 });
  await held.hit();
  await here.clock.tick(5_000);
  assertEquals((await pass).left, undefined); // it is in the store
  held.remove();
  await first.syncOnce();
  assertEquals(await textsOf(alice, roomId), ["go", ...TEXTS]);
});

Deno.test("Wherever an instance crashes in a pass, what was queued arrives once, and in order, in a pass", async () => {
  await atEachCrashPoint(async (plan: FaultPlan) => {
    await using here = clientStage();
    const { alice, roomId, instance, store, first } = await scene(here);
    await first.close();
    await alice.sendText(roomId, "go");
    const process = new TestProcess(plan);
    const crashing = instance({ store: process.store(store), fetch: process.fetch(here.homeserver.fetch) });
    await crashing.syncOnce().catch(() => {});
    await here.clock.tick(1_000); // its lease has expired
    const next = instance();
    await next.syncOnce();
    await next.syncOnce();
    assertEquals(await textsOf(alice, roomId), ["go", ...TEXTS]);
    return process.log;
  });
});

Deno.test("What another instance has left takes one commit each, and little room, even if the server refuses it", async () => {
  const COUNT = 40;
  await using here = clientStage();
  const { roomId, store, first, instance } = await scene(here);
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const left = Array.from({ length: COUNT }, (_, index) => first.queue(roomId).sendText(`${index}`));
  await Promise.all(left.map(({ stored }) => stored));
  await first.close();
  away.remove();
  const body = { errcode: "M_FORBIDDEN", error: "no ".repeat(200) };
  here.homeserver.faults.add({ kind: "status", status: 403, body, match: SEND });
  const writes: number[] = [];
  const { commit } = store;
  store.commit = (changes, checks) => {
    writes.push(JSON.stringify(changes).length);
    return commit.call(store, changes, checks);
  };
  await instance().syncOnce();
  assertEquals(sends(here), COUNT + 1);
  assert(writes.length < COUNT + 20, `${writes.length} commits`);
  assert(Math.max(...writes.slice(-COUNT)) < 2_000, `${Math.max(...writes)} characters`);
});

Deno.test("What became of the sends of another instance is forgotten when that has heard of it, and after a day", async () => {
  const DAY = 24 * 60 * 60 * 1_000;
  await using here = clientStage();
  const { roomId, store, first, instance } = await scene(here);
  const outcomes = async () =>
    (await Array.fromAsync(store.list([]), ({ key }) => key)).filter((key) =>
      key.includes("greenroom.queue.outcomes")
    )
      .length;
  const leave = async (client: Client, text: string) => {
    const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
    await client.queue(roomId).sendText(text).stored;
    await client.syncOnce();
    away.remove();
  };
  await leave(first, "heard of");
  await instance().syncOnce();
  assertEquals(await outcomes(), 1);
  await first.syncOnce();
  await here.clock.tick(60_000);
  assertEquals(await outcomes(), 0);
  await leave(first, "never heard of");
  await first.close();
  const second = instance();
  await second.syncOnce();
  assertEquals(await outcomes(), 1);
  await leave(second, "a day later");
  await second.close();
  await here.clock.tick(DAY + 1);
  const third = instance();
  await third.syncOnce();
  assertEquals(await outcomes(), 1);
  await third.close();
  await here.clock.tick(DAY + 1);
  await instance().syncOnce(); // which has nothing to send, there or anywhere
  assertEquals(await outcomes(), 0);
});

Deno.test("A pass sends once what is left in many rooms, also if old outcomes can't be read", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const options = { store, retry: false, lease: { duration: 1_000 } } as const;
  const first = here.client("bot", options);
  const rooms: RoomID[] = [];
  for (let room = 0; room < 7; room++) rooms.push(await first.createRoom());
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  await Promise.all(rooms.map((room) => first.queue(room).sendText("left").stored));
  await first.syncOnce();
  away.remove();
  const before = sends(here);
  const next = here.client("bot", options);
  hideOutcomes(next);
  await next.syncOnce();
  assertEquals(sends(here) - before, rooms.length);
  for (const room of rooms) assertEquals(await next.queue(room).list(), []);
});

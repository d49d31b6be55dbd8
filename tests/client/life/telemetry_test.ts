import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { EVERYBODY } from "../../support/everybody.ts";
import { beginIn, twoInARoom, withholding } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { recordedTelemetry } from "../../support/telemetry.ts";

/** A bot, and a user, in a room that the bot has synced. */
async function inARoom(stage: ClientStage) {
  const [bot, alice] = [stage.client("bot"), stage.client("alice")];
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await bot.joinRoom(room);
  await bot.syncOnce();
  return { alice, bot, room };
}

Deno.test("What a handler sends is in its span, which is in that of the response that has its event", async () => {
  await using stage = clientStage();
  const { alice, bot, room } = await inARoom(stage);
  await alice.sendText(room, "ping");
  bot.on("m.room.message", async ({ sender }) => {
    if (sender !== "@bot:localhost") await bot.sendText(room, "pong");
  });
  await using telemetry = recordedTelemetry();
  await bot.syncOnce();
  const ways = telemetry.spans.map(telemetry.way).map((names) => names.join(" > "));
  assert(
    ways.includes("matrix response > matrix handle m.room.message > matrix sendMessageEvent"),
    ways.join("\n"),
  );
  assert(ways.includes("matrix response > matrix commit"));
  const sync = telemetry.spans.find(({ name }) => name === "matrix response");
  assertEquals(sync?.attributes, {
    "greenroom.sync.rooms": 1,
    "greenroom.sync.events": 1,
    "greenroom.sync.undecryptable": 0,
  });
});

Deno.test("A handler that fails, a send that is tried again, and how late an event was are told", async () => {
  await using stage = clientStage();
  const { alice, bot, room } = await inARoom(stage);
  await alice.sendText(room, "ping");
  bot.on("m.room.message", async () => {
    stage.homeserver.faults.add({ kind: "status", status: 502, match: { path: /\/send\// }, times: 1 });
    await bot.sendText(room, "pong");
    throw new TypeError("no");
  });
  await using telemetry = recordedTelemetry();
  let isOver = false;
  const over = bot.syncOnce().then(() => isOver = true);
  while (!isOver) await stage.clock.tick(1_000);
  await over;
  const handled = telemetry.spans.find(({ name }) => name === "matrix handle m.room.message");
  assertEquals(handled?.attributes, { "greenroom.event.type": "m.room.message", "error.type": "TypeError" });
  const of = (name: string) => telemetry.measured.filter((each) => each.name === `greenroom.client.${name}`);
  assertEquals(of("retries").map(({ value, attributes }) => [value, attributes]), [
    [1, { operation: "sendMessageEvent", error: "M_UNKNOWN" }],
  ]);
  assertEquals(of("lag").map(({ attributes }) => attributes), [{ type: "m.room.message" }]);
  assertEquals(of("duration").map(({ attributes }) => attributes), [{
    type: "m.room.message",
    outcome: "error",
  }]);
  assertEquals(of("running").map(({ value }) => value), [1, -1]);
});

Deno.test("What is decrypted is a span, what can't be is counted, and what a key makes readable is in its response", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const { fetch, release, held } = withholding(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch });
  carol.on("m.room.message", () => {});
  await beginIn(stage, carol, { roomId, member: alice });
  await using telemetry = recordedTelemetry();
  await alice.sendText(roomId, "secret");
  const unread = () => telemetry.measured.filter(({ name }) => name === "greenroom.client.undecryptable");
  await stage.until(() => unread().length > 0 && held.length > 0);
  assertEquals(unread().map(({ value, attributes }) => [value, attributes]), [[1, { code: "MISSING_KEY" }]]);
  release();
  await alice.sendText(roomId, "next"); // something for the next sync to bring
  const handled = () => telemetry.spans.find(({ name }) => name === "matrix handle m.room.message");
  await stage.until(() => handled() !== undefined);
  await stage.settle();
  const ways = telemetry.spans.map(telemetry.way).map((names) => names.join(" > "));
  assert(ways.includes("matrix response > matrix decrypt"), ways.join("\n"));
  assert(ways.includes("matrix response > matrix handle m.room.message"), ways.join("\n"));
});

Deno.test("Each response has a trace of its own, and spans name no room and no user", async () => {
  await using stage = clientStage();
  const { alice, bot, room } = await inARoom(stage);
  bot.on("m.room.message", () => {});
  await using telemetry = recordedTelemetry();
  for (const text of ["one", "two"]) {
    await alice.sendText(room, text);
    await bot.syncOnce();
  }
  const handled = telemetry.spans.filter(({ name }) => name === "matrix handle m.room.message");
  const traces = handled.map((span) => span.spanContext().traceId);
  assertEquals([handled.length, new Set(traces).size], [2, 2]);
  const text = JSON.stringify(
    telemetry.spans.map(({ name, attributes, events }) => ({ name, attributes, events })),
  );
  for (const secret of [room, "@alice", "one"]) assert(!text.includes(secret), secret);
});

Deno.test("A response that can't be committed ends its span with the error", async () => {
  await using stage = clientStage();
  const kv = new MemoryStore();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await stage.homeserver.fetch(input, init);
    if (String(input).includes("/sync")) kv.commit = () => Promise.reject(new TypeError("the disk is gone"));
    return response;
  };
  const bot = stage.client("bot", { store: kv, fetch });
  await bot.createRoom();
  await using telemetry = recordedTelemetry();
  await assertRejects(() => bot.syncOnce(), Error, "the disk is gone");
  const spans = telemetry.spans.filter(({ name }) => name === "matrix response" || name === "matrix commit");
  assertEquals(spans.map(({ name, attributes }) => [name, attributes["error.type"] !== undefined]), [
    ["matrix commit", true],
    ["matrix response", true],
  ]);
});

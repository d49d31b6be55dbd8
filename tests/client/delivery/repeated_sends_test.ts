import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { type Client, type ClientOptions, ValueError } from "@greenroom/matrix";
import type { EventID, MessageEvent, RoomID } from "@greenroom/matrix/types";
import { ENCRYPTED, MEGOLM } from "../support/encrypted_room.ts";
import { Gates, roomWith } from "../support/hearing.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** What a handler does in one life; the life ends when it is over, but for the last. */
type Run = (client: Client, event: MessageEvent) => Promise<unknown>;

/** Whether the room is encrypted, and the bot can encrypt. */
interface Setting {
  readonly encrypted?: boolean;
  readonly encryption?: ClientOptions["encryption"];
}

/** A bot that is killed when its handler has run, and handles the same event in the next life. */
async function lives(
  here: ClientStage,
  runs: readonly Run[],
  { encrypted = false, encryption = encrypted && EVERYBODY }: Setting = {},
) {
  const gates = new Gates();
  const results: unknown[] = [];
  const bot = new RestartingBot(here, {
    client: { encryption },
    setUp: (client) =>
      client.on("m.room.message", async (event) => {
        if (event.content.body !== "question") return;
        const life = results.length;
        results.push(await runs[life]?.(client, event as MessageEvent));
        if (life < runs.length - 1) await gates.at("end");
      }),
  });
  const { alice, id } = encrypted ? await encryptedRoom(here, bot) : await roomWith(here, bot);
  const heard = texts(alice);
  if (encrypted) alice.start();
  await alice.sendText(id, "question");
  for (let life = 1; life <= runs.length; life++) {
    await bot.until(() => results.length === life);
    if (life < runs.length) await bot.restart();
  }
  await bot.settle();
  const room = here.homeserver.room(id);
  const sent = () => room.messages.filter(({ sender }) => sender === "@bot:localhost");
  return { alice, id, bot, results, sent, heard, [Symbol.dispose]: () => gates[Symbol.dispose]() };
}

async function encryptedRoom(here: ClientStage, bot: RestartingBot): Promise<{ alice: Client; id: RoomID }> {
  const alice = here.client("alice", { encryption: EVERYBODY });
  const id = await alice.createRoom({
    preset: "public_chat",
    initialState: ENCRYPTED,
  });
  await bot.client.joinRoom(id);
  await bot.settle();
  return { alice, id };
}

/** What others say, by event ID. */
function texts(client: Client): Map<EventID, string> {
  const heard = new Map<EventID, string>();
  client.on("m.room.message", ({ event_id, content }) => void heard.set(event_id, content.body));
  return heard;
}

const bodies = (events: { content: object }[]) =>
  events.map(({ content }) => "body" in content && content.body);

Deno.test("Content that differs when a handler runs again is sent, and resolves with its own ID", async () => {
  await using here = clientStage();
  using scene = await lives(here, [
    (bot, { room_id }) => bot.sendNotice(room_id, "A"),
    (bot, { room_id }) => bot.sendNotice(room_id, "B"),
    async (bot, { room_id }) => [await bot.sendNotice(room_id, "B"), await bot.sendNotice(room_id, "A")],
  ]);
  assertEquals(bodies(scene.sent()), ["A", "B"]);
  const [a, b, both] = scene.results;
  assertEquals([a, b], scene.sent().map(({ event_id }) => event_id));
  assertEquals(both, [b, a]);
});

Deno.test("It is the same in an encrypted room, where a transaction ID reveals nothing about the content", async () => {
  await using here = clientStage();
  using scene = await lives(here, [
    (bot, { room_id }) => bot.sendNotice(room_id, "A"),
    (bot, { room_id }) => bot.sendNotice(room_id, "B"),
    async (bot, { room_id }) => [await bot.sendNotice(room_id, "B"), await bot.sendNotice(room_id, "A")],
  ], { encrypted: true });
  await here.until(() => scene.heard.size >= 3);
  const [a, b, both] = scene.results;
  assertEquals([scene.heard.get(a as EventID), scene.heard.get(b as EventID)], ["A", "B"]);
  assertEquals([both, scene.sent().length], [[b, a], 2]);
  const ids = here.homeserver.requests.filter("PUT", "/send/m.room.encrypted/")
    .map(({ path }) => path.split("/").at(-1) ?? "");
  assertEquals(new Set(ids).size, 3); // alice's question, A and B
  for (const id of ids) assertMatch(id, /^gr-[\w-]{10,60}$/);
  const [key] = await scene.bot.records("send_key");
  assert(key?.value instanceof Uint8Array && key.value.length === 32);
});

Deno.test("Two concurrent sends keep their IDs when they are made in another order", async () => {
  for (const encrypted of [false, true]) {
    await using here = clientStage();
    const say = (order: readonly string[]): Run => async (bot, { room_id }) => {
      const ids = await Promise.all(order.map(async (text) => [text, await bot.sendText(room_id, text)]));
      return Object.fromEntries(ids);
    };
    using scene = await lives(here, [say(["one", "two"]), say(["two", "one", "two"])], { encrypted });
    const [first, second] = scene.results as [Record<string, EventID>, Record<string, EventID>];
    assertEquals(first.one, second.one);
    assertEquals(scene.sent().length, 3); // the second "two" is a message of its own
    assertNotEquals(first.one, first.two);
  }
});

Deno.test("Two equal sends are two messages, and the same two when the handler runs again", async () => {
  for (const encrypted of [false, true]) {
    await using here = clientStage();
    const twice: Run = async (bot, { room_id }) => [
      await bot.sendText(room_id, "knock"),
      await bot.sendText(room_id, "knock"),
    ];
    using scene = await lives(here, [twice, twice], { encrypted });
    assertEquals(scene.results[0], scene.results[1]);
    assertEquals(scene.sent().map(({ event_id }) => event_id), scene.results[0]);
  }
});

Deno.test("The order of members makes no other content", async () => {
  await using here = clientStage();
  using scene = await lives(here, [
    (bot, { room_id }) => bot.sendMessageEvent(room_id, "com.example.x", { a: 15, b: { c: [1], d: 2 } }),
    (bot, { room_id }) => bot.sendMessageEvent(room_id, "com.example.x", { b: { d: 2, c: [1] }, a: 15 }),
  ]);
  assertEquals([scene.results[0], scene.sent().length], [scene.results[1], 1]);
});

Deno.test("A send with a key is sent once, whatever it says when the handler runs again", async () => {
  for (const encrypted of [false, true]) {
    await using here = clientStage();
    const answer = (text: string): Run => (bot, { room_id }) =>
      bot.sendNotice(room_id, text, { key: "answer" });
    using scene = await lives(here, [answer("It is 12:00"), answer("It is 12:01")], { encrypted });
    assertEquals([scene.results[0], scene.sent().length], [scene.results[1], 1]);
  }
});

Deno.test("Two sends with one key in one run resolve with the same event, also concurrently", async () => {
  for (const encrypted of [false, true]) {
    await using here = clientStage();
    using scene = await lives(here, [
      async (bot, { room_id }) => [
        ...await Promise.all(["1", "2"].map((text) => bot.sendText(room_id, text, { key: "k" }))),
        await bot.sendNotice(room_id, "3", { key: "k" }),
      ],
    ], { encrypted });
    const [event] = scene.sent();
    assertEquals(scene.results[0], [event?.event_id, event?.event_id, event?.event_id]);
    assertEquals(scene.sent().length, 1);
  }
});

Deno.test("A key is refused for another type or room, and beside a transaction ID, before anything is sent", async () => {
  await using here = clientStage();
  const failures: string[] = [];
  let other: RoomID | undefined;
  const failing = async (work: Promise<unknown>) => {
    failures.push((await assertRejects(() => work, ValueError)).message);
  };
  using scene = await lives(here, [async (bot, { room_id, event_id }) => {
    other = await bot.createRoom();
    await bot.sendText(room_id, "first", { key: "k" });
    const before = here.homeserver.requests.length;
    await failing(bot.sendText(other, "first", { key: "k" }));
    await failing(bot.react(room_id, event_id, "👍️", { key: "k" }));
    await failing(bot.sendSticker(room_id, "mxc://localhost/x", {}, { key: "k" }));
    await failing(bot.redact(room_id, event_id, { key: "k" }));
    await failing(bot.sendToDevice("com.example.x", {}, { key: "k" }));
    await failing(bot.sendFile(other, new Uint8Array(3), { key: "k" }));
    await failing(bot.sendText(room_id, "x", { key: "other", txnId: "t" }));
    await failing(bot.sendText(room_id, "x", { key: "" }));
    assertEquals(here.homeserver.requests.length, before);
  }]);
  assertEquals(bodies(scene.sent()), ["first"]);
  assertEquals(
    failures[0],
    `Cannot send m.room.message to ${other} with the key "k": this run of the handler has used ` +
      "it for another type or room; use another key",
  );
  assertEquals(failures.slice(6), [
    "Cannot send m.room.message: it has both a txnId and a key; give one of them",
    "Cannot send m.room.message: its key is empty; leave it out",
  ]);
});

Deno.test("Where nothing comes again a key has no effect", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const id = await bot.createRoom();
  const outside = [await bot.sendText(id, "1", { key: "k" }), await bot.sendNotice(id, "2", { key: "k" })];
  const inside: unknown[] = [];
  bot.on("com.example.go", async () => {
    inside.push(
      await bot.sendText(id, "3", { key: "k" }),
      await bot.react(id, outside[0] as EventID, "x", { key: "k" }),
    );
  });
  bot.start();
  await bot.sendMessageEvent(id, "com.example.go", {});
  await here.until(() => inside.length > 0);
  assertEquals(new Set([...outside, ...inside]).size, 4);
  await assertRejects(() => bot.sendText(id, "x", { key: "k", txnId: "t" }), ValueError);
});

Deno.test("A redaction and a message to devices are sent once, and another way when they are another", async () => {
  await using here = clientStage();
  const told: unknown[] = [];
  const tell = (cue: string): Run => async (bot, { room_id }) => {
    const event_id = await bot.sendText(room_id, "to be redacted");
    await bot.sendToDevice("com.example.cue", { "@alice:localhost": { "*": { cue } } });
    return await bot.redact(room_id, event_id, { reason: cue });
  };
  using scene = await lives(here, [tell("1"), tell("1"), tell("2")]);
  scene.alice.on("com.example.cue", ({ content }) => void told.push(content));
  scene.alice.start();
  await here.until(() => told.length >= 2);
  await here.settle();
  assertEquals(told, [{ cue: "1" }, { cue: "2" }]);
  const [first, again, other] = scene.results;
  assertEquals([first, again === other], [again, false]);
});

Deno.test("A file is sent once though it is uploaded again, and another file of the same name and size is sent too", async () => {
  for (const encrypted of [false, true]) {
    await using here = clientStage();
    const data = (byte: number) => new Uint8Array(100).fill(byte);
    const send = (byte: number): Run => async (bot, { room_id }) => {
      const thumbnail = { data: data(9) };
      return [
        await bot.sendFile(room_id, data(byte), { fileName: "report.csv", thumbnail }),
        await bot.sendFile(room_id, new Blob([data(byte)]).stream(), { fileName: "x", info: { size: 100 } }),
        await bot.sendImage(room_id, "mxc://localhost/1"),
      ];
    };
    using scene = await lives(here, [send(1), send(1), send(2)], { encrypted });
    const [first, again, other] = scene.results as EventID[][];
    assertEquals(first, again);
    assertEquals(other?.map((id, index) => id === first?.[index]), [false, false, true]);
    assertEquals(scene.sent().length, 5);
  }
});

Deno.test("A message that left in clear is sent once more, encrypted, when the room is encrypted by then", async () => {
  await using here = clientStage();
  const say: Run = (bot, { room_id }) => bot.sendText(room_id, "once");
  const encryptedAfter: Run = async (bot, event) => {
    const sent = await say(bot, event);
    await here.client("alice").sendStateEvent(event.room_id, "m.room.encryption", MEGOLM);
    return sent;
  };
  using scene = await lives(here, [encryptedAfter, say], {
    encryption: { ...EVERYBODY, unencrypted: "deliver" },
  });
  const sent = scene.sent().map(({ type }) => type).filter((type) => /message|encrypted/.test(type));
  assertEquals(sent, ["m.room.message", "m.room.encrypted"]);
});

Deno.test("An encrypted message is the same bytes when the room has a new session by then, and is sent once", async () => {
  await using here = clientStage();
  const say: Run = (bot, { room_id }) => bot.sendText(room_id, "once");
  using scene = await lives(here, [
    async (bot, event) => {
      const { room_id } = event;
      here.homeserver.faults.add({
        kind: "status",
        status: 502,
        match: { path: /\/send\/m.room.enc/ },
        times: 1,
      });
      await assertRejects(() => bot.sendText(room_id, "lost"));
      const sent = await say(bot, event);
      await bot.crypto?.discardGroupSession(room_id);
      return sent;
    },
    say,
  ], { encrypted: true });
  assertEquals([scene.results[0], scene.sent().length], [scene.results[1], 1]);
});

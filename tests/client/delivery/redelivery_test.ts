import { assert, assertEquals } from "@std/assert";
import { defineSession } from "@greenroom/matrix";
import { type FaultPlan, NO_FAULT } from "../support/crash.ts";
import { begin, ENCRYPTED, MEGOLM } from "../support/encrypted_room.ts";
import { Gates, hearing, recordingBot, roomWith } from "../support/hearing.ts";
import { LEASE, RestartingBot } from "../support/restarting_bot.ts";
import { clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** By when a sync has brought nothing, and what had settled before is durable, in milliseconds. */
const NOTED = 30_000 + LEASE;

Deno.test("After a crash only events that had not settled are delivered again, though they held the checkpoint back", async () => {
  await using scene = await recordingBot();
  const { here, gates, texts, bot, alice, id } = scene;
  for (const text of ["slow 1", "2", "3", "slow 4", "5", "6"]) {
    await alice.sendText(id, text);
    await bot.until(() => texts[0]?.includes(text) === true);
  }
  await bot.settle();
  await here.clock.tick(NOTED);
  await bot.restart();
  await bot.settle();
  assertEquals(texts[1], ["slow 1", "slow 4"]);
  gates.open("slow 1");
  await here.clock.tick(NOTED);
  await bot.restart();
  await bot.settle();
  gates.open("slow 4");
  assertEquals(texts[2], ["slow 4"]);
  await bot.client.close();
  await bot.restart();
  await bot.settle();
  assertEquals(texts[3], []);
});

Deno.test("Of several handlers of an event, only the one that had not settled gets it again", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const ran: string[] = [];
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      client.on("m.room.message", ({ content }) => void ran.push(`quick ${content.body}`));
      client.on("m.room.message", ({ content }, { deliveryId }) => {
        ran.push(`slow ${content.body} ${deliveryId}`);
        return gates.at("end");
      });
      client.on((event) => void (event.type === "m.room.message" && ran.push("all")));
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "1");
  await bot.until(() => ran.length === 3);
  await here.clock.tick(NOTED);
  await bot.restart();
  await bot.settle();
  const [, , slow = "", ...again] = ran;
  assertEquals([ran.slice(0, 2), again], [["all", "quick 1"], [slow]]);
  assert(/^slow 1 .*-m\.room\.message\.\w+$/.test(slow), slow);
});

Deno.test("Messages from before the room was encrypted are handled again after a crash", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const refused: string[] = [];
  let syncs = 0;
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      setUp(client);
      client.on("SYNC_SUCCESSFUL", () => void syncs++);
      client.on("UNENCRYPTED", ({ event }) => void refused.push(String(event.content.body)));
    },
    client: { encryption: EVERYBODY },
  });
  await bot.until(() => syncs > 0);
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "slow 1");
  await bot.until(() => texts[0]?.includes("slow 1") === true);
  await alice.sendStateEvent(id, "m.room.encryption", MEGOLM);
  await alice.sendText(id, "in clear", { disableEncryption: true });
  await bot.until(() => refused.length === 1);
  await bot.restart();
  await bot.until(() => refused.length === 2);
  assertEquals(texts, [["slow 1"], ["slow 1"]]);
  assertEquals(refused, ["in clear", "in clear"]);
});

Deno.test("At most once delivers nothing twice, whatever had settled, and loses nothing that comes later", async () => {
  await using scene = await recordingBot({ client: { deliver: "at-most-once" } });
  const { texts, bot, alice, id } = scene;
  for (const text of ["slow 1", "2"]) {
    await alice.sendText(id, text);
    await bot.until(() => texts[0]?.includes(text) === true);
  }
  for (let life = 1; life < 5; life++) {
    await bot.restart();
    await bot.settle();
    await alice.sendText(id, `in life ${life}`);
    await bot.until(() => texts[life]?.length === 1);
  }
  assertEquals(texts.slice(1).flat(), ["in life 1", "in life 2", "in life 3", "in life 4"]);
});

Deno.test("A process that is closed and restarted delivers nothing twice, without a session and with one", async () => {
  await using scene = await recordingBot({ names: ["one", "two"] });
  const { texts, bot, alice, id } = scene;
  for (let life = 0; life < 3; life++) {
    await alice.sendText(id, `in life ${life}`);
    await bot.until(() => texts[life]?.length === 2);
    await bot.client.close();
    await bot.restart();
    await bot.settle();
  }
  assertEquals(texts.map(({ length }) => length), [2, 2, 2, 0]);
});

Deno.test("Named handlers get what they had not handled when they change places, and nothing twice", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const ran: string[] = [];
  const versions = [["log", "reply"], ["news", "reply", "log"], ["reply"]];
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      for (const name of versions.shift() ?? []) {
        client.on("m.room.message", async ({ room_id, sender }) => {
          if (sender === "@bot:localhost") return;
          ran.push(name);
          if (name !== "reply") return;
          await client.sendNotice(room_id, "yes?");
          await gates.at("end");
        }, { name });
      }
    },
  });
  const { alice, id } = await roomWith(here, bot);
  const { requests } = here.homeserver;
  await alice.sendText(id, "hello");
  for (let life = 1; life <= 3; life++) {
    await bot.until(() => requests.filter("PUT", "/send/").length === 1 + life);
    await bot.settle();
    await here.clock.tick(NOTED);
    if (life < 3) await bot.restart();
  }
  // What is new gets what had not been handled as a whole.
  assertEquals(ran, ["log", "reply", "news", "reply", "reply"]);
  const answers = here.homeserver.room(id).messages.filter(({ sender }) => sender === "@bot:localhost");
  assertEquals(answers.length, 1);
});

Deno.test("Handlers without names that are swapped between two starts skip nothing, and get nothing twice", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const ran: string[] = [];
  let life = 0;
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      const adds = [
        () => client.on("m.room.message", ({ content }) => void ran.push(`quick ${content.body}`)),
        () =>
          client.on("m.room.message", ({ content }) => {
            ran.push(`slow ${content.body}`);
            return gates.at("end");
          }),
      ];
      for (const add of life++ === 0 ? adds : adds.toReversed()) add();
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "1");
  await bot.until(() => ran.length === 2);
  await here.clock.tick(NOTED);
  await bot.restart();
  await bot.settle();
  assertEquals(ran, ["quick 1", "slow 1", "slow 1"]);
});

Deno.test("Records of settled deliveries are removed when they are no longer needed", async () => {
  await using scene = await recordingBot();
  const { here, gates, texts, bot, alice, id } = scene;
  await alice.sendText(id, "slow 1");
  for (let index = 0; index < 20; index++) {
    await alice.sendText(id, `${index}`);
    await bot.until(() => texts[0]?.includes(`${index}`) === true);
  }
  await here.clock.tick(60_000);
  assert((await bot.records("settled")).length >= 20);
  gates.open("slow 1");
  await here.clock.tick(120_000);
  assertEquals(await bot.records("settled"), []);
});

Deno.test("A handler that changed its session never gets that event again, though another holds the checkpoint back", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const counter = defineSession({ name: "counter", per: "user", initial: () => ({ count: 0 }) });
  const counts: number[] = [];
  const bot = new RestartingBot(here, {
    setUp: (client) =>
      client.on("m.room.message", ({ content }, { session }) => {
        if (content.body !== "slow") counts.push(++session.count);
        return content.body === "slow" ? gates.at("end") : undefined;
      }, { session: counter }),
  });
  const { alice, id } = await roomWith(here, bot);
  const carol = here.client("carol");
  await carol.joinRoom(id);
  await carol.sendText(id, "slow");
  for (const count of [1, 2, 3]) {
    await alice.sendText(id, "quick");
    await bot.until(() => counts.length === count);
  }
  await bot.settle();
  await bot.restart(); // at once: their names were committed with the session
  await bot.settle();
  await alice.sendText(id, "quick");
  await bot.until(() => counts.length > 3);
  assertEquals(counts, [1, 2, 3, 4]);
});

Deno.test("Events of many responses that were not handled come again, though they are too many for one", async () => {
  await using scene = await recordingBot();
  const { texts, bot, alice, id } = scene;
  const said = Array.from({ length: 40 }, (_, index) => `slow ${index}`);
  for (const text of said) {
    await alice.sendText(id, text);
    await bot.until(() => texts[0]?.includes(text) === true);
  }
  await bot.restart();
  await bot.until(() => (texts[1]?.length ?? 0) > 0);
  assertEquals(texts[1], said);
});

Deno.test("A message that came with its key is handled, though the process crashed when only the key was stored", async () => {
  await using here = clientStage();
  const texts: string[] = [];
  const keyIsStored: FaultPlan = { operation: "commit", subject: "inbound", at: 1, takesEffect: true };
  const bot = new RestartingBot(here, {
    setUp: (client) => client.on("m.room.message", ({ content }) => void texts.push(content.body)),
    client: { encryption: EVERYBODY },
    plans: [NO_FAULT, keyIsStored],
  });
  await bot.settle();
  const alice = here.client("alice", { encryption: EVERYBODY });
  await begin(here, alice);
  const id = await alice.createRoom({
    preset: "public_chat",
    initialState: ENCRYPTED,
  });
  await bot.client.joinRoom(id);
  await bot.settle();
  await here.clock.tick(NOTED);
  await bot.client.close();
  await alice.sendText(id, "with its key");
  await bot.restart();
  await bot.until(() => bot.crashes.length === 2);
  await bot.settle();
  assertEquals(texts, ["with its key"], bot.crashes.join());
});

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { MessageEvent } from "@greenroom/matrix/types";
import type { TestProcess } from "../support/crash.ts";
import { Gates, recordingBot, roomWith } from "../support/hearing.ts";
import { LEASE, RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

/** How long a handler is waited for in careful delivery, in milliseconds. */
const PATIENCE = 5_000;

/** A bot whose process ends whenever it handles a text that begins with `bad`. */
function fragile(
  here: ClientStage,
  { bad, gates }: { readonly bad: readonly string[]; readonly gates: Gates },
) {
  const heard: string[] = [];
  const skipped: unknown[] = [];
  const bot = new RestartingBot(here, {
    setUp: (client: Client, process: TestProcess) => {
      client.on("m.room.message", async ({ content: { body } }) => {
        await Promise.resolve();
        if (bad.includes(body)) {
          process.kill();
          await gates.at("end");
        } else if (process.isRunning) heard.push(body);
      });
      client.on("EVENT_QUARANTINED", ({ event, attempts }) => {
        skipped.push([(event as MessageEvent).content.body, attempts]);
      });
    },
  });
  return { bot, heard, skipped };
}

Deno.test("An event that crashes every process that handles it is quarantined after five processes, and no other", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const { bot, heard, skipped } = fragile(here, { bad: ["bad"], gates });
  const { alice, id } = await roomWith(here, bot);
  const texts = ["1", "2", "bad", "3", "4"];
  await Promise.all(texts.map((text) => alice.sendText(id, text)));
  await bot.until(() => heard.includes("4"));
  await bot.settle();
  assertEquals(new Set(heard), new Set(["1", "2", "3", "4"]));
  assertEquals(heard.filter((text) => text === "3" || text === "4"), ["3", "4"]);
  assertEquals(skipped, [["bad", 3]]);
  assertEquals(bot.crashes.length, 5); // two as usual, three in careful delivery
  await alice.sendText(id, "5");
  await bot.until(() => heard.includes("5"));
  await here.clock.tick(LEASE); // which has the mark written
  await bot.restart();
  await bot.settle();
  assertEquals(heard.filter((text) => text === "5"), ["5"]);
  assertEquals([await bot.records("attempts"), skipped.length], [[], 1]); // all is as it was before
});

Deno.test("Two events that crash the process are both quarantined, in one response or in two", async () => {
  for (const together of [true, false]) {
    await using here = clientStage();
    using gates = new Gates();
    const { bot, heard, skipped } = fragile(here, { bad: ["bad", "worse"], gates });
    const { alice, id } = await roomWith(here, bot);
    await Promise.all(
      ["1", "bad", ...together ? ["2", "worse", "3"] : ["2"]].map((text) => alice.sendText(id, text)),
    );
    if (!together) {
      await bot.until(() => heard.includes("2"), { processes: 20 });
      await Promise.all(["worse", "3"].map((text) => alice.sendText(id, text)));
    }
    await bot.until(() => heard.includes("3"), { processes: 20 });
    await bot.settle();
    assertEquals([...new Set(heard)], ["1", "2", "3"]);
    assertEquals([...new Set(skipped.map(String))], ["bad,3", "worse,3"]);
    assert(bot.crashes.length <= 10, String(bot.crashes.length));
  }
});

Deno.test("An event whose handler waits for a later one does not get stuck in careful delivery", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const done: string[] = [];
  let isDeaf = true;
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      client.on("m.room.message", async ({ content: { body } }) => {
        if (isDeaf) return await gates.at("end");
        if (body === "question") await gates.at("answer");
        if (body === "answer") gates.open("answer");
        done.push(body);
      });
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "question");
  await alice.sendText(id, "answer");
  for (let crash = 0; crash < 2; crash++) {
    await bot.settle();
    await bot.restart();
  }
  assertEquals(done, []);
  isDeaf = false;
  await bot.restart();
  await bot.settle();
  assertEquals(done, []); // the question is waited for
  await here.clock.tick(PATIENCE);
  await bot.settle();
  assertEquals(done.toSorted(), ["answer", "question"]);
  await alice.sendText(id, "thanks");
  await bot.until(() => done.length === 3);
});

Deno.test("A bot can be closed in the middle of careful delivery, and goes on later", async () => {
  await using scene = await recordingBot();
  const { here, gates, texts, bot, alice, id } = scene;
  await alice.sendText(id, "slow 1");
  await alice.sendText(id, "2");
  for (let crash = 0; crash < 3; crash++) {
    await bot.until(() => texts[crash]?.includes("slow 1") === true);
    if (crash < 2) await bot.restart();
  }
  let isClosed = false;
  const closed = bot.client.close().then(() => isClosed = true);
  await here.settle();
  assertFalse(isClosed);
  gates.open("slow 1");
  await here.settle();
  await here.clock.tick(PATIENCE);
  await closed;
  await bot.restart();
  await bot.settle();
  assertEquals([...new Set(texts.flat())].toSorted(), ["2", "slow 1"]);
  assertFalse(texts[3]?.includes("slow 1"));
});

Deno.test("An invitation, account data or an undecryptable message that crashes the process is quarantined too", async () => {
  for (const kind of ["INVITE", "m.direct", "UNDECRYPTABLE"] as const) {
    await using here = clientStage();
    using gates = new Gates();
    const heard: string[] = [];
    const skipped: unknown[] = [];
    const bot = new RestartingBot(here, {
      client: { encryption: kind === "UNDECRYPTABLE" },
      setUp: (client: Client, process: TestProcess) => {
        client.on(kind, () => {
          process.kill();
          return gates.at("end");
        });
        client.on(
          "m.room.message",
          ({ content }) => void (process.isRunning && heard.push(content.body)),
        );
        client.on("EVENT_QUARANTINED", ({ event }) => void skipped.push(event));
      },
    });
    const { alice, id } = await roomWith(here, bot);
    if (kind === "INVITE") await alice.createRoom({ invitees: ["@bot:localhost"] });
    else if (kind === "m.direct") await bot.client.setAccountData("m.direct", { "@alice:localhost": [id] });
    else {
      const content = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "x", session_id: "y" };
      await alice.sendMessageEvent(id, "m.room.encrypted", content as never);
    }
    await alice.sendText(id, "later");
    await bot.until(() => skipped.length > 0 && heard.length > 0);
    await bot.settle();
    assertEquals([bot.crashes.length, skipped.length], [5, 1], kind);
    assert(heard.includes("later"));
    const [data] = skipped as [{ type?: string; event?: MessageEvent }];
    assertEquals(
      data.event?.type ?? data.type,
      { INVITE: "m.room.member", UNDECRYPTABLE: "m.room.encrypted" }[kind as "INVITE"] ?? kind,
    );
  }
});

Deno.test("Careful delivery records only events that have handlers", async () => {
  await using scene = await recordingBot();
  const { texts, bot, alice, id } = scene;
  await alice.sendText(id, "slow");
  for (let index = 0; index < 20; index++) await alice.sendMessageEvent(id, "com.example.x", {});
  await bot.settle();
  for (let crash = 1; crash <= 2; crash++) {
    await bot.restart();
    await bot.until(() => texts[crash]?.length === 1);
  }
  const kept = await bot.records("attempts");
  assertEquals(kept.map(({ value }) => Object.keys(value as object).length), [1]);
});

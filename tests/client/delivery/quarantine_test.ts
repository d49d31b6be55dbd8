import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { type Client, defineSession, encryptionOf, ValueError } from "@greenroom/matrix";
import type { EventID, MessageEvent } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import type { TestProcess } from "../support/crash.ts";
import { Gates, roomWith } from "../support/hearing.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const MINUTE = 60_000;
/** How long an event waits before each try, in milliseconds. */
const WAITS = [10_000, MINUTE, 10 * MINUTE, 60 * MINUTE, 360 * MINUTE, 1_440 * MINUTE, 1_440 * MINUTE];
/** How long a sync and a restart take at most, in milliseconds. */
const [LONG_POLL, RISING] = [30_000, 10_000];

/** A bot whose process ends whenever it handles `bad`, as long as it is not mended. */
async function fragile(here: ClientStage) {
  const gates = new Gates();
  const heard = new Set<string>();
  const deliveries: (string | undefined)[] = [];
  const told: { attempts: number; nextTry: number | undefined; at: number }[] = [];
  const state = { isMended: false, handles: true };
  const bot = new RestartingBot(here, {
    setUp: (client: Client, process: TestProcess) => {
      if (!state.handles) return;
      client.on("m.room.message", async ({ room_id, sender, content: { body } }, { deliveryId }) => {
        if (sender === "@bot:localhost" || !process.isRunning) return;
        if (body === "bad") {
          deliveries.push(deliveryId);
          await client.sendNotice(room_id, "at it");
          if (!state.isMended) {
            process.kill();
            await gates.at("end");
          }
        }
        heard.add(body);
      });
      client.on("EVENT_QUARANTINED", ({ attempts, nextTry }) => {
        if (process.isRunning) told.push({ attempts, nextTry, at: here.clock.now() });
      });
    },
  });
  const { alice, id } = await roomWith(here, bot);
  const bad = await alice.sendText(id, "bad");
  await alice.sendText(id, "good");
  await bot.until(() => heard.has("good"));
  await bot.settle();
  return {
    ...{ alice, id, bad, bot, heard, deliveries, told, state },
    sent: () => here.homeserver.room(id).messages.filter(({ sender }) => sender === "@bot:localhost").length,
    /** Lives on for a while. */
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += LONG_POLL) {
        await here.clock.tick(Math.min(LONG_POLL, ms - passed));
        await bot.settle();
      }
    },
    /** Has the bot closed for a while. */
    async skip(ms: number): Promise<void> {
      await bot.client.close();
      await here.clock.tick(ms);
      await bot.restart();
      await bot.settle();
    },
    [Symbol.dispose]: () => gates[Symbol.dispose](),
  };
}

Deno.test("A quarantined event is stored, and tried again after growing waits, with a report each time", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  const { bot, told, bad } = scene;
  assertEquals(told.map(({ attempts }) => attempts), [3]);
  for (const [tries, wait] of WAITS.entries()) {
    const [one, ...others] = await bot.client.quarantine.list();
    assert(one !== undefined && others.length === 0);
    assertEquals([one.id, one.type, one.attempts], [bad, "m.room.message", 3 + tries]);
    assertEquals((one.event as MessageEvent).content.body, "bad");
    const { nextTry = NaN } = one;
    assertEquals(nextTry, told.at(-1)?.nextTry);
    const begun = scene.deliveries.length;
    assert(nextTry - here.clock.now() > wait - 2 * LONG_POLL);
    await scene.skip(nextTry - here.clock.now() - 2 * RISING);
    assertEquals(scene.deliveries.length, begun); // it is not tried before
    for (let step = 0; step < 10 && told.length < 2 + tries; step++) await scene.pass(RISING);
    assertEquals([scene.deliveries.length, told.length], [begun + 1, 2 + tries]);
  }
  assertFalse(scene.heard.has("bad"));
});

Deno.test("A mended handler handles what was left out in the end, as the same delivery, and once", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  scene.state.isMended = true;
  await scene.pass(2 * LONG_POLL);
  const begun = scene.deliveries.length;
  assertEquals([...scene.heard], ["good", "bad"]);
  assertEquals([new Set(scene.deliveries).size, scene.sent()], [1, 1]);
  assertEquals(await scene.bot.client.quarantine.list(), []);
  await scene.skip(48 * 60 * MINUTE);
  await scene.pass(LONG_POLL);
  assertEquals(scene.deliveries.length, begun);
  assertEquals([...scene.heard], ["good", "bad"]);
  assertEquals(await scene.bot.records("quarantine"), []);
});

Deno.test("redeliver() delivers immediately, and resolves when the handlers have settled", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  const { bot, bad, state } = scene;
  state.isMended = true;
  const { quarantine } = bot.client;
  await Promise.all([quarantine.redeliver(bad), quarantine.redeliver(bad)]);
  assertEquals([[...scene.heard], scene.sent()], [["good", "bad"], 1]);
  assertEquals(await quarantine.list(), []);
  const { message } = await assertRejects(() => quarantine.redeliver(bad), ValueError);
  assertEquals(
    message,
    `Cannot deliver the event again: none with the ID ${bad} has been left out; list() returns those that have`,
  );
});

Deno.test("redeliver() of what ends the process again is counted, and the event stays", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  scene.bot.client.quarantine.redeliver(scene.bad).catch(() => {}); // the end of the process
  for (let step = 0; step < 6 && scene.told.length < 2; step++) await scene.pass(RISING);
  assertEquals(scene.told.length, 2);
  const [one] = await scene.bot.client.quarantine.list();
  assertEquals([one?.attempts, one?.id], [4, scene.bad]);
});

Deno.test("drop() removes an event, also if its response was not handled yet", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  const { bot, bad, state } = scene;
  assertEquals([await bot.client.quarantine.drop(bad), await bot.client.quarantine.drop(bad)], [true, false]);
  state.isMended = true;
  await scene.skip(48 * 60 * MINUTE);
  await scene.pass(LONG_POLL);
  assertEquals([[...scene.heard], await bot.client.quarantine.list()], [["good"], []]);
});

Deno.test("A quarantined event without a handler waits, and redeliver() refuses it", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  const { bot, bad, state } = scene;
  state.handles = false;
  await scene.skip(60 * MINUTE);
  await scene.pass(LONG_POLL);
  const { message } = await assertRejects(() => bot.client.quarantine.redeliver(bad), ValueError);
  assertEquals(message, `Cannot deliver ${bad} again: it has no handler; add one, or drop() it`);
  Object.assign(state, { handles: true, isMended: true });
  await bot.restart();
  await scene.pass(LONG_POLL);
  assertEquals([...scene.heard], ["good", "bad"]);
});

Deno.test("A quarantined event that is redacted is removed", async () => {
  await using here = clientStage();
  using scene = await fragile(here);
  await scene.alice.redact(scene.id, scene.bad);
  await scene.bot.settle();
  assertEquals(await scene.bot.client.quarantine.list(), []);
  assertEquals(await scene.bot.records("quarantine"), []);
});

Deno.test("Handlers that had settled before an event was quarantined are not called again for it", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const tally = defineSession({ name: "tally", per: "room", initial: () => ({ count: 0 }) });
  const counts: number[] = [];
  let handled = 0;
  let isMended = false;
  const bot = new RestartingBot(here, {
    setUp: (client, process) => {
      client.on("m.room.message", (_, { session }) => void counts.push(++session.count), { session: tally });
      client.on("m.room.message", async ({ content: { body } }) => {
        await client.whoami(); // the other has settled by then
        if (!process.isRunning) return;
        if (body === "bad" && !isMended) {
          process.kill();
          await gates.at("end");
        } else handled++;
      });
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "bad");
  await alice.sendText(id, "good");
  await bot.until(() => handled === 1);
  await bot.settle();
  isMended = true;
  for (let passed = 0; passed < 10; passed++) { // the token moves on, so that the names are forgotten
    await here.clock.tick(1_000);
    await alice.sendText(id, "more");
    await bot.settle();
  }
  await here.clock.tick(LONG_POLL);
  await bot.settle();
  assertEquals([handled, Math.max(...counts)], [12, 12]);
});

Deno.test("A quarantined encrypted event is delivered decrypted, with the trust in its sender", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const heard: unknown[] = [];
  let isMended = false;
  const bot = new RestartingBot(here, {
    client: { encryption: EVERYBODY },
    setUp: (client, process) =>
      client.on("m.room.message", async (event) => {
        const { content: { body } } = event;
        const encryption = encryptionOf(event);
        await Promise.resolve();
        if (!process.isRunning) return;
        if (body === "bad" && !isMended) {
          process.kill();
          await gates.at("end");
        } else heard.push([body, encryption?.senderTrust, typeof encryption?.sessionId]);
      }),
  });
  const alice = here.client("alice", { encryption: EVERYBODY });
  const id = await alice.createRoom({
    preset: "public_chat",
    initialState: ENCRYPTED,
  });
  await bot.client.joinRoom(id);
  await bot.settle();
  const sent: EventID[] = [];
  for (const text of ["bad", "good"]) sent.push(await alice.sendText(id, text));
  await bot.until(() => heard.length === 1);
  await bot.settle();
  isMended = true;
  const [one] = await bot.client.quarantine.list();
  assertEquals([one?.id, one?.type], [sent[0], "m.room.message"]);
  await bot.client.quarantine.redeliver(one?.id ?? "");
  const known = (heard[0] as unknown[]).slice(1);
  assertEquals(heard, [["good", ...known], ["bad", ...known]]);
});

Deno.test("A client without a store has nothing in its quarantine", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  assertEquals([await bot.quarantine.list(), await bot.quarantine.drop("$1")], [[], false]);
  await assertRejects(() => bot.quarantine.redeliver("$1"), ValueError);
});

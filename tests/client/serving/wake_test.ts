import { assert, assertEquals } from "@std/assert";
import { MemoryStore, type Store } from "@greenroom/matrix";
import { assertPending } from "../../actors/kernel/support.ts";
import { knock, notification, wakeScene } from "./scene.ts";

const WELL = { status: 200, body: { rejected: [] } };

for (
  const [encryption, sync] of [[false, "classic"], [true, "classic"], [false, "sliding"], [
    true,
    "sliding",
  ]] as const
) {
  const where = `in ${encryption ? "an encrypted room" : "a room in clear"}, by ${sync} sync`;
  Deno.test(`The homeserver wakes the bot, whose answer is there when the wake is answered, ${where}`, async () => {
    await using scene = await wakeScene({ encryption, sync });
    const { stage, alice, roomId, answered } = scene;
    await alice.sendText(roomId, "hello");
    await stage.until(() => answered.length === 1);
    assertEquals(answered, [WELL]);
    assertEquals(await scene.answers(), ["1: hello"]);
  });

  Deno.test(`Three instances are woken in turns, and answer each message once, in order, ${where}`, async () => {
    await using scene = await wakeScene({ encryption, sync });
    const { stage, alice, roomId, answered, instances } = scene;
    instances.push(scene.instance(), scene.instance());
    for (let n = 0; n < 12; n++) {
      await alice.sendText(roomId, `m${n}`);
      if (n % 3 === 2) await stage.until(() => answered.length === n + 1); // some come together
    }
    assert(answered.every(({ status }) => status === 200));
    assertEquals(await scene.answers(), Array.from({ length: 12 }, (_, n) => `${n + 1}: m${n}`));
  });
}

Deno.test("Reactions, edits, notices, redactions, state and invitations wake the bot, and what it does itself does not", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, answered, instances: [bot] } = scene;
  const seen: string[] = [];
  bot?.on("m.reaction", () => seen.push("reaction"));
  bot?.on("m.room.redaction", () => seen.push("redaction"));
  bot?.on("m.room.topic", () => seen.push("topic"));
  bot?.on("INVITE", () => seen.push("invite"));
  const wakes = async (what: () => Promise<unknown>): Promise<void> => {
    const before = answered.length;
    await what();
    await stage.until(() => answered.length > before);
    await stage.settle();
  };
  const eventId = await alice.sendNotice(roomId, "a notice");
  await stage.until(() => answered.length === 1);
  await wakes(() => alice.react(roomId, eventId, "x"));
  await wakes(() =>
    alice.sendText(roomId, "edited", { relatesTo: { rel_type: "m.replace", event_id: eventId } })
  );
  await wakes(() => alice.redact(roomId, eventId));
  await wakes(() => alice.sendStateEvent(roomId, "m.room.topic", { topic: "theatre" }));
  await wakes(() => alice.createRoom({ invitees: ["@bot:localhost"] }));
  assertEquals(seen, ["reaction", "redaction", "topic", "invite"]);
  const before = answered.length;
  await bot?.sendText(roomId, "of my own accord");
  await stage.settle();
  assertEquals(answered.length, before);
});

Deno.test("A wake that comes again is answered when what it tells of is recorded, and not before", async () => {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  class WatchedStore extends MemoryStore {
    override async commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
      const [mutations] = args;
      const isHandBack = mutations.some((each) =>
        each.type === "set" && each.key.at(-1) === "lease" && (each.value as { until: number }).until === 0
      );
      if (isHandBack && isHeld) held++;
      if (isHandBack && isHeld) await gate.promise;
      return await super.commit(...args);
    }
  }
  let isHeld = false;
  await using scene = await wakeScene({ store: new WatchedStore() });
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const pushkey = (await bot?.getPushers())?.[0]?.pushkey ?? "";
  isHeld = true;
  const eventId = await alice.sendText(roomId, "hello");
  await stage.until(() => held === 1);
  const again = bot?.fetch(knock(notification(pushkey, eventId)));
  await stage.settle();
  await assertPending(again ?? Promise.resolve());
  gate.resolve();
  assertEquals([(await again)?.status, answered], [200, [WELL]]);
});

Deno.test("A wake that stop() ends is answered so that it comes again, without a warning", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances, answered } = scene;
  const warned: string[] = [];
  const log = { debug() {}, info() {}, warn: (line: string) => void warned.push(line), error() {} };
  const asked = Promise.withResolvers<void>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!String(input).includes("/sync")) return await stage.homeserver.fetch(input, init);
    asked.resolve();
    return await new Promise((_, reject) =>
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))
    );
  };
  const bot = scene.instance({ log, fetch });
  instances.splice(0, 1, bot);
  await alice.sendText(roomId, "hello");
  await asked.promise;
  await bot.stop();
  await stage.until(() => answered.some(({ status }) => status === 503));
  assertEquals(warned, []);
});

Deno.test("10,000 wakes at once make no more passes than two, and each is answered when its pass has ended", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const pushkey = (await bot?.getPushers())?.[0]?.pushkey ?? "";
  const gate = Promise.withResolvers<void>();
  bot?.on("m.room.message", () => gate.promise, { name: "slow" });
  const syncs = (): number =>
    stage.homeserver.requests.filter("GET", "/sync").filter(({ user }) => user === "@bot:localhost").length;
  const before = syncs();
  await alice.sendText(roomId, "hello");
  await stage.until(() => syncs() === before + 1);
  const all = Promise.all(
    Array.from({ length: 9_999 }, (_, n) => bot?.fetch(knock(notification(pushkey, `$forged${n}`)))),
  );
  for (let n = 0; n < 20; n++) await stage.settle();
  await assertPending(all);
  gate.resolve();
  assertEquals((await all).filter((response) => response?.status !== 200), []);
  await stage.until(() => answered.length === 1);
  assertEquals([syncs() - before <= 3, await scene.answers()], [true, ["1: hello"]]);
  assert(stage.clock.pending <= 2); // those of the Store
});

Deno.test("A wake for an event that the last pass has handled is answered without another", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const gate = Promise.withResolvers<void>();
  bot?.on("m.room.message", ({ content }) => content.body === "m0" ? gate.promise : undefined, {
    name: "slow",
  });
  await alice.sendText(roomId, "m0");
  await stage.settle();
  for (let n = 1; n < 20; n++) await alice.sendText(roomId, `m${n}`);
  gate.resolve();
  await stage.until(() => answered.length === 20);
  const { requests } = stage.homeserver;
  const syncs = requests.filter("GET", "/sync").filter(({ user }) => user === "@bot:localhost").length;
  assert(syncs < 8, `${syncs} requests`);
  assertEquals(await scene.answers(), Array.from({ length: 20 }, (_, n) => `${n + 1}: m${n}`));
});

Deno.test("A wake whose handlers take too long is answered in time, and comes again until they have settled", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  bot?.on("m.room.message", ({ sender }) => {
    if (sender !== "@alice:localhost") return;
    calls++;
    return gate.promise;
  }, { name: "slow" });
  await alice.sendText(roomId, "hello");
  await stage.settle();
  await stage.clock.tick(20_000);
  await stage.until(() => answered.length === 1);
  assertEquals(answered[0]?.status, 503);
  await stage.clock.tick(1_000);
  await stage.settle();
  gate.resolve();
  await stage.until(() => answered.length === 2);
  assertEquals([answered[1], calls], [WELL, 1]);
});

Deno.test("A wake while the store is down is 503, and when it is back the homeserver's next try is handled", async () => {
  let isDown = false;
  class WatchedStore extends MemoryStore {
    override async commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
      if (isDown) throw new TypeError("The database is gone: secret-host.example");
      return await super.commit(...args);
    }
  }
  await using scene = await wakeScene({ store: new WatchedStore() });
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  isDown = true;
  await alice.sendText(roomId, "hello");
  await stage.until(() => answered.length === 1);
  assertEquals(answered[0], {
    status: 503,
    body: { errcode: "M_UNKNOWN", error: "Not handled in time; send it again" },
  });
  const health = async () => await (await bot?.fetch(new Request("https://bot.example/health")))?.json();
  assertEquals(await health(), { status: "failing" });
  isDown = false;
  await stage.clock.tick(1_000);
  await stage.until(() => answered.length === 2);
  assertEquals([answered[1], await scene.answers()], [WELL, ["1: hello"]]);
  assertEquals(await health(), { status: "ok" });
});

Deno.test("A homeserver that tries a wake for a day and gives up loses nothing: the next pass handles it, and the next message wakes", async () => {
  const store = new MemoryStore();
  await using scene = await wakeScene({ store });
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const { commit } = store;
  store.commit = () => Promise.reject(new TypeError("The database is gone"));
  await alice.sendText(roomId, "hello");
  for (let minute = 0; minute < 26 * 60; minute += 10) {
    await stage.clock.tick(600_000);
    await stage.settle();
  }
  const tries = answered.length;
  assert(tries > 24 && answered.every(({ status }) => status === 503), `${tries} tries`);
  store.commit = commit;
  await stage.clock.tick(3_600_000);
  assertEquals(answered.length, tries);
  assertEquals((await bot?.syncOnce({ passTimeout: 10_000 }))?.left, undefined);
  await alice.sendText(roomId, "again");
  await stage.until(() => answered.length === tries + 1);
  assertEquals([answered.at(-1), await scene.answers()], [WELL, ["1: hello", "2: again"]]);
  assert(stage.clock.pending <= 2); // those of the Store
});

Deno.test("A tick of cron during a wake joins its pass, also in another instance, and nothing is handled twice", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const gate = Promise.withResolvers<void>();
  bot?.on("m.room.message", () => gate.promise, { name: "slow" });
  await alice.sendText(roomId, "hello");
  await stage.settle();
  const here = bot?.syncOnce({ passTimeout: 10_000 });
  const there = scene.instance().syncOnce({ passTimeout: 10_000 });
  await stage.settle();
  gate.resolve();
  await here;
  await stage.clock.tick(200);
  assertEquals((await there).left, undefined);
  await stage.until(() => answered.length === 1);
  assertEquals([answered, await scene.answers()], [[WELL], ["1: hello"]]);
});

Deno.test("A client that is started answers wakes at once, since its sync brings the same", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const running = bot?.start();
  await bot?.ready;
  await alice.sendText(roomId, "hello");
  await stage.until(() => answered.length === 1);
  assertEquals(answered, [WELL]);
  await bot?.stop();
  await running;
  await alice.sendText(roomId, "again");
  await stage.until(() => answered.length === 2);
  assertEquals(await scene.answers(), ["1: hello", "2: again"]);
});

Deno.test("A bot whose token has died answers 503, and is not healthy any more", async () => {
  await using scene = await wakeScene();
  const { stage, instances: [bot] } = scene;
  const pushkey = (await bot?.getPushers())?.[0]?.pushkey ?? "";
  stage.homeserver.revokeTokens("@bot:localhost");
  assertEquals((await bot?.fetch(knock(notification(pushkey))))?.status, 503);
  assertEquals((await bot?.fetch(new Request("https://bot.example/health")))?.status, 503);
});

Deno.test("What is read between two passes takes the device for no longer than a third of the lease", async () => {
  await using scene = await wakeScene();
  const { stage, roomId, instances: [bot] } = scene;
  assertEquals(await scene.instance().stateStore.getJoinedRooms(), [roomId]);
  const pass = bot?.syncOnce({ passTimeout: 10_000 });
  await stage.settle();
  await stage.clock.tick(5_100);
  await stage.settle();
  assertEquals((await pass)?.left, undefined);
});

Deno.test("A client whose start has failed for good answers 503 from then on", async () => {
  await using scene = await wakeScene();
  const { stage, instances: [bot] } = scene;
  if (bot === undefined) return;
  const pushkey = (await bot.getPushers())[0]?.pushkey ?? "";
  const running = bot.start();
  await bot.ready;
  stage.homeserver.revokeTokens("@bot:localhost");
  await running.catch(() => {});
  for (const path of ["health", "below/health"]) {
    assertEquals((await bot.fetch(new Request(`https://bot.example/${path}`))).status, 503);
  }
  assertEquals((await bot.fetch(knock(notification(pushkey)))).status, 503);
});

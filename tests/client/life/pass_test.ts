import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, type Store, ValueError } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { assertPending } from "../../actors/kernel/support.ts";
import { killedPass, scene, stopping } from "../support/passes.ts";
import { clientStage, heard } from "../support/stage.ts";

for (const encryption of [false, true]) {
  const room = encryption ? "an encrypted room" : "a room in clear";
  Deno.test(`Instances that make passes in turns hand the device over at once, and answer once and in order, in ${room}`, async () => {
    await using stage = clientStage();
    const { alice, roomId, instance, first, answers } = await scene(stage, { encryption });
    const instances = [first, instance(), instance()];
    for (let n = 0; n < 9; n++) {
      await alice.sendText(roomId, `m${n}`);
      const pass = await instances[n % 4]?.syncOnce() ?? await instances[0]?.syncOnce(); // 0 1 2 0 0 1 2 0 0
      assertEquals([pass?.rounds, pass?.left], [1, undefined]);
    }
    await alice.syncOnce();
    assertEquals(answers, Array.from({ length: 9 }, (_, n) => `${n + 1}: m${n}`));
  });

  Deno.test(`What is sent between two passes, in ${room}, is sent by an instance that others have left behind`, async () => {
    await using stage = clientStage();
    const { alice, roomId, instance, first, answers } = await scene(stage, { encryption });
    const second = instance();
    await alice.sendText(roomId, "m");
    await second.syncOnce();
    await first.sendText(roomId, "from the first");
    if (encryption) await stage.clock.tick(5_100); // a third of the lease, and a look
    await second.sendText(roomId, "from the second");
    if (encryption) await stage.clock.tick(5_100);
    await first.syncOnce();
    await alice.syncOnce();
    assertEquals(answers, ["1: m", "from the first", "from the second"]);
  });
}

Deno.test("What a pass has sent encrypted is recorded when it hands the device back: nobody sends it again, and it closes", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, first, answers, store } = await scene(stage, { encryption: true });
  await alice.sendText(roomId, "m");
  await first.syncOnce();
  const waiting = (await Array.fromAsync(store.list([]))).filter(({ key }) => key.includes("outbox"));
  assertEquals(waiting.map(({ key }) => key), []);
  await alice.sendText(roomId, "n");
  await instance().syncOnce();
  await first.close();
  await first.done;
  const sent = stage.homeserver.requests.filter("PUT", "/send/m.room.encrypted")
    .filter(({ user }) => user === "@bot:localhost");
  await alice.syncOnce();
  assertEquals([sent.length, answers], [2, ["1: m", "2: n"]]);
});

Deno.test("A pass that handles the very first response once more asks for what came later, too", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const alice = stage.client("alice");
  const roomId = await alice.createRoom({ preset: "public_chat" });
  await stage.client("bot").joinRoom(roomId);
  await alice.sendText(roomId, "a");
  await killedPass(stage, store);
  await alice.sendText(roomId, "b");
  const bot = stage.client("bot", { store });
  const texts = heard(bot);
  assertEquals([(await bot.syncOnce()).rounds, texts], [2, ["a", "b"]]);
});

Deno.test("A pass says how many events it has handled, in how many rounds, and does not wait where there are none", async () => {
  await using stage = clientStage();
  const { alice, roomId, first } = await scene(stage);
  await alice.sendText(roomId, "a");
  await alice.sendText(roomId, "b");
  assertEquals(await first.syncOnce(), { events: 2, rounds: 1, left: undefined });
  assertEquals(await first.syncOnce(), { events: 2, rounds: 1, left: undefined }); // the answers
  assertEquals(await first.syncOnce(), { events: 0, rounds: 1, left: undefined });
});

Deno.test("A pass with a deadline goes on until nothing is new, also while its handlers worked", async () => {
  await using stage = clientStage();
  const { alice, roomId, first, answers } = await scene(stage);
  const here = stopping(first, "a");
  await alice.sendText(roomId, "a");
  const pass = first.syncOnce({ passTimeout: 20_000 });
  await stage.until(() => here.at.length === 1);
  await alice.sendText(roomId, "b");
  here.go();
  assertEquals(await pass, { events: 4, rounds: 3, left: undefined });
  await alice.syncOnce();
  assertEquals(answers, ["1: a", "2: b"]);
});

Deno.test("A pass while the store is down rejects with its error; the next one, when it is back, handles all", async () => {
  await using stage = clientStage();
  let isDown = false;
  class WatchedStore extends MemoryStore {
    override async commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
      if (isDown) throw new TypeError("The database is gone");
      return await super.commit(...args);
    }
    override async getMany(...args: Parameters<Store["getMany"]>) {
      if (isDown) throw new TypeError("The database is gone");
      return await super.getMany(...args);
    }
  }
  const { alice, roomId, first, instance, answers } = await scene(stage, { store: new WatchedStore() });
  const cold = instance();
  await alice.sendText(roomId, "a");
  isDown = true;
  for (const bot of [first, cold, first]) {
    await assertRejects(() => bot.syncOnce({ passTimeout: 5_000 }), Error, "The database is gone");
  }
  isDown = false;
  for (const bot of [first, cold]) assertEquals((await bot.syncOnce({ passTimeout: 5_000 })).left, undefined);
  await assertPending(Promise.race([first.done, cold.done]));
  await alice.syncOnce();
  assertEquals(answers, ["1: a"]);
});

Deno.test("close() in the middle of a pass ends it, and leaves the device free", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, first } = await scene(stage);
  const here = stopping(first, "a");
  await alice.sendText(roomId, "a");
  const pass = first.syncOnce();
  pass.catch(() => {});
  await stage.until(() => here.at.length === 1);
  const closed = first.close();
  here.go();
  await closed;
  await pass.catch(() => {});
  await first.done;
  const other = instance();
  assertEquals((await other.syncOnce({ passTimeout: 1_000 })).left, undefined);
});

for (const deadline of [0, -1, NaN]) {
  Deno.test(`A pass of ${deadline} milliseconds is refused`, async () => {
    await using stage = clientStage();
    await assertRejects(
      () => stage.client("bot").syncOnce({ passTimeout: deadline }),
      ValueError,
      "passTimeout",
    );
  });
}

Deno.test("A pass handles the rooms that it is shown, whoever else is in them", async () => {
  await using stage = clientStage();
  const { alice, first } = await scene(stage);
  const invited: RoomID[] = [];
  first.on("INVITE", async ({ room_id }) => {
    invited.push(room_id);
    await first.joinRoom(room_id);
  });
  const texts = heard(first);
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  const pass = await first.syncOnce({ passTimeout: 10_000 });
  assertEquals([invited, pass.left], [[room], undefined]);
  assert(pass.rounds > 1);
  await alice.sendText(room, "hello");
  await first.syncOnce({ passTimeout: 10_000 });
  assert(texts.includes("hello"));
});

import { UPDATES } from "../../../src/actors/store/mod.ts";
import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { Client, type ClientLeaseOptions, MemoryStore, ValueError } from "@greenroom/matrix";
import { ActorError, StoreInUseError } from "@greenroom/matrix/errors";
import { clientStage, heard } from "../support/stage.ts";

Deno.test("A second process waits for the device without receiving events, and goes on when the first is closed", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const alice = stage.client("alice");
  const one = stage.client("bot", { store, lease: { owner: "the first" } });
  const roomId = await alice.createRoom({ preset: "public_chat" });
  await one.joinRoom(roomId);
  await one.syncOnce();
  const byOne = heard(one);
  one.start();
  const two = stage.client("bot", { store });
  const byTwo = heard(two);
  two.start();
  await stage.settle();
  await alice.sendText(roomId, "1");
  await stage.until(() => byOne.includes("1"));
  await stage.clock.tick(60_000);
  assertEquals([byOne, byTwo], [["1"], []]);
  const waits = stage.log.lines.filter(([, message]) => message.startsWith("Waiting for a device"));
  assertEquals(waits.map(([, , data]) => data?.owner), ["the first"]);
  await one.close();
  await alice.sendText(roomId, "2");
  await stage.clock.tick(5_000);
  await stage.until(() => byTwo.includes("2"));
  assertEquals([byOne, byTwo], [["1"], ["2"]]);
});

Deno.test("A second process that is not to wait ends with the device and its holder in the error", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const one = stage.client("bot", { store, lease: { owner: "the first" } });
  one.start();
  await one.ready;
  const two = stage.client("bot", { store, lease: { held: "refuse" } });
  const refusal = await assertRejects(() => two.start(), StoreInUseError, `@bot:localhost ${one.deviceId}`);
  assert(refusal.message.includes("the first"));
  const error = await assertRejects(() => two.done, ActorError);
  assertInstanceOf(error.cause, StoreInUseError);
  assertEquals(error.actor, "store");
  await one.stop();
  await one.syncOnce();
});

Deno.test("start()'s signal ends the wait for the device, and so does close()", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const one = stage.client("bot", { store });
  one.start();
  await one.ready;
  const two = stage.client("bot", { store });
  const abort = new AbortController();
  const running = two.start({ signal: abort.signal });
  await stage.settle();
  abort.abort();
  await running;
  const again = two.start();
  const state = assertRejects(() => two.stateStore.getJoinedRooms());
  await stage.settle();
  await two.close(); // with time standing still
  await again;
  await state;
  await two.done;
});

Deno.test("T60: a process that was paused while another took its place writes nothing, and ends by name", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const one = stage.client("bot", { store });
  const roomId = await one.createRoom({});
  const running = assertRejects(() => one.start(), StoreInUseError);
  await one.ready;
  const { clock } = stage; // a pause is that time goes by and the process does nothing
  const later = { now: () => clock.now() + 15_000, delay: clock.delay.bind(clock) };
  const two = stage.client("bot", { store, clock: later });
  await two.syncOnce();
  const before = await Array.fromAsync(store.list([]));
  await assertRejects(() => one.stateStore[UPDATES].setUnencrypted(roomId), ActorError);
  const error = await assertRejects(() => one.done, ActorError, "paused past its lease");
  assertInstanceOf(error.cause, StoreInUseError);
  await running;
  assertEquals(await Array.fromAsync(store.list([])), before);
  await two.syncOnce();
});

Deno.test("A client that was stopped leaves its device to others, has no timer, and has the device again when it is started", async () => {
  await using stage = clientStage();
  const { clock } = stage;
  const store = new MemoryStore();
  const alice = stage.client("alice");
  const roomId = await alice.createRoom({ preset: "public_chat" });
  const lease = { held: "refuse" } as const;
  const [one, two] = [stage.client("bot", { store, lease }), stage.client("bot", { store, lease })];
  await one.joinRoom(roomId);
  const said: string[] = [];
  for (const [name, client] of Object.entries({ one, two })) {
    client.on("m.room.message", ({ content }) => void said.push(`${name}: ${content.body}`));
  }
  for (const client of [one, two, one]) { // with time standing still
    const running = client.start();
    await client.ready;
    const heard = said.length;
    await alice.sendText(roomId, `${heard + 1}`);
    await stage.until(() => said.length > heard);
    await client.stop();
    await running;
    assertEquals(clock.pending, 0);
  }
  assertEquals(said, ["one: 1", "two: 2", "one: 3"]);
});

/** A store that waits with the commit that hands a device back. */
class SlowlyReleased extends MemoryStore {
  /** Resolves when that commit has come. */
  readonly isReleasing = Promise.withResolvers<void>();
  /** Lets it go on. */
  readonly gate = Promise.withResolvers<void>();

  override async commit(...args: Parameters<MemoryStore["commit"]>): Promise<boolean> {
    const isReleasing = args[0].some(({ key, ...change }) =>
      key.at(-1) === "lease" && "value" in change && (change.value as { until: number }).until === 0
    );
    if (isReleasing) {
      this.isReleasing.resolve();
      await this.gate.promise;
    }
    return await super.commit(...args);
  }
}

Deno.test("A start that comes while the one before hands its device back has the device", async () => {
  await using stage = clientStage();
  const store = new SlowlyReleased();
  const one = stage.client("bot", { store });
  const first = one.start();
  await one.ready;
  const stopped = one.stop();
  await store.isReleasing.promise;
  const second = one.start();
  store.gate.resolve();
  await Promise.all([stopped, first, one.ready]);
  const two = stage.client("bot", { store, lease: { held: "refuse" } });
  await assertRejects(() => two.start(), StoreInUseError);
  await one.close();
  await second;
});

Deno.test("A client without a store takes nothing, and has no timer", async () => {
  await using stage = clientStage();
  const client = stage.client("bot");
  await client.syncOnce();
  assertEquals(stage.clock.pending, 0);
  await client.close();
});

const wrong: ClientLeaseOptions[] = [
  { duration: 999 },
  { duration: 600_001 },
  { duration: NaN },
  { held: "perhaps" as never },
];
for (const lease of wrong) {
  Deno.test(`A lease of ${JSON.stringify(lease)} is refused`, () => {
    assertThrows(() => new Client({ baseUrl: "https://a.example", lease }), ValueError, "lease.");
  });
}

Deno.test("What a stopped client reads and sends while another process has its device is not stored, and fails nothing", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const [one, two] = [stage.client("bot", { store }), stage.client("bot", { store })];
  const roomId = await one.createRoom();
  const first = one.start();
  await one.ready;
  await one.stop();
  await first;
  const second = two.start();
  await two.ready;
  const before = stage.log.lines.length;
  for (
    const call of [
      () => one.getState(roomId),
      () => one.sendStateEvent(roomId, "m.room.name", { name: "Foyer" }),
    ]
  ) {
    let isOver = false;
    const called = call().finally(() => isOver = true);
    for (let second = 0; second < 10; second++) await stage.clock.tick(1_000);
    assert(isOver);
    await called;
  }
  const levels = (level: string) => stage.log.lines.slice(before).filter(([of]) => of === level);
  assertEquals(levels("error"), []);
  assertEquals(
    levels("warn").filter(([, message]) => message === "Could not note the state of a room").length,
    2,
  );
  await two.close();
  await second;
  await one.sendStateEvent(roomId, "m.room.topic", { topic: "Tonight" });
  assertEquals((await one.stateStore.getState(roomId, "m.room.topic"))?.content.topic, "Tonight");
});

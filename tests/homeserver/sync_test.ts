import { assert, assertEquals, assertFalse, assertNotEquals } from "@std/assert";
import { bodies, stage } from "./harness.ts";

Deno.test("GET /sync tells the whole room at first and then only what is new", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", name: "Green room" });
  await bob.join(room);
  const first = await bob.sync();
  assertFalse(first.rooms.join[room].timeline.limited);
  await alice.say(room, "one");
  await alice.say(room, "two");
  const second = await bob.sync({ since: first.next_batch });
  assertEquals(bodies(second.rooms.join[room].timeline.events), ["one", "two"]);
  assertEquals(second.rooms.join[room].state.events, []);
  const third = await bob.sync({ since: second.next_batch });
  assertEquals(third.rooms, undefined);
});

Deno.test("GET /sync waits for news until its timeout", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await alice.sync();
  const { next_batch } = await bob.sync();
  const waiting = bob.sync({ since: next_batch, timeout: 30_000 });
  await scene.clock.tick(10_000);
  await alice.say(room, "news");
  const answer = await waiting;
  assertEquals(bodies(answer.rooms.join[room].timeline.events), ["news"]);
  const idle = bob.sync({ since: answer.next_batch, timeout: 30_000 });
  await scene.clock.tick(30_000);
  assertEquals((await idle).rooms, undefined);
  assertEquals(scene.clock.pending, 0);
});

Deno.test("GET /sync marks a timeline that leaves events out as limited, and gives the state before it", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await bob.sync();
  await alice.putState(room, "m.room.topic", { topic: "gap" });
  for (let i = 0; i < 12; i++) await alice.say(room, String(i));
  const answer = await bob.sync({ since: next_batch });
  const { timeline, state } = answer.rooms.join[room];
  assert(timeline.limited);
  assertEquals(bodies(timeline.events), ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]);
  assertEquals(state.events.map((event: { type: string }) => event.type), ["m.room.topic"]);
  assertNotEquals(timeline.prev_batch, next_batch);
});

Deno.test("GET /sync is aborted by the client's signal", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { next_batch } = await alice.sync();
  const controller = new AbortController();
  const waiting = alice.send("GET", `/sync?since=${next_batch}&timeout=30000`, undefined, {
    signal: controller.signal,
  });
  await scene.clock.tick();
  controller.abort(new Error("enough"));
  const outcome = await waiting.catch((error) => error);
  assert(outcome instanceof Error && outcome.message === "enough");
});

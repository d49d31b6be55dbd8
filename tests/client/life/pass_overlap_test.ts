import { assertEquals, assertRejects } from "@std/assert";
import { type SyncOnceOptions, ValueError } from "@greenroom/matrix";
import { StoreInUseError } from "@greenroom/matrix/errors";
import { assertPending } from "../../actors/kernel/support.ts";
import { counting, killedPass, scene, stopping, syncs } from "../support/passes.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

/** A pass whose handler stops at a message until it is let go. */
async function busy(stage: ClientStage, options?: SyncOnceOptions) {
  const passes = await scene(stage);
  const { alice, roomId, first } = passes;
  const here = stopping(first, "a");
  await alice.sendText(roomId, "a");
  const pass = first.syncOnce(options);
  await stage.until(() => here.at.length === 1);
  return { ...passes, here, pass };
}

Deno.test("A call while a pass is under way has it ask once more, and shares its outcome", async () => {
  await using stage = clientStage();
  const { alice, roomId, first, here, pass: one } = await busy(stage);
  const before = syncs(stage);
  await alice.sendText(roomId, "b");
  const others = Array.from({ length: 100 }, () => first.syncOnce({ passTimeout: 5_000 }));
  here.go();
  const outcome = await one;
  assertEquals([outcome.rounds, outcome.left, syncs(stage) - before], [2, undefined, 1]);
  for (const each of await Promise.all(others)) assertEquals(each, outcome);
  assertEquals(stage.clock.pending, 0);
});

Deno.test("A pass that comes while another process has the device leaves in time, and the other makes one more round", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, answers, here, pass: one } = await busy(stage);
  const second = instance();
  await alice.sendText(roomId, "b");
  const two = second.syncOnce({ passTimeout: 2_000 });
  await stage.settle();
  await assertPending(two);
  await stage.clock.tick(2_000);
  assertEquals(await two, { events: 0, rounds: 0, left: "device" });
  here.go();
  assertEquals((await one).rounds, 2);
  await alice.syncOnce();
  assertEquals(answers, ["1: a", "2: b"]);
  assertEquals((await second.syncOnce()).events, 1); // the latest answer
});

Deno.test("A pass that comes while another process has the device goes on as soon as that hands it back", async () => {
  await using stage = clientStage();
  const { instance, here, pass: one } = await busy(stage);
  const two = instance().syncOnce({ passTimeout: 10_000 });
  await stage.settle();
  here.go();
  await one;
  await stage.clock.tick(100);
  assertEquals((await two).left, undefined);
});

Deno.test("A pass whose time is over leaves handlers at work, and hands the device back when they have settled", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, answers, here, pass } = await busy(stage, { passTimeout: 5_000 });
  await stage.clock.tick(5_000);
  assertEquals(await pass, { events: 1, rounds: 1, left: "handlers" });
  const second = instance();
  const next = second.syncOnce();
  await stage.settle();
  await assertPending(next);
  here.go();
  await stage.settle();
  await stage.clock.tick(100);
  await next;
  await alice.sendText(roomId, "b");
  await second.syncOnce();
  await alice.syncOnce();
  assertEquals([here.at, answers], [["a"], ["1: a", "2: b"]]);
});

Deno.test("A handler that never settles keeps the device no longer than the lease, and its event comes again elsewhere", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, first, answers, here, pass } = await busy(stage, { passTimeout: 5_000 });
  await stage.clock.tick(5_000);
  await pass;
  await stage.clock.tick(15_000);
  const second = instance();
  const there = stopping(second, "a");
  there.go();
  await second.syncOnce({ passTimeout: 5_000 });
  await alice.sendText(roomId, "b");
  here.go(); // what it does now is done
  await stage.settle();
  await first.syncOnce();
  await alice.syncOnce();
  assertEquals([there.at, answers], [["a"], ["1: a", "2: b"]]);
});

Deno.test("A pass ends in time, too, when two processes died at what it handles, and the next one waits for that", async () => {
  await using stage = clientStage();
  const { alice, roomId, first, instance, answers, store } = await scene(stage, { duration: 1_000 });
  await first.close();
  for (const text of ["a", "b", "c"]) await alice.sendText(roomId, text);
  for (let count = 0; count < 2; count++) await killedPass(stage, store);
  const last = instance();
  const here = stopping(last, "a");
  const pass = last.syncOnce({ passTimeout: 2_000 });
  await stage.until(() => here.at.length === 1);
  await stage.clock.tick(2_000);
  assertEquals(await pass, { events: 3, rounds: 1, left: "handlers" });
  const next = last.syncOnce({ passTimeout: 2_000 });
  await stage.clock.tick(2_000);
  assertEquals(await next, { events: 0, rounds: 0, left: "server" });
  here.go();
  await stage.settle();
  await instance().syncOnce();
  await alice.syncOnce();
  assertEquals([here.at, answers], [["a"], ["1: a", "2: b", "3: c"]]);
});

Deno.test("A pass whose time is over before the server has answered handles nothing, and loses nothing", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, first, answers } = await scene(stage);
  await alice.sendText(roomId, "a");
  const fault = stage.homeserver.faults.add({
    kind: "delay",
    ms: 60_000,
    match: { path: "/sync", user: "@bot:localhost" },
  });
  const pass = first.syncOnce({ passTimeout: 5_000 });
  await stage.settle();
  await stage.clock.tick(5_000);
  assertEquals(await pass, { events: 0, rounds: 0, left: "server" });
  fault.remove();
  assertEquals((await instance().syncOnce({ passTimeout: 1_000 })).left, undefined); // the device is free
  await alice.syncOnce();
  assertEquals(answers, ["1: a"]);
});

Deno.test("T60: a process that was paused in a pass until another had its device is told, and makes the next pass anew", async () => {
  await using stage = clientStage();
  const { alice, roomId, first, answers, store, here, pass } = await busy(stage);
  const { clock } = stage;
  const later = { now: () => clock.now() + 15_000, delay: clock.delay.bind(clock) };
  const second = counting(stage.client("bot", { store, clock: later }));
  await second.syncOnce();
  here.go();
  await assertRejects(() => pass, StoreInUseError, "paused past its lease");
  await alice.sendText(roomId, "b");
  assertEquals((await first.syncOnce()).left, undefined);
  await assertPending(first.done);
  await alice.syncOnce();
  assertEquals(answers, ["1: a", "2: b"]);
});

Deno.test("start() after passes keeps the device, also if another had it meanwhile, and passes follow a start", async () => {
  await using stage = clientStage();
  const { alice, roomId, instance, first, answers } = await scene(stage);
  await alice.sendText(roomId, "a");
  await instance().syncOnce();
  const running = first.start();
  await first.ready;
  await alice.sendText(roomId, "b");
  await assertRejects(() => first.syncOnce(), ValueError, "stop() it first");
  const second = instance();
  const pass = second.syncOnce({ passTimeout: 60_000 });
  await stage.clock.tick(60_000);
  assertEquals((await pass).left, "device");
  await first.stop();
  await running;
  await alice.sendText(roomId, "c");
  await first.syncOnce();
  await alice.sendText(roomId, "d");
  await second.syncOnce();
  await alice.syncOnce();
  assertEquals(answers, ["1: a", "2: b", "3: c", "4: d"]);
});

Deno.test("start() ends a pass under way, which rejects, and handles what that has not", async () => {
  await using stage = clientStage();
  const { alice, roomId, first, answers } = await scene(stage);
  stage.homeserver.faults.add({
    kind: "delay",
    ms: 60_000,
    times: 1,
    match: { path: "/sync", user: "@bot:localhost" },
  });
  await alice.sendText(roomId, "a");
  const pass = first.syncOnce();
  pass.catch(() => {});
  await stage.settle();
  first.start();
  await assertRejects(() => pass);
  await first.ready;
  await alice.syncOnce();
  assertEquals(answers, ["1: a"]);
});

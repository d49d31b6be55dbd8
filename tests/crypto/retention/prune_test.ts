/** A whole engine that prunes its records. */

import { assert, assertEquals } from "@std/assert";
import type { ToDeviceEvent, UserID } from "@greenroom/matrix/types";
import { aliceAndBob, type Bot } from "../engine/bot.ts";
import { RawDevice } from "../engine/raw_device.ts";
import { DAY, HOUR, recordsByKind } from "./records.ts";

/** Prunes until it is done; what was removed, by kind. */
async function prune(bot: Bot): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  for (let steps = 0; steps < 1_000; steps++) {
    const report = await bot.engine.prune();
    for (const [kind, count] of Object.entries(report.removed)) removed[kind] = (removed[kind] ?? 0) + count;
    if (report.done) return removed;
  }
  throw new TypeError("It is never done");
}

/** A user whose device writes to Bob, and is then not there any more. */
async function guest(bob: Bot, userId: UserID): Promise<ToDeviceEvent> {
  const { server } = bob;
  const device = new RawDevice(server, userId, "GUEST").publish();
  server.member(userId, "join");
  await bob.sync();
  const deed = device.message(bob, "org.example.deed", { by: userId });
  assertEquals((await bob.sync({ toDevice: [deed] })).toDevice.length, 1);
  server.keys.get(userId)?.clear();
  await bob.sync({ deviceLists: { changed: [userId], left: [] } });
  return deed;
}

/** A user whose device writes to Bob, and who then leaves. */
async function leaver(bob: Bot, userId: UserID): Promise<void> {
  await guest(bob, userId);
  bob.server.member(userId, "leave");
  await bob.sync({ deviceLists: { changed: [], left: [userId] } });
}

/**
 * Days go by; before they are over there is a sync, which replaces the fallback key, and one that
 * gives up the key before it.
 */
async function live(bot: Bot, days: number): Promise<void> {
  await bot.server.clock.tick(days * DAY - 2 * HOUR);
  await bot.sync();
  await bot.server.clock.tick(2 * HOUR);
  await bot.sync();
}

Deno.test("after pruning, delivered events are still refused as replays, and old sessions decrypt", async () => {
  const { alice, bob } = await aliceAndBob();
  const event = await alice.send("once");
  const unread = await alice.send("not read before");
  const { encrypted: [first], toDevice } = bob.collect();
  assert(first !== undefined);
  const deed = await guest(bob, "@guest:example.org");
  await bob.sync({ toDevice, encrypted: [first] });
  assertEquals(bob.outcome(event), "text: once");
  await live(bob, 400);
  const removed = await prune(bob);
  assert((removed["olm-session"] ?? 0) > 0 && (removed["olm-seen"] ?? 0) > 0);
  for (const restart of [false, true]) {
    if (restart) await bob.restart();
    await bob.sync({ encrypted: [{ ...event, event_id: "$replayed" }] });
    assertEquals(bob.outcome({ event_id: "$replayed" }), "REPLAYED");
    assertEquals((await bob.sync({ toDevice: [deed] })).toDevice, []);
  }
  await bob.sync({ encrypted: [unread] });
  assertEquals(bob.outcome(unread), "text: not read before");
  const answer = await bob.send("still here");
  await alice.sync();
  assertEquals(alice.outcome(answer), "text: still here");
});

Deno.test("a device that is gone and still sends is examined again a month later", async () => {
  const { bob } = await aliceAndBob();
  const { server } = bob;
  const device = new RawDevice(server, "@guest:example.org", "GUEST").publish();
  server.member(device.own.userId, "join");
  await bob.sync({ toDevice: [device.message(bob, "org.example.deed", {})] });
  server.keys.clear();
  await bob.sync({ deviceLists: { changed: [device.own.userId], left: [] } });
  await live(bob, 20);
  await bob.sync({ toDevice: [device.message(bob, "m.dummy", {})] });
  await live(bob, 11);
  assertEquals((await prune(bob))["olm-session"], undefined);
  await live(bob, 30);
  assertEquals((await prune(bob))["olm-session"], 1);
});

Deno.test("each step is small, and the next process continues after a crash between two", async () => {
  const { bob } = await aliceAndBob();
  for (let n = 0; n < 60; n++) await guest(bob, `@guest${n}:example.org`);
  await live(bob, 31);
  let steps = 0;
  for (;; steps++) {
    const { done, removed } = await bob.engine.prune();
    const count = Object.values(removed).reduce((sum, each) => sum + each, 0);
    assert(count <= 350, `${count} at once`);
    if (done) break;
    await bob.restart();
  }
  assert(steps >= 1);
  const kinds = await recordsByKind(bob.store);
  assertEquals([kinds["olm-peer"], kinds["olm-session"], kinds["olm-seen"]], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(kinds.leftover, undefined);
});

Deno.test("a commit that fails loses nothing and is made up for", async () => {
  for (const when of ["before", "after"] as const) {
    const { alice, bob } = await aliceAndBob();
    await alice.send("to begin with");
    await bob.sync();
    for (let n = 0; n < 30; n++) await guest(bob, `@guest${n}:example.org`);
    await live(bob, 31);
    for (let commits = 0;; commits++) {
      bob.failing = { when, commits };
      const failed = await prune(bob).then(() => false, () => true);
      await bob.restart();
      if (!failed) break;
    }
    assertEquals((await recordsByKind(bob.store))["olm-peer"], 1);
    const event = await alice.send("and after");
    await bob.sync();
    assertEquals(bob.outcome(event), "text: and after");
  }
});

Deno.test("events whose key has not come for a month are removed, also if nothing else happens", async () => {
  const { alice, bob } = await aliceAndBob();
  const event = await alice.send("never read");
  bob.collect();
  await bob.sync({ encrypted: [event] });
  assertEquals((await recordsByKind(bob.store)).parked, 1);
  await live(bob, 31);
  assertEquals((await prune(bob)).parked, 1);
});

Deno.test("in a year and a half of messages and guests no kind of record grows but for the history itself", async () => {
  const { alice, bob } = await aliceAndBob();
  const counted: Record<string, number>[] = [];
  for (let fortnight = 1; fortnight <= 40; fortnight++) {
    await leaver(bob, `@guest${fortnight}:example.org`);
    for (const [from, to] of [[alice, bob], [bob, alice]] as const) {
      const event = await from.send(`fortnight ${fortnight}`);
      await to.sync();
      assertEquals(to.outcome(event), `text: fortnight ${fortnight}`);
    }
    await live(bob, 14);
    await prune(bob);
    if (fortnight % 8 === 0) await bob.restart();
    if (fortnight === 32 || fortnight === 40) counted.push(await recordsByKind(bob.store));
  }
  const [{ inbound: sessions = 0, replay: replays = 0, ...before } = {}, after = {}] = counted;
  assertEquals([(after.inbound ?? 0) - sessions, (after.replay ?? 0) - replays], [16, 16]);
  assertEquals({ ...after, inbound: 0, replay: 0 }, { ...before, inbound: 0, replay: 0 });
});

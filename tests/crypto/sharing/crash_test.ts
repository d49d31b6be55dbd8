import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import type { OutboxEntry } from "../../../src/crypto/requests/requests.ts";
import { device } from "./fakes.ts";
import { ALICE, BOB, ROOM } from "./room.ts";
import { indexOf, Stage } from "./stage.ts";

const alice = device(ALICE, "ALICE1"), bob = device(BOB, "BOB1");

/** A room in which nothing but the session is missing. */
async function described(): Promise<Stage> {
  const stage = await Stage.open();
  await stage.describe();
  for (const each of [alice, bob]) stage.olm.begin(each);
  return stage;
}

/** The process ends in the middle of a commit, which has become durable or not. */
async function crash(stage: Stage, when: "before" | "after", work: () => Promise<unknown>): Promise<void> {
  stage.failing = when;
  await assertRejects(work, TypeError);
  stage.failing = undefined;
  await stage.restart();
}

function pendingOf({ outbox }: Stage): string {
  return JSON.stringify(outbox.pending());
}

Deno.test("C5: keys that were encrypted and not sent are sent as they are, and not encrypted again", async () => {
  const stage = await described();
  await stage.prepare();
  const before = pendingOf(stage);
  await stage.restart();
  assertEquals(pendingOf(stage), before);
  await stage.send();
  assertEquals([stage.keysOf(alice).length, stage.keysOf(bob).length], [1, 1]);
});

Deno.test("C6: keys of which no answer came are sent again as the same request", async () => {
  const stage = await described();
  await stage.prepare();
  await stage.deliver({ lost: true });
  await stage.restart();
  assertEquals(await stage.tryToSend(), undefined);
  await stage.send(); // the stage fails if the bytes differ
  assertEquals([stage.keysOf(alice).length, stage.keysOf(bob).length], [1, 1]);
});

Deno.test("C7: a session that was made before a crash is the one that goes on", async () => {
  const stage = await Stage.open();
  await stage.describe();
  assertEquals((await stage.prepare()).needs, "keysClaim"); // the session is made
  assertEquals(stage.copies.added.length, 1);
  await stage.restart();
  const event = await stage.send();
  assertEquals(stage.copies.added.length, 1);
  assertEquals(stage.keysOf(alice)[0]?.session_key, stage.copies.added[0]?.sessionKey);
  assert(stage.canRead(alice, event));
});

Deno.test("C7: of a session that was not durable, nothing is left", async () => {
  const stage = await described();
  await crash(stage, "before", () => stage.prepare());
  assertEquals([stage.copies.added, stage.outbox.pending()], [[], []]);
  const event = await stage.send();
  assertEquals(stage.copies.added.length, 1);
  assert(stage.canRead(bob, event));
});

Deno.test("C7: a session whose commit was durable, but whose answer was lost, is not made twice", async () => {
  const stage = await described();
  await crash(stage, "after", () => stage.prepare());
  const [entry] = stage.outbox.pending();
  const event = await stage.send();
  assertEquals(entry?.kind === "toDevice" && entry.sessionId, event.session_id);
  assertEquals([stage.keysOf(alice).length, stage.keysOf(bob).length], [1, 1]);
});

Deno.test("C7: a step that fails in a process that goes on leaves no session behind", async () => {
  const stage = await described();
  stage.failing = "before";
  await assertRejects(() => stage.prepare(), TypeError);
  stage.failing = undefined;
  const event = await stage.send();
  assert(stage.canRead(alice, event) && stage.canRead(bob, event));
});

Deno.test("C8: after a crash in the middle, the remaining devices get the key, none twice, and then the event is sent", async () => {
  const stage = await described();
  const many = Array.from({ length: 600 }, (_, index) => device(ALICE, `A${index}`));
  stage.devices.put(...many);
  for (const each of many) stage.olm.begin(each);
  await stage.prepare();
  await stage.prepare();
  await stage.deliver({ count: 1 });
  await stage.restart();
  assertEquals(await stage.tryToSend(), undefined);
  const event = await stage.send();
  for (const each of [...many, alice, bob]) assertEquals(stage.keysOf(each).length, 1, each.deviceId);
  assert(stage.canRead(many[599] ?? alice, event));
});

Deno.test("C9: an event that was encrypted and not sent is there in the same bytes, and its index is not used again", async () => {
  const stage = await described();
  const event = await stage.send("one", "txn");
  await stage.restart();
  assertEquals(await stage.tryToSend("one", "txn"), event);
  const [entry] = stage.outbox.pending().filter(({ kind }: OutboxEntry) => kind === "roomEvent");
  assertEquals<unknown>(entry?.kind === "roomEvent" && [entry.txnId, entry.content], ["txn", event]);
  assertEquals(indexOf(await stage.send("two", "txn2")), indexOf(event) + 1);
});

for (const when of ["before", "after"] as const) {
  Deno.test(`C9: a crash ${when} an encrypted event is durable uses no index twice`, async () => {
    const stage = await described();
    await stage.send("one", "txn1");
    await crash(stage, when, () => stage.tryToSend("two", "txn2"));
    const again = await stage.send("two", "txn2");
    assertEquals(indexOf(again), 1);
    assertEquals(indexOf(await stage.send("three", "txn3")), 2);
  });
}

Deno.test("C9: an event whose step failed in a process that goes on uses no index twice", async () => {
  const stage = await described();
  await stage.send("one");
  stage.failing = "before";
  await assertRejects(() => stage.tryToSend("two"), TypeError);
  stage.failing = undefined;
  const event = await stage.send("three");
  assertEquals(indexOf(event), 1);
  assertEquals(stage.read(bob, event)?.content, { msgtype: "m.text", body: "three" });
});

Deno.test("C10: an event is kept under its transaction ID until it has arrived, whatever happens to the room", async () => {
  const stage = await described();
  const event = await stage.send("one", "txn");
  await stage.member(BOB, "leave");
  assertEquals(await stage.tryToSend("one", "txn"), event);
  await stage.step((tx) => stage.outbound.roomEventSent(tx, ROOM, "txn"));
  assertEquals(stage.outbox.pending(), []);
  assertEquals(await stage.tryToSend("one", "txn"), undefined);
  await stage.step((tx) => stage.outbound.roomEventSent(tx, ROOM, "txn")); // once more does no harm
});

Deno.test("C14: a session whose key a former member has is not used after a crash, even if the members are the same again", async () => {
  const stage = await described();
  const before = await stage.send();
  await stage.member(BOB, "leave");
  await stage.restart();
  stage.noteMember(BOB, "join");
  await stage.describe();
  assertEquals(await stage.tryToSend(), undefined);
  assertNotEquals((await stage.send()).session_id, before.session_id);
});

Deno.test("C14: a leave whose commit failed is a leave when it comes again", async () => {
  const stage = await described();
  stage.room.visibility = "invited"; // so that keys may not be shared
  await stage.describe();
  const before = await stage.send();
  await crash(stage, "before", () => stage.member(BOB, "leave"));
  stage.noteMember(BOB, "join");
  assertEquals((await stage.send()).session_id, before.session_id);
  await stage.member(BOB, "leave");
  assertNotEquals((await stage.send()).session_id, before.session_id);
});

Deno.test("C14: a device that was removed before a crash has the session end after it", async () => {
  const stage = await described();
  const before = await stage.send();
  await stage.removeDevice(BOB, "BOB1");
  stage.devices.put(bob); // as if it had never been gone
  await stage.restart();
  assertNotEquals((await stage.send()).session_id, before.session_id);
});

Deno.test("C22: after the store was set back, no session of before is used, and none of them twice", async () => {
  const stage = await described();
  const before = await stage.send();
  await stage.step((tx) => stage.outbound.rollback(tx));
  assertEquals(await stage.tryToSend(), undefined);
  await stage.restart();
  const after = await stage.send();
  assertNotEquals(after.session_id, before.session_id);
  assert(stage.canRead(alice, after));
});

Deno.test("live objects can be freed at any time", async () => {
  const stage = await described();
  const first = await stage.send();
  stage.outbound.clear();
  const second = await stage.send();
  assertEquals([second.session_id, indexOf(second)], [first.session_id, 1]);
});

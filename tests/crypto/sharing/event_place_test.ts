/** Where an event is stored that is on its way: with its ratchet, as far as there is room. */

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { ROOM } from "./room.ts";
import { Stage } from "./stage.ts";

/** A room in which everybody has the key. */
async function ready(): Promise<Stage> {
  const stage = await Stage.open();
  await stage.ready();
  return stage;
}

/** The next process, with a room that is ready for an event. Events on their way stay so. */
async function restarted(stage: Stage): Promise<void> {
  await stage.restart();
  await share(stage);
}

/** Makes the room ready, and sends nothing but keys. */
async function share(stage: Stage): Promise<void> {
  for (let needs = ""; needs !== "nothing";) {
    needs = (await stage.prepare()).needs;
    if (needs === "room") await stage.describe();
    if (needs === "keysClaim") stage.olm.claim();
    const keys = stage.outbox.pending().filter(({ kind }) => kind === "toDevice");
    for (const entry of keys) await stage.step((tx) => stage.outbound.takeOut(tx, entry));
  }
}

/** Encrypts an event; which records that has changed. */
async function changes(stage: Stage, txnId: string, arrived: readonly string[] = []): Promise<string[]> {
  const before = new Map((await stage.vault.list(["crypto"])).map(({ key, value }) => [key.join(), value]));
  await stage.step(async (tx) => {
    for (const each of arrived) await stage.outbound.roomEventSent(tx, ROOM, each);
    const content = JSON.stringify({ msgtype: "m.text", body: txnId });
    await stage.outbound.encrypt(tx, { roomId: ROOM, eventType: "m.room.message", content, txnId });
  });
  const after = await stage.vault.list(["crypto"]);
  const changed = after.filter(({ key, value }) => before.get(key.join()) !== value);
  return changed.map(({ key: [, kind = ""] }) => kind);
}

function waiting({ outbox }: Stage): string[] {
  return outbox.pending().map(({ txnId }) => txnId);
}

Deno.test("one event after the other changes one record: its bytes are stored with the ratchet", async () => {
  const stage = await ready();
  assertEquals(await changes(stage, "one"), ["outbound_session"]);
  assertEquals(await changes(stage, "two", ["one"]), ["outbound_session"]);
  await stage.restart();
  assertEquals(waiting(stage), ["two"]);
});

Deno.test("an event beside one that is on its way has a record of its own, and all are found in their order", async () => {
  const stage = await ready();
  const events = new Map<string, unknown>();
  for (const txnId of ["one", "two", "three"]) events.set(txnId, await stage.tryToSend(txnId, txnId));
  assertEquals((await stage.vault.list(["crypto", "outbox"])).length, 2);
  await restarted(stage);
  assertEquals(waiting(stage), ["one", "two", "three"]);
  await stage.step((tx) => stage.outbound.roomEventSent(tx, ROOM, "one"));
  events.set("four", await stage.tryToSend("four", "four"));
  await stage.restart();
  assertEquals(waiting(stage), ["two", "three", "four"]);
  for (const txnId of waiting(stage)) assertEquals(await stage.tryToSend("?", txnId), events.get(txnId));
  await stage.deliver();
  await stage.restart();
  assertEquals([waiting(stage), await stage.vault.list(["crypto", "outbox"])], [[], []]);
});

Deno.test("an event stays what it was when its session is over, and when another takes its place", async () => {
  const stage = await ready();
  const event = await stage.tryToSend("one", "one");
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await restarted(stage);
  assertEquals(await stage.tryToSend("?", "one"), event);
  await share(stage);
  const next = await stage.tryToSend("two", "two");
  assertNotEquals(next?.session_id, event?.session_id);
  await stage.restart();
  assertEquals([waiting(stage), await stage.tryToSend("?", "one")], [["one", "two"], event]);
  for (const txnId of ["one", "two"]) {
    await stage.step((tx) => stage.outbound.roomEventSent(tx, ROOM, txnId));
  }
  await stage.restart();
  assertEquals(waiting(stage), []);
});

for (const when of ["before", "after"] as const) {
  Deno.test(`a crash ${when} the commit of an event loses none that has not arrived`, async () => {
    const stage = await ready();
    await stage.tryToSend("one", "one");
    stage.failing = when;
    await assertRejects(() => changes(stage, "two", ["one"]), TypeError);
    stage.failing = undefined;
    await stage.restart();
    assertEquals(waiting(stage), when === "before" ? ["one"] : ["two"]);
  });
}

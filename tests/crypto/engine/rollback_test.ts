/**
 * The events that show a device that its store was set back, and those that another could have
 * made.
 */

import { assert, assertEquals, assertFalse, fail } from "@std/assert";
import type { Decryption, JsonObject } from "@greenroom/matrix/types";
import { outboundKey } from "../../../src/crypto/sharing/mod.ts";
import { recordKey } from "../../../src/crypto/records/mod.ts";
import { tellsOfRollback } from "../../../src/crypto/engine/rollback.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { aliceAndBob, Bot } from "./bot.ts";
import { ROOM } from "./homeserver.ts";
import { RawSession } from "./raw_device.ts";
import { testContext } from "../support/context.ts";
import { memoryVault, step } from "../support/vault.ts";

/** Receives an undecryptable event of a sender; returns the session that the device then uses. */
async function sessionAfter(
  from: "alice" | "bob",
  claim: (own: JsonObject) => JsonObject,
): Promise<"new" | "same"> {
  const { server, alice, bob } = await aliceAndBob();
  const { sessionId } = await alice.ready();
  const own = { device_id: alice.deviceId, sender_key: alice.engine.identity().curve25519 };
  const content = { ...new RawSession().event(ROOM, "from a life that is forgotten"), ...claim(own) };
  server.publish({ alice, bob }[from], content, "txn");
  await alice.sync();
  return (await alice.ready()).sessionId === sessionId ? "same" : "new";
}

Deno.test("an event of this device that it has no record of shows that the store was set back", async () => {
  assertEquals(await sessionAfter("alice", (own) => own), "new");
});

/** Alice's device, and a copy of its store that another process runs on. */
async function twoCopies() {
  const { server, alice } = await aliceAndBob();
  const { sessionId } = await alice.ready();
  const { alice: copy } = await aliceAndBob();
  const [entries, old] = await Promise.all(
    [alice, copy].map(({ store }) => Array.fromAsync(store.list([]))),
  );
  await copy.store.commit([
    ...old?.map(({ key }) => ({ type: "delete", key }) as const) ?? [],
    ...entries?.map(({ key, value }) => ({ type: "set", key, value }) as const) ?? [],
  ]);
  for (const [userId, devices] of server.keys) copy.server.keys.set(userId, devices);
  await copy.restart();
  return { server, alice, copy, sessionId };
}

Deno.test("two copies of a device that have both used an index find it out", async () => {
  const { server, alice, copy, sessionId } = await twoCopies();
  const { content } = await copy.encrypt("from the copy");
  const own = await alice.send("from the original");
  assertEquals(content.session_id, own.content.session_id);
  server.publish(alice, content, "a transaction of the copy");
  await alice.sync();
  assert((await alice.ready()).sessionId !== sessionId);
});

Deno.test("an index that a copy has used first shows it, too", async () => {
  const { server, alice, copy, sessionId } = await twoCopies();
  server.publish(alice, (await copy.encrypt("from the copy")).content, "a transaction of the copy");
  await alice.send("from the original");
  await alice.sync();
  assert((await alice.ready()).sessionId !== sessionId);
});

Deno.test("an event of another user shows nothing, even if it names this device", async () => {
  assertEquals(await sessionAfter("bob", (own) => own), "same");
});

Deno.test("an event of another device of the user shows nothing, even if it names the key of this one", async () => {
  assertEquals(await sessionAfter("alice", (own) => ({ ...own, device_id: "OTHER" })), "same");
  assertEquals(await sessionAfter("alice", ({ sender_key }) => ({ sender_key })), "same");
});

Deno.test("an event with another key shows nothing, even if it names this device", async () => {
  const sender_key = testContext().own.curve25519;
  assertEquals(await sessionAfter("alice", (own) => ({ ...own, sender_key })), "same");
  assertEquals(await sessionAfter("alice", ({ device_id }) => ({ device_id })), "same");
});

Deno.test("a decrypted event of this device shows it if its index is still to come", async () => {
  const context = testContext();
  const { own } = context;
  const record = {
    sessionId: "SESSION",
    state: new Uint8Array(),
    createdAt: 0,
    messages: 3,
    sharedHistory: false,
    policy: "all",
    rosterPieces: 0,
    retired: [{ sessionId: "RETIRED", rosterPieces: 0, messages: 2 }],
  } as const;
  const tells = (
    change: { sender?: string; senderKey?: string; sessionId?: string; messageIndex?: number },
  ) => {
    const { sender = own.userId, ...facts } = change;
    const encryption = { senderKey: own.curve25519, sessionId: "SESSION", messageIndex: 3, ...facts };
    const event = { sender, room_id: ROOM };
    return step(memoryVault(), (tx) => {
      tx.set(outboundKey(ROOM), record);
      const decrypted = [{ event, encryption } as unknown as Decryption]; // what is looked at
      const told = { encrypted: [event as never], decrypted };
      return tellsOfRollback(tx, { context } as never, told).then((told) => told ? "set back" : "nothing");
    });
  };
  assertEquals(await tells({}), "set back");
  assertEquals(await tells({ messageIndex: 4 }), "set back");
  assertEquals(await tells({ sessionId: "RETIRED", messageIndex: 2 }), "set back");
  for (
    const other of [
      { messageIndex: 2 },
      { sender: "@bob:example.org" },
      { senderKey: testContext().own.curve25519 },
      { sessionId: "OTHER" },
      { sessionId: "RETIRED", messageIndex: 1 },
    ]
  ) assertEquals(await tells(other), "nothing", JSON.stringify(other));
});

Deno.test("an own event without a key, or at an index that another has, shows it, once an hour at most", async () => {
  const clock = new TestClock();
  const context = testContext({ clock });
  const { deviceId, curve25519, userId: sender } = context.own;
  const event = { sender, room_id: ROOM, content: { device_id: deviceId, sender_key: curve25519 } };
  const tells = (code: string, foundAgo?: number) =>
    step(memoryVault(), (tx) => {
      if (foundAgo !== undefined) tx.set(recordKey("rollback"), clock.now() - foundAgo);
      const decrypted = [{ code, reason: "" } as Decryption];
      return tellsOfRollback(tx, { context } as never, { encrypted: [event as never], decrypted });
    });
  for (const code of ["WITHHELD", "MALFORMED"]) assertFalse(await tells(code));
  for (const code of ["MISSING_KEY", "REPLAYED"]) {
    assert(await tells(code));
    assertFalse(await tells(code, 0));
    assertFalse(await tells(code, 3_599_999));
    assert(await tells(code, 3_600_000));
  }
});

/** Gets a room ready up to the message with its key, which waits to be sent; returns its ID. */
async function keyToSend(bot: Bot): Promise<string> {
  for (let step = 0; step < 10; step++) {
    const tolerate = { keysQuery: false, keysClaim: false };
    const { needs } = await bot.engine.prepare({ roomId: ROOM, tolerate });
    if (needs === "room") await bot.describe();
    const requests = await bot.engine.requests();
    const key = requests.find(({ kind }) => kind === "toDevice");
    if (key !== undefined) return key.id;
    for (const request of requests) await bot.carry(request);
  }
  fail("the key of the room was never to be sent");
}

Deno.test("what waited to be sent when the store was found to be set back is not sent, refused or not", async () => {
  for (const status of [0, 413, 403, 500]) {
    const { server, alice } = await aliceAndBob();
    // What is refused may go in halves.
    await Bot.open(server, { userId: "@carol:example.org", deviceId: "CAROL" });
    await alice.sync();
    const id = await keyToSend(alice);
    assert(await alice.engine.isDue(id));
    const own = { device_id: alice.deviceId, sender_key: alice.engine.identity().curve25519 };
    server.publish(
      alice,
      { ...new RawSession().event(ROOM, "from a life that is forgotten"), ...own },
      "txn",
    );
    await alice.sync();
    assertFalse(await alice.engine.isDue(id));
    await alice.engine.fail({ id, failure: { status, errcode: undefined, message: "" } });
    assertEquals((await alice.engine.requests()).filter(({ kind }) => kind === "toDevice"), []);
  }
});

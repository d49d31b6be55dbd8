/** Whether there may be requests to make after a sync response: what the engine says of it. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { FakeUser, queryResponse } from "../support/fake_user.ts";
import { type Asked, BOB, inRoom, joined, ME, quiet, type SyncChange } from "./asked.ts";
import { aliceAndBob, Bot } from "./bot.ts";
import { ENCRYPTION, ROOM, stateEvent } from "./homeserver.ts";

const CAROL: UserID = "@carol:example.org";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function mayRequest(asked: Asked, change?: SyncChange): Promise<boolean> {
  return (await asked.sync(change)).mayRequest;
}

Deno.test("a response that changes nothing leads to no request, however many come", async () => {
  const asked = await quiet();
  for (let round = 0; round < 3; round++) {
    assertFalse(await mayRequest(asked));
    await asked.clock.tick(HOUR);
  }
  assertFalse(await mayRequest(asked, { state: [inRoom(stateEvent("m.room.name", { name: "x" }))] }));
});

Deno.test("a decrypted message leads to no request", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.send("the key comes with it");
  await bob.sync();
  await alice.send("hello");
  const { mayRequest, decrypted } = await bob.engine.receiveSync(bob.collect());
  assertEquals([mayRequest, decrypted.map((each) => "event" in each)], [false, [true]]);
});

Deno.test("a message whose key comes late leads to no request when it has been handled", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.send("hello");
  const { toDevice, ...early } = bob.collect();
  await bob.take({ ...early, toDevice: [] });
  const { recovered } = await bob.engine.receiveSync({ ...bob.collect(), toDevice });
  assertEquals(recovered.length, 1);
  await bob.engine.requests();
  await bob.engine.settle(recovered.map(({ ref }) => ref));
  assertFalse((await bob.engine.receiveSync(bob.collect())).mayRequest);
});

const causes: Record<string, readonly [change: SyncChange, kinds: readonly string[]]> = {
  "too few one-time keys": [{ oneTimeKeys: 20 }, ["keysUpload"]],
  "a fallback key that was used, or lost with all others": [{ unusedFallbackTypes: [] }, ["keysQuery"]],
  "a user whose devices have changed": [{ changed: [BOB] }, ["keysQuery"]],
  "a new member of an encrypted room": [{ state: [inRoom(joined(CAROL))] }, ["keysQuery"]],
  "a sync from the start": [{ initial: true }, ["keysQuery"]],
};

for (const [cause, [change, kinds]] of Object.entries(causes)) {
  Deno.test(`${cause}: there may be requests until they have been taken`, async () => {
    const asked = await quiet();
    await asked.clock.tick(HOUR); // the fallback key may be replaced
    assert(await mayRequest(asked, change));
    assert(await mayRequest(asked), "they were not taken");
    assertEquals(await asked.kinds(), kinds);
    assertFalse(await mayRequest(asked), "they are being made");
  });
}

Deno.test("a message to this device that can't be decrypted leads to a claim for a new session", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.send("the key comes with it");
  await bob.sync();
  await bob.ready(); // it knows Alice's device now
  await alice.engine.discardGroupSession(ROOM);
  await alice.encrypt("the next key");
  assertEquals(await bob.engine.requests(), []);
  const input = bob.collect();
  const [key] = input.toDevice;
  const { ciphertext } = key?.content as { ciphertext: Record<string, { body: string }> };
  for (const message of Object.values(ciphertext)) message.body = `${message.body.slice(0, -4)}AAAA`;
  assert((await bob.engine.receiveSync(input)).mayRequest);
  assertEquals((await bob.engine.requests()).map(({ kind }) => kind), ["keysClaim"]);
});

Deno.test("after a request has failed there may be requests, but not before its wait is over", async () => {
  const asked = await quiet();
  await asked.sync({ changed: [BOB] });
  await asked.fail(await asked.one("keysQuery"), 500);
  assert(await mayRequest(asked), "it could be made at once, for all that the engine says");
  assertEquals(await asked.kinds(), []);
  assertFalse(await mayRequest(asked));
  await asked.clock.tick(999);
  assertFalse(await mayRequest(asked));
  await asked.clock.tick(1);
  assert(await mayRequest(asked));
  await asked.one("keysQuery");
});

Deno.test("a wait is over when the clock was set back", async () => {
  const asked = await quiet();
  await asked.clock.tick(HOUR);
  await asked.sync({ changed: [BOB] });
  await asked.fail(await asked.one("keysQuery"), 500);
  assertEquals(await asked.kinds(), []);
  await asked.clock.tick(-MINUTE);
  assert(await mayRequest(asked));
  await asked.one("keysQuery");
});

Deno.test("a message to devices that did not arrive is made again with the next response", async () => {
  const { alice } = await aliceAndBob();
  for (let round = 0; round < 20; round++) {
    const tolerate = { keysQuery: false, keysClaim: false };
    const { needs } = await alice.engine.prepare({ roomId: ROOM, tolerate });
    if (needs === "room") await alice.describe();
    if (needs === "toDevice") break;
    await alice.flush();
  }
  const [message] = await alice.engine.requests();
  assert(message?.kind === "toDevice");
  const failure = { status: 503, errcode: undefined, message: "" };
  await alice.engine.fail({ id: message.id, failure });
  assert((await alice.engine.receiveSync(alice.collect())).mayRequest);
  assertEquals((await alice.engine.requests()).map(({ id }) => id), [message.id]);
});

Deno.test("a user that the server does not know is asked for at once when it says that the user's devices have changed", async () => {
  const asked = await quiet();
  await asked.sync({ state: [inRoom(joined(CAROL))] });
  await asked.answer(await asked.one("keysQuery"), { device_keys: {} });
  assertEquals(await asked.kinds(), []);
  assertFalse(await mayRequest(asked));
  assert(await mayRequest(asked, { changed: [CAROL] }));
  assertEquals((await asked.one("keysQuery")).users, [CAROL]);
});

Deno.test("a message over a new session shows that a server is there again: its other devices are asked for", async () => {
  const { server, alice, bob } = await aliceAndBob();
  await Bot.open(server, { userId: CAROL, deviceId: "CAROL" });
  await alice.sync();
  const tolerate = { keysQuery: false, keysClaim: false };
  await alice.describe();
  assertEquals((await alice.engine.prepare({ roomId: ROOM, tolerate })).needs, "keysClaim");
  const [claim] = await alice.engine.requests();
  assert(claim?.kind === "keysClaim");
  assertEquals(Object.keys(claim.oneTimeKeys), [bob.userId, CAROL]);
  const response = { one_time_keys: {}, failures: { "example.org": {} } };
  await alice.engine.answer({ id: claim.id, response });
  assertEquals(await alice.engine.requests(), []);
  assertFalse((await alice.engine.receiveSync(alice.collect())).mayRequest);
  const oneTimeKeys = { [alice.userId]: { [alice.deviceId]: "signed_curve25519" } };
  while (server.oneTimeKeys(alice) > 0) server.answer(bob, { id: "", kind: "keysClaim", oneTimeKeys });
  await bob.send("the key comes over a session that was begun with the fallback key");
  const input = { ...alice.collect(), oneTimeKeyCounts: { signed_curve25519: 50 } };
  assert((await alice.engine.receiveSync(input)).mayRequest);
  const [again] = await alice.engine.requests();
  assertEquals(again?.kind === "keysClaim" && Object.keys(again.oneTimeKeys), [CAROL]);
});

Deno.test("an event without a key leads to a request for the key to own verified devices", async () => {
  const asked = await quiet();
  const other = new FakeUser(ME, "OTHER");
  await asked.sync({ changed: [ME] });
  const { [ME]: own } = asked.shown().device_keys as Record<UserID, object>;
  const devices = { ...own, ...queryResponse(other).device_keys[ME] };
  await asked.answer(await asked.one("keysQuery"), { device_keys: { [ME]: devices } });
  const [device] = await asked.engine.devicesOf([ME]);
  assert(device !== undefined);
  await asked.engine.steps.setDeviceTrust({ ...device, trust: "verified" });
  assertEquals(await asked.kinds(), []);
  const { event_id, origin_server_ts, source } = joined(BOB);
  const content = { ...ENCRYPTION, session_id: "s", ciphertext: "c" };
  const event = {
    event_id,
    sender: BOB,
    origin_server_ts,
    source,
    room_id: ROOM,
    type: "m.room.encrypted",
    content,
  };
  assert(await mayRequest(asked, { encrypted: [event] }));
  assertEquals((await asked.one("toDevice")).eventType, "m.room_key_request");
});

const claims: Record<string, readonly [wait: number, end: (bot: Bot, id: string) => Promise<unknown>]> = {
  "that the server fails over": [
    1_000,
    ({ engine }, id) => engine.fail({ id, failure: { status: 500, errcode: undefined, message: "" } }),
  ],
  "of a device without keys": [
    5_000,
    ({ engine }, id) => engine.answer({ id, response: { one_time_keys: {} } }),
  ],
  "of a server that is out of reach": [
    15_000,
    ({ engine }, id) =>
      engine.answer({ id, response: { one_time_keys: {}, failures: { "example.org": {} } } }),
  ],
};

for (const [which, [wait, end]] of Object.entries(claims)) {
  Deno.test(`a claim ${which} is made again after its wait`, async () => {
    const { server, alice } = await aliceAndBob();
    const mayRequest = async () => (await alice.engine.receiveSync(alice.collect())).mayRequest;
    await alice.describe();
    await alice.engine.prepare({ roomId: ROOM, tolerate: { keysQuery: false, keysClaim: false } });
    const [claim] = await alice.engine.requests();
    assert(claim?.kind === "keysClaim");
    assertFalse(await mayRequest(), "it is being made");
    await end(alice, claim.id);
    assertEquals(await alice.engine.requests(), []);
    await server.clock.tick(wait - 1);
    assertFalse(await mayRequest());
    await server.clock.tick(1);
    assert(await mayRequest());
    assertEquals((await alice.engine.requests()).map(({ kind }) => kind), ["keysClaim"]);
  });
}

Deno.test("the end of a user's tracking may lead to a request: keys wait while the own user is to be queried", async () => {
  const asked = await quiet();
  const few = { oneTimeKeys: 20 };
  await asked.sync({ ...few, changed: [ME] });
  await asked.fail(await asked.one("keysQuery"), 500);
  assertEquals(await asked.kinds(), []);
  assertFalse(await mayRequest(asked, few));
  assert(await mayRequest(asked, { ...few, deviceLists: { changed: [], left: [ME] } }));
  await asked.one("keysUpload");
});

Deno.test("a new process asks for what the one before has left", async () => {
  const asked = await quiet();
  await asked.sync({ changed: [BOB] });
  await asked.restart();
  assert(await mayRequest(asked));
  assertEquals((await asked.one("keysQuery")).users.toSorted(), [BOB, ME]);
});

Deno.test("a look at devices that may be out of date is a reason to ask", async () => {
  const asked = await quiet();
  await asked.clock.tick(MINUTE);
  assertFalse(await mayRequest(asked));
  assert(await asked.engine.areDevicesStale({ users: [BOB], since: asked.clock.now() }));
  assert(await mayRequest(asked));
  await asked.one("keysQuery");
});

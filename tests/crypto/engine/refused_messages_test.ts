/**
 * What is on its way to devices and rooms: what becomes of it when the server does not take it, and
 * when the process ends.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type { TransactionID } from "@greenroom/matrix/types";
import { aliceAndBob, Bot } from "./bot.ts";
import { ROOM } from "./homeserver.ts";

const TOLERATE = { keysQuery: false, keysClaim: false };

/** Gets a room ready but for the first messages to devices, which are given. */
async function messages(bot: Bot): Promise<EngineRequest[]> {
  for (let round = 0; round < 20; round++) {
    const { needs } = await bot.engine.prepare({ roomId: ROOM, tolerate: TOLERATE });
    if (needs === "room") await bot.describe();
    const requests = await bot.engine.requests();
    if (needs === "toDevice") return requests;
    for (const request of requests) await bot.carry(request);
  }
  throw new TypeError("Nothing is sent to devices");
}

/** The server does not take something; whether it was settled by that. */
async function refuse({ engine }: Bot, request: EngineRequest | undefined, status: number): Promise<boolean> {
  assert(request !== undefined);
  const failure = { status, errcode: undefined, message: "no" };
  return (await engine.fail({ id: request.id, failure })).settled;
}

Deno.test("a key that the server refuses for the only device counts as not sent, and the send rejects with the refusal", async () => {
  const { alice } = await aliceAndBob();
  const [key] = await messages(alice);
  const settled = await refuse(alice, key, 403);
  const { shared, withheld } = await alice.ready();
  assertEquals([settled, shared.length, withheld.length], [false, 0, 1]);
});

Deno.test("a key that the server keeps failing over, while it takes others, is given up, and the sending goes on", async () => {
  const { alice } = await aliceAndBob();
  const [key] = await messages(alice);
  assertFalse(await refuse(alice, key, 500));
  await alice.engine.discardGroupSession(ROOM);
  const again = await messages(alice);
  const [other] = again.filter(({ id }) => id !== key?.id);
  assert(other !== undefined);
  await alice.carry(other);
  assert(await refuse(alice, again.find(({ id }) => id === key?.id), 500));
});

Deno.test("a message that was divided because of one device reaches the others, and that device's part is dropped when it is refused", async () => {
  const { server, alice, bob } = await aliceAndBob();
  await Bot.open(server, { userId: "@carol:example.org", deviceId: "CAROL" });
  await alice.sync();
  const [both] = await messages(alice);
  assert(await refuse(alice, both, 400));
  const parts = await alice.engine.requests();
  const isFor = (bot: Bot) => (request: EngineRequest) =>
    request.kind === "toDevice" && bot.userId in request.messages;
  const [forBob, forCarol] = [parts.find(isFor(bob)), parts.find((request) => !isFor(bob)(request))];
  assert(forCarol !== undefined);
  await alice.carry(forCarol);
  assert(await refuse(alice, forBob, 400));
  const { shared } = await alice.ready();
  assertEquals(shared.map(({ deviceId }) => deviceId), ["CAROL"]);
});

Deno.test("an event is sent by its caller, and by the engine only after a crash", async () => {
  const { server, alice } = await aliceAndBob();
  const published: string[] = [];
  server.onEvent = ({ event_id }) => void published.push(event_id);
  await alice.encrypt("one");
  assertEquals(await alice.engine.requests(), []);
  await alice.restart();
  assertEquals(published.length, 1);
});

Deno.test("the arrival of an event is written with the next commit, at the end, or with a thousand others", async () => {
  for (const others of [998, 999]) {
    const { alice } = await aliceAndBob();
    const { txnId } = await alice.encrypt("one");
    alice.failing = { when: "before", commits: 0 }; // the writer fails
    const arrived = (name: string) =>
      alice.engine.roomEventSent({ roomId: ROOM, txnId: name as TransactionID, hasArrived: true });
    await arrived(txnId);
    let writes = 0;
    for (let count = 0; count < others; count++) await arrived(`other${count}`).catch(() => writes++);
    assertEquals(writes, others - 998);
    alice.failing = undefined;
    const published: string[] = [];
    alice.server.onEvent = ({ event_id }) => void published.push(event_id);
    await alice.engine.close();
    await alice.restart();
    assertEquals(published, []);
  }
});

Deno.test("an event that failed is recorded immediately: the next process does not send it", async () => {
  const { server, alice } = await aliceAndBob();
  const { txnId } = await alice.encrypt("one");
  await alice.engine.roomEventSent({ roomId: ROOM, txnId: txnId as TransactionID, hasArrived: false });
  const { engine } = alice;
  alice.engine = { close: () => Promise.resolve() } as typeof engine; // the process is killed
  const published: string[] = [];
  server.onEvent = ({ event_id }) => void published.push(event_id);
  await alice.restart();
  assertEquals(published, []);
});

Deno.test("devices are stale until the server has answered, again after the given age, and always of an invalid user ID", async () => {
  const { server, alice, bob } = await aliceAndBob();
  const { engine } = alice;
  const users = [bob.userId];
  const stale = async (
    since?: number,
  ) => [await engine.areDevicesStale({ users, since }), await engine.areDevicesStale({ users })];
  await engine.areDevicesStale({ users });
  await alice.flush();
  assertEquals(await stale(), [false, false]);
  assertEquals(await stale(server.clock.now()), [false, false]);
  await server.clock.tick(1);
  assertEquals(await stale(server.clock.now()), [true, true]);
  await alice.flush();
  assertEquals(await stale(server.clock.now()), [false, false]);
  assert(await engine.areDevicesStale({ users: ["@:"] }));
});

for (const [status, devices] of [[0, 2], [429, 2], [500, 1], [502, 1], [413, 1]] as const) {
  Deno.test(`after a claim for two devices that failed with ${status} again and again, ${devices} are asked for at once`, async () => {
    const { server, alice } = await aliceAndBob();
    await Bot.open(server, { userId: "@carol:example.org", deviceId: "CAROL" });
    await alice.sync();
    const claims: number[] = [];
    for (let round = 0; round < 12 && claims.length < 3; round++) {
      const { needs } = await alice.engine.prepare({ roomId: ROOM, tolerate: TOLERATE });
      if (needs === "room") await alice.describe();
      for (const request of await alice.engine.requests()) {
        if (request.kind !== "keysClaim") await alice.carry(request);
        else {
          claims.push(Object.keys(request.oneTimeKeys).length);
          await refuse(alice, request, status);
        }
      }
      await server.clock.tick(3_600_000);
    }
    assertEquals([claims[0], claims[2]], [2, devices]);
  });
}

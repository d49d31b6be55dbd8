/** What has to be asked for again where no sync tells what changes. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, Bot } from "./bot.ts";
import { ENCRYPTION, EngineServer, ROOM } from "./homeserver.ts";

const TOLERATE = { keysQuery: false, keysClaim: false };

/** What an engine needs of a room, step by step, and does. */
async function needs(bot: Bot, since: number | undefined, visibility = "joined"): Promise<string[]> {
  const steps: string[] = [];
  for (let round = 0; round < 20; round++) {
    const readiness = await bot.engine.prepare({ roomId: ROOM, tolerate: TOLERATE, since });
    if (readiness.needs === "nothing") return steps;
    steps.push(readiness.needs);
    if (readiness.needs === "room") {
      const historyVisibility = { history_visibility: visibility };
      const members = [...bot.server.members].map((userId) => ({ userId, membership: "join" as const }));
      await bot.engine.describeRoom({ roomId: ROOM, encryption: ENCRYPTION, historyVisibility, members });
    }
    await bot.flush();
  }
  throw new TypeError("The room never gets ready");
}

const event = (since?: number, txnId?: string) => {
  return {
    roomId: ROOM,
    eventType: "m.room.message",
    content: JSON.stringify({ body: "Hello" }),
    txnId,
    since,
  };
};

Deno.test("members and devices are asked for again if they were before a time, and hold for all that is sent then", async () => {
  const { server, alice } = await aliceAndBob();
  const { clock } = server;
  await alice.ready();
  const asked = clock.now();
  await clock.tick(1_000);
  assertEquals(await needs(alice, undefined), []);
  assertEquals(await needs(alice, asked), []);
  assert(await (await alice.engine.encrypt(event(asked))).reply !== undefined);
  assertEquals(await (await alice.engine.encrypt(event(asked + 1))).reply, undefined);
  assertEquals(await needs(alice, asked + 1), ["room", "keysQuery"]);
  await clock.tick(1_000);
  assertEquals(await needs(alice, asked + 1_000), []);
  assert(await (await alice.engine.encrypt(event(asked + 1_000))).reply !== undefined);
  assertEquals(await needs(alice, asked + 1_001), ["room", "keysQuery"]);
});

Deno.test("a clock that was set back makes no answer good for longer", async () => {
  const { server, alice } = await aliceAndBob();
  await server.clock.tick(86_400_000);
  await needs(alice, server.clock.now());
  await server.clock.tick(-86_400_000);
  assertEquals(await (await alice.engine.encrypt(event(server.clock.now() - 10_000))).reply, undefined);
  assertEquals((await needs(alice, server.clock.now() - 10_000)).slice(0, 2), ["room", "keysQuery"]);
});

Deno.test("an answer from a time that is still to come counts for nothing, though the session goes on", async () => {
  const { server, alice } = await aliceAndBob();
  await server.clock.tick(1_800_000);
  await needs(alice, server.clock.now());
  await server.clock.tick(-600_000);
  assertEquals(await (await alice.engine.encrypt(event(server.clock.now()))).reply, undefined);
  assert(await (await alice.engine.encrypt(event())).reply !== undefined);
});

Deno.test("devices that can't be queried are left out for the event that needed them", async () => {
  const { server, alice } = await aliceAndBob();
  const since = server.clock.now() + 1;
  await server.clock.tick(1);
  const tolerate = { keysQuery: true, keysClaim: false };
  const prepared = async () => (await alice.engine.prepare({ roomId: ROOM, tolerate, since })).needs;
  assertEquals(await prepared(), "room");
  await alice.describe();
  for (let round = 0; round < 5 && await prepared() !== "nothing"; round++) {
    for (const request of await alice.engine.requests()) {
      if (request.kind === "keysQuery") await alice.engine.answer({ id: request.id, response: {} });
      else await alice.carry(request);
    }
  }
  assert(await (await alice.engine.encrypt(event(since))).reply !== undefined);
  assertEquals(await (await alice.engine.encrypt(event(since + 1))).reply, undefined);
});

Deno.test("an event that is encrypted already is the same again, whatever there would be to ask", async () => {
  const { server, alice } = await aliceAndBob();
  await alice.ready();
  const first = await (await alice.engine.encrypt(event(undefined, "txn"))).reply;
  await server.clock.tick(60_000);
  assertEquals(await (await alice.engine.encrypt(event(server.clock.now(), "txn"))).reply, first);
});

Deno.test("where history is shared, a session ends when any user is missing from the member list, with a key or not", async () => {
  const { server, alice } = await aliceAndBob();
  server.members.add("@keyless:example.org");
  const session = async () => {
    await server.clock.tick(1_000);
    await needs(alice, server.clock.now(), "shared");
    return (await alice.ready()).sessionId;
  };
  const first = await session();
  assertEquals(await session(), first);
  server.members.delete("@keyless:example.org");
  assert(await session() !== first);
});

Deno.test("a first sync does not show who has left before it: members are requested again", async () => {
  const server = new EngineServer();
  const alice = await Bot.open(server, { userId: "@alice:example.org", deviceId: "ALICE" });
  await alice.ready();
  assertEquals(await needs(alice, undefined), []);
  await alice.sync({ initial: true });
  assertEquals(await needs(alice, undefined), ["room"]);
});

Deno.test("an answer holds from when the older of members and devices were asked for", async () => {
  const { server, alice, bob } = await aliceAndBob();
  const { clock } = server;
  const tick = async () => (await clock.tick(1_000), clock.now());
  const users = [alice.userId, bob.userId];
  await needs(alice, clock.now());
  const first = await tick();
  await needs(alice, first);
  const second = await tick();
  await alice.engine.areDevicesStale({ users, since: second }); // the members are as before
  await alice.flush();
  assertEquals(await needs(alice, first), []);
  assertEquals(await (await alice.engine.encrypt(event(second))).reply, undefined);
  assert(await (await alice.engine.encrypt(event(first))).reply !== undefined);
  await alice.sync({ initial: true });
  const third = await tick();
  await needs(alice, undefined); // the members are new, the devices are not
  assertEquals(await needs(alice, first), []);
  assertEquals(await (await alice.engine.encrypt(event(third))).reply, undefined);
});

Deno.test("only a room that was found to be ready as of a time is, and only what was encrypted before needs no room", async () => {
  const { server, alice } = await aliceAndBob();
  const now = server.clock.now();
  assertEquals((await alice.engine.prepare({ roomId: ROOM, tolerate: TOLERATE, since: now })).needs, "room");
  await alice.ready();
  assertEquals(await (await alice.engine.encrypt(event(now))).reply, undefined);
  assertEquals(await (await alice.engine.encrypt(event(now, "new"))).reply, undefined);
  assert(await (await alice.engine.encrypt(event(undefined, "new"))).reply !== undefined);
});

Deno.test("devices that were done without for one event are asked for before one that can wait", async () => {
  const { server, alice } = await aliceAndBob();
  await needs(alice, server.clock.now());
  await server.clock.tick(1_000);
  const since = server.clock.now();
  const prepared = async (keysQuery: boolean) => {
    return (await alice.engine.prepare({ roomId: ROOM, tolerate: { ...TOLERATE, keysQuery }, since })).needs;
  };
  const [impatient, patient] = [true, false];
  if (await prepared(impatient) === "room") await alice.describe();
  assertEquals([await prepared(impatient), await prepared(patient)], ["nothing", "keysQuery"]);
});

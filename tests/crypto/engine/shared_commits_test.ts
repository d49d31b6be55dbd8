/** Events that are encrypted at once share a commit, and none leaves before it is durable. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { aliceAndBob, type Bot } from "./bot.ts";
import { ROOM } from "./homeserver.ts";

/** Encrypts an event, as the actor does: the step has ended, and the reply may wait. */
async function begin(bot: Bot, txnId: string) {
  const content = JSON.stringify({ msgtype: "m.text", body: txnId });
  return await bot.engine.encrypt({ roomId: ROOM, eventType: "m.room.message", content, txnId });
}

/** Two devices whose room is ready; commits of the first wait until they are let go. */
async function stage() {
  const { server, alice, bob } = await aliceAndBob();
  await alice.send("the key");
  await bob.sync();
  const gate = Promise.withResolvers<void>();
  const replied: string[] = [];
  alice.onCommit = () => gate.promise;
  const note = (name: string) => (reply: unknown) => (assert(reply), void replied.push(name));
  return { server, alice, bob, gate, replied, note };
}

Deno.test("encrypt() ends its step before its commit, and replies when that is durable", async () => {
  const { server, alice, bob, gate, replied, note } = await stage();
  const first = await begin(alice, "one");
  const second = await begin(alice, "two");
  const again = await begin(alice, "one"); // its bytes are known, but not durable
  const all = [
    first.reply.then(note("one")),
    second.reply.then(note("two")),
    again.reply.then(note("again")),
  ];
  await alice.engine.isRoomEncrypted(ROOM);
  assertEquals(replied, []);
  gate.resolve();
  await Promise.all(all);
  assertEquals(replied.toSorted(), ["again", "one", "two"]);
  const contents = await Promise.all([first.reply, second.reply, again.reply]);
  assertEquals(contents[2], contents[0]);
  for (const [index, txnId] of ["one", "two"].entries()) {
    const event = server.publish(alice, contents[index]?.content ?? {}, txnId);
    await bob.sync();
    assertEquals(bob.outcome(event), `text: ${txnId}`);
  }
});

Deno.test("an event whose commit fails never leaves, and neither do its bytes when they are asked for again", async () => {
  const { alice, gate } = await stage();
  const first = await begin(alice, "one");
  const again = await begin(alice, "one");
  gate.reject(new TypeError("The disk is gone"));
  for (const { reply } of [first, again, await begin(alice, "one")]) {
    await assertRejects(() => reply, TypeError, "The disk is gone");
  }
});

Deno.test("no request goes out before an event is durable that was encrypted before", async () => {
  const { server, alice, gate } = await stage();
  alice.onCommit = undefined;
  await alice.engine.areDevicesStale({ users: ["@carol:example.org"] });
  const [query] = await alice.engine.requests();
  const failure = { status: 0, errcode: undefined, message: "There is no network" };
  await alice.engine.fail({ id: query?.id ?? "", failure });
  await alice.ready();
  alice.onCommit = alice.onFlush = () => gate.promise;
  const { reply } = await begin(alice, "one");
  await server.clock.tick(86_400_000); // she is looked up again
  const requests = alice.engine.requests();
  const seen: string[] = [];
  requests.then(([request]) => seen.push(request?.kind ?? "none"));
  await alice.engine.isDoubtful();
  assertEquals(seen, []);
  gate.resolve();
  await Promise.all([requests, reply]);
  assertEquals(seen, ["keysQuery"]);
});

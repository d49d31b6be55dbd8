/** Group sessions that wait for their first message. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type UnusedPlace, UnusedSessions } from "../../../src/crypto/megolm/unused_sessions.ts";
import type { Vault } from "../../../src/crypto/records/mod.ts";
import type { UserID } from "@greenroom/matrix/types";
import { ALICE, failure, MALLORY, newDevice, Receiver, ROOM, Sender, told } from "../megolm/support.ts";
import { memoryVault, step } from "../support/vault.ts";

/** A receiver that keeps few unused sessions. */
function bounded(ofUser: number, inAll = 1_000): Receiver {
  return new Receiver({ unused: { ofUser, inAll } });
}

let devices = 0;

/** A device whose key has come. */
async function sender(receiver: Receiver, userId: UserID): Promise<Sender> {
  const made = new Sender(
    receiver,
    receiver.devices.put(newDevice(receiver, userId, { deviceId: `D${devices++}` })),
  );
  await receiver.key(made);
  return made;
}

async function senders(receiver: Receiver, userId: UserID, count: number): Promise<Sender[]> {
  const made: Sender[] = [];
  for (let n = 0; n < count; n++) made.push(await sender(receiver, userId));
  return made;
}

async function count(receiver: Receiver, kind: string): Promise<number> {
  return (await receiver.vault.list(["crypto", kind])).length;
}

/** What is read of each. */
async function readable(receiver: Receiver, from: readonly Sender[]): Promise<string[]> {
  return (await receiver.decrypt(...from.map((each) => each.say("read")))).map(told);
}

Deno.test("unused keys are bounded for each sender, and the oldest go first", async () => {
  const receiver = bounded(3);
  const made = await senders(receiver, MALLORY, 5);
  assertEquals(await count(receiver, "inbound"), 3);
  assertEquals(await count(receiver, "inbound_unused_session"), 3);
  assertEquals(await readable(receiver, made), ["MISSING_KEY", "MISSING_KEY", "read", "read", "read"]);
});

Deno.test("a session that has had a message stays, however many keys come after it", async () => {
  const receiver = bounded(2);
  const used = await sender(receiver, MALLORY);
  assertEquals(await readable(receiver, [used]), ["read"]);
  await senders(receiver, MALLORY, 10);
  receiver.restart();
  assertEquals(await readable(receiver, [used]), ["read"]);
  assertEquals(await count(receiver, "inbound"), 3);
});

Deno.test("a message that can't be used counts as one, since it must not come as another", async () => {
  const receiver = bounded(1);
  const used = await sender(receiver, MALLORY);
  const nonsense = used.seal("nonsense");
  assertEquals(failure(await receiver.one(nonsense)).code, "MALFORMED");
  await senders(receiver, MALLORY, 3);
  assertEquals(failure(await receiver.one({ ...nonsense, event_id: "$other" })).code, "REPLAYED");
});

Deno.test("when there are too many in all, those of the sender with the most go", async () => {
  const receiver = bounded(100, 6);
  const honest = await senders(receiver, ALICE, 2);
  await senders(receiver, MALLORY, 20);
  assertEquals(await count(receiver, "inbound"), 6);
  assertEquals(await readable(receiver, honest), ["read", "read"]);
});

Deno.test("unused sessions stay in the queue over a restart", async () => {
  const receiver = bounded(3);
  const first = await senders(receiver, MALLORY, 3);
  receiver.restart();
  await senders(receiver, MALLORY, 1);
  receiver.restart();
  assertEquals(await readable(receiver, first), ["MISSING_KEY", "read", "read"]);
  assertEquals(await count(receiver, "inbound_unused_session"), 1);
  assertEquals(await count(receiver, "inbound_unused"), 1);
});

Deno.test("only the sessions are kept of senders whose keys are all used", async () => {
  const receiver = bounded(3);
  await readable(receiver, await senders(receiver, ALICE, 3));
  assertEquals(await count(receiver, "inbound_unused_session"), 0);
  assertEquals(await count(receiver, "inbound_unused"), 0);
  assertEquals(await count(receiver, "inbound"), 3);
});

Deno.test("a better key for an unused session does not renew its place in the queue", async () => {
  const receiver = bounded(2);
  const device = receiver.devices.put(newDevice(receiver, MALLORY, { deviceId: "BETTER" }));
  const first = new Sender(receiver, device);
  first.say("before");
  assertEquals((await receiver.key(first, first.laterKey())).kind, "added");
  assertEquals((await receiver.key(first)).kind, "improved");
  assertEquals(await count(receiver, "inbound_unused_session"), 1);
  await senders(receiver, MALLORY, 2);
  assertEquals(await readable(receiver, [first]), ["MISSING_KEY"]);
});

Deno.test("a session whose key became better while it waited does so no more when its first message comes", async () => {
  const receiver = bounded(2);
  const device = receiver.devices.put(newDevice(receiver, MALLORY, { deviceId: "BETTER" }));
  const first = new Sender(receiver, device);
  first.say("before");
  await receiver.key(first, first.laterKey());
  await receiver.key(first);
  assertEquals(await readable(receiver, [first]), ["read"]);
  assertEquals(await count(receiver, "inbound_unused_session"), 0);
  await senders(receiver, MALLORY, 3);
  assertEquals(await readable(receiver, [first]), ["read"]);
});

Deno.test("own sessions and keys that were asked for do not count", async () => {
  const receiver = bounded(1);
  const { megolm } = receiver.context.vodozemac;
  for (let n = 0; n < 3; n++) {
    using session = megolm.createOutbound();
    const sessionKey = session.sessionKey();
    await receiver.step((tx) =>
      receiver.inbound.addOwn(tx, { roomId: ROOM, sessionKey, sharedHistory: false })
    );
    const other = new Sender(receiver, newDevice(receiver, ALICE));
    using copy = megolm.createInbound(other.roomKey.session_key);
    const imported = copy.exportAt(0) ?? "";
    const { sessionId, device } = other;
    await receiver.step((tx) =>
      receiver.inbound.import(tx, {
        roomId: ROOM,
        sessionId,
        sessionKey: imported,
        senderKey: device.curve25519,
        senderEd25519: device.ed25519,
        source: "forwarded",
      })
    );
  }
  assertEquals(await count(receiver, "inbound"), 6);
});

Deno.test("a step that comes to nothing changes nothing of what waits", async () => {
  const sessions = new UnusedSessions({ ofUser: 2, inAll: 10 });
  const vault = memoryVault();
  const add = (sessionId: string) =>
    step(vault, async (tx) => (await sessions.add(tx, ALICE, { roomId: ROOM, sessionId })).evicted);
  await add("one");
  await assertRejects(() =>
    step(vault, async (tx) => {
      await sessions.add(tx, ALICE, { roomId: ROOM, sessionId: "never" });
      await sessions.add(tx, ALICE, { roomId: ROOM, sessionId: "neither" });
      throw new TypeError("nothing comes of it");
    })
  );
  assertEquals(await add("two"), []);
  assertEquals((await add("three")).map(({ sessionId }) => sessionId), ["one"]);
});

Deno.test("any order of coming, being used and restarting keeps the newest of each sender", async () => {
  const users = [ALICE, MALLORY, "@carol:example.org"] as const;
  for (let seed = 1; seed <= 30; seed++) {
    let state = seed;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const vault = memoryVault();
    let sessions = new UnusedSessions({ ofUser: 4, inAll: 9 });
    let model: { userId: UserID; sessionId: string; place: UnusedPlace }[] = [];
    for (let turn = 0; turn < 80; turn++) {
      const what = random(10);
      if (what === 0) sessions = new UnusedSessions({ ofUser: 4, inAll: 9 });
      else if (what < 4 && model.length > 0) {
        const [used] = model.splice(random(model.length), 1);
        if (used !== undefined) await step(vault, (tx) => sessions.used(tx, used.place));
      } else {
        const userId = users[random(3)] ?? ALICE;
        const sessionId = `s${turn}`;
        const added = await step(vault, (tx) => sessions.add(tx, userId, { roomId: ROOM, sessionId }));
        model.push({ userId, sessionId, place: added.place });
        for (const gone of added.evicted) {
          const owner = model.find((each) => each.sessionId === gone.sessionId);
          assert(owner !== undefined, "it was not there");
          assertEquals(model.find((each) => each.userId === owner.userId), owner, "it is the oldest");
          model = model.filter((each) => each !== owner);
        }
      }
      const kept = await vault.list(["crypto", "inbound_unused_session"]);
      assertEquals(kept.length, model.length);
      assert(model.length <= 9 && users.every((user) => model.filter((m) => m.userId === user).length <= 4));
    }
  }
});

/** The IDs of the sessions that have to go for new ones, which come in one step. */
const evictedFor = (sessions: UnusedSessions, vault: Vault, added: readonly (readonly [UserID, string])[]) =>
  step(vault, async (tx) => {
    const evicted: string[] = [];
    for (const [userId, sessionId] of added) {
      const { evicted: gone } = await sessions.add(tx, userId, { roomId: ROOM, sessionId });
      evicted.push(...gone.map(({ sessionId }) => sessionId));
    }
    return evicted;
  });

Deno.test("sessions that come in one step count together", async () => {
  const sessions = new UnusedSessions({ ofUser: 2, inAll: 10 });
  const added = ["one", "two", "three", "four"].map((sessionId) => [ALICE, sessionId] as const);
  assertEquals(await evictedFor(sessions, memoryVault(), added), ["one", "two"]);
});

Deno.test("a new session is not the one that has to go for itself, where all senders have as many", async () => {
  const sessions = new UnusedSessions({ ofUser: 2, inAll: 1 });
  const vault = memoryVault();
  await evictedFor(sessions, vault, [[ALICE, "one"]]);
  assertEquals(await evictedFor(sessions, vault, [[MALLORY, "two"]]), ["one"]);
  assertEquals(await evictedFor(sessions, vault, [[ALICE, "three"]]), ["two"]);
});

Deno.test("after a restart the first message of a session that waits leaves none behind", async () => {
  const receiver = bounded(3);
  const made = await senders(receiver, ALICE, 2);
  receiver.restart();
  assertEquals(await readable(receiver, made), ["read", "read"]);
  assertEquals(await count(receiver, "inbound_unused"), 0);
});

Deno.test("unused sessions are counted even if the stored counts are damaged", async () => {
  const vault = memoryVault();
  const sessions = new UnusedSessions({ ofUser: 100, inAll: 2 });
  await step(vault, (tx) => sessions.used(tx, { userId: ALICE, number: 7 }));
  await evictedFor(sessions, vault, [[ALICE, "one"], [ALICE, "two"]]);
  for (const { key } of await vault.list(["crypto", "inbound_unused_session"])) {
    await vault.commit([{ type: "delete", key }]);
  }
  assertEquals(await evictedFor(sessions, vault, [[MALLORY, "three"], [MALLORY, "four"]]), []);
  assertEquals(await evictedFor(sessions, vault, [[MALLORY, "five"]]), ["three"]);
});

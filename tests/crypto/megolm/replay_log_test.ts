import { assertEquals, assertRejects } from "@std/assert";
import { ReplayLog } from "../../../src/crypto/megolm/replay_log.ts";
import type { MessageEvent } from "@greenroom/matrix/types";
import { memoryVault, step, type Work } from "../support/vault.ts";
import { ALICE, knownSender, MALLORY, newDevice, Receiver, ROOM, Sender, told } from "./support.ts";

/** A receiver, and how often it has read. */
function countingReceiver() {
  const store = memoryVault();
  const counts = { reads: 0 };
  const vault: typeof store = { ...store, getMany: (keys) => (counts.reads++, store.getMany(keys)) };
  return { receiver: new Receiver({ vault }), counts };
}

function unknownSender(receiver: Receiver): Sender {
  return new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
}

/** Receives a key and decrypts events in one step. */
function keyAndEvents(receiver: Receiver, sender: Sender, ...events: MessageEvent[]): Work<string[]> {
  return async (tx) => {
    const { userId, curve25519: senderKey, ed25519: senderEd25519 } = sender.device;
    const key = { sender: userId, senderKey, senderEd25519, device: sender.device, content: sender.roomKey };
    await receiver.inbound.addRoomKey(tx, key);
    return (await receiver.inbound.decryption.decryptAll(tx, events)).map(told);
  };
}

for (const before of [0, 31, 32, 1_000]) {
  Deno.test(`the first messages behind a key from index ${before} on read nothing`, async () => {
    const { receiver, counts } = countingReceiver();
    const sender = unknownSender(receiver);
    for (let index = 0; index < before; index++) sender.say("before");
    await receiver.key(sender, sender.laterKey());
    counts.reads = 0;

    const event = sender.say("one");

    assertEquals([told(await receiver.one(event)), counts.reads], ["one", 0]);
    const replayed = await receiver.one({ ...event, event_id: "$other" });
    assertEquals([told(replayed), counts.reads], ["REPLAYED", 0]);
  });
}

Deno.test("a message that came together with its key is not new in the next step", async () => {
  const receiver = new Receiver();
  const sender = unknownSender(receiver);
  const event = sender.say("one");
  assertEquals(await receiver.step(keyAndEvents(receiver, sender, event)), ["one"]);
  assertEquals(told(await receiver.one({ ...event, event_id: "$other" })), "REPLAYED");
});

Deno.test("a step that came to nothing leaves neither a session nor a replay", async () => {
  const receiver = new Receiver();
  const sender = unknownSender(receiver);
  const event = sender.say("one");
  await assertRejects(() =>
    receiver.step(async (tx) => {
      await keyAndEvents(receiver, sender, event)(tx);
      throw new TypeError("no");
    })
  );
  await receiver.key(sender);
  assertEquals(told(await receiver.one({ ...event, event_id: "$other" })), "one");
  assertEquals(told(await receiver.one(event)), "REPLAYED");
});

Deno.test("a key that comes again, or from an earlier index on, makes no message new", async () => {
  const receiver = new Receiver();
  const sender = unknownSender(receiver);
  const first = sender.say("first");
  const laterKey = sender.laterKey();
  const event = sender.say("one");
  await receiver.key(sender, laterKey);
  assertEquals(told(await receiver.one(event)), "one");
  for (const key of [laterKey, sender.roomKey, laterKey]) {
    receiver.restart();
    await receiver.key(sender, key);
    assertEquals(told(await receiver.one({ ...event, event_id: "$other" })), "REPLAYED");
  }
  assertEquals(told(await receiver.one(first)), "first");
  assertEquals(told(await receiver.one({ ...first, event_id: "$third" })), "REPLAYED");
});

Deno.test("after a restart a message that has been there is found, and one that has not is new", async () => {
  const { receiver, counts } = countingReceiver();
  const sender = await knownSender(receiver);
  const event = sender.say("one");
  await receiver.one(event);
  receiver.restart();
  counts.reads = 0;
  assertEquals(told(await receiver.one({ ...event, event_id: "$other" })), "REPLAYED");
  assertEquals(counts.reads, 2); // session, replays
  assertEquals(told(await receiver.one(sender.say("two"))), "two");
});

Deno.test("an index used by one sender is free for another, and so is one that was not claimed", async () => {
  const replays = new ReplayLog();
  const session = replays.session(ROOM, "session");
  for (const sender of [ALICE, MALLORY]) session.want(0, sender);
  await step(memoryVault(), (tx) => replays.open(tx));
  session.claim(0, { sender: ALICE, event_id: "$event", origin_server_ts: 1 } as unknown as MessageEvent);
  const asked = [session.has(0, ALICE), session.has(0, MALLORY), session.has(99, ALICE)];
  assertEquals(asked, [true, false, false]);
});

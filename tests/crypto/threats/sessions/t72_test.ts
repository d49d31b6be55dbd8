/**
 * Replay squatting: another's ciphertext in an event that is shown first. Mallory, or the server for her,
 * puts Alice's ciphertext into an event of hers; or shows it under a name that Alice's event does not have.
 * Alice's own event must be read when it comes, by whatever way.
 *
 * Class of mistake: something is used up by who came first, before it is known whether they may have it.
 */

import { assert, assertEquals } from "@std/assert";
import type { EventID, MessageEvent } from "@greenroom/matrix/types";
import { aliceAndBob } from "../../engine/bot.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { ALICE, knownSender, MALLORY, newDevice, Receiver, Sender, told } from "../../megolm/support.ts";

/** The same ciphertext in an event of Mallory's. */
function copyOf(event: MessageEvent, name = `${event.event_id}-copy`): MessageEvent {
  return { ...event, event_id: name as EventID, sender: MALLORY, origin_server_ts: 1 };
}

async function squat(receiver: Receiver, { roomKey: { session_id, session_key } }: Sender): Promise<void> {
  const mallory = new Sender(receiver, receiver.devices.put(newDevice(receiver, MALLORY)));
  await receiver.key(mallory, { session_id, session_key });
}

Deno.test("T72: a copy that is refused for its sender uses nothing up, in one step or several", async () => {
  const receiver = new Receiver();
  const alice = await knownSender(receiver);
  const [one, two] = [alice.say("one"), alice.say("two")];
  assertEquals((await receiver.decrypt(copyOf(one), one)).map(told), ["UNTRUSTED", "one"]);
  assertEquals(told(await receiver.one(copyOf(two))), "UNTRUSTED");
  receiver.restart();
  assertEquals(told(await receiver.one(two)), "two");
  assertEquals(told(await receiver.one({ ...two, event_id: "$again" })), "REPLAYED");
});

Deno.test("T72: an event that is refused for its device uses nothing up", async () => {
  const receiver = new Receiver({ policy: { accept: "cross-signed" } });
  const alice = await knownSender(receiver, ALICE, { trust: "unsigned" });
  const event = alice.say("hello");
  assertEquals(told(await receiver.one({ ...event, event_id: "$made-up" })), "UNTRUSTED");
  receiver.devices.put({ ...alice.device, trust: "cross-signed" });
  assertEquals(told(await receiver.one(event)), "hello");
  assertEquals(told(await receiver.one({ ...event, event_id: "$made-up" })), "REPLAYED");
});

Deno.test("T72: a user who claims the session and shows a copy first does not lock out its owner, once known", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  await squat(receiver, alice);
  const event = alice.say("yes");
  const copy = copyOf(event);
  assertEquals((await receiver.decrypt(copy, event)).map(told), ["yes", "UNTRUSTED"]);
  await receiver.key(alice);
  for (const restart of [false, true]) {
    if (restart) receiver.restart();
    assertEquals(told(await receiver.one(event)), "yes");
    assertEquals(told(await receiver.one({ ...event, event_id: "$again" })), "REPLAYED");
    assertEquals(told(await receiver.one(copyOf(event, "$copied-again"))), "REPLAYED");
  }
});

Deno.test("T72: in a session whose key was forwarded, a copy does not lock out the owner", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, newDevice(receiver, ALICE));
  using session = receiver.context.vodozemac.megolm.createInbound(alice.roomKey.session_key);
  const { curve25519: senderKey, ed25519: senderEd25519 } = alice.device;
  await receiver.step((tx) =>
    receiver.inbound.import(tx, {
      roomId: alice.roomId,
      sessionId: alice.sessionId,
      sessionKey: session.exportAt() ?? "",
      senderKey,
      senderEd25519,
      source: "backup",
    })
  );
  const events = Array.from({ length: 40 }, (_, index) => alice.say(`${index}`));
  await receiver.decrypt(...events.map((event) => copyOf(event)));
  assertEquals((await receiver.decrypt(...events)).map(told), events.map((_, index) => `${index}`));
  receiver.devices.put(alice.device);
  await receiver.key(alice);
  receiver.restart();
  assertEquals((await receiver.decrypt(...events)).map(told), events.map((_, index) => `${index}`));
  assertEquals(told(await receiver.one(copyOf(events[3] as MessageEvent))), "UNTRUSTED");
});

Deno.test("T72: a whole engine reads the owner's event as soon as it has their key, and from history too", async () => {
  const { alice: bot, server } = await aliceAndBob();
  const [carol, mallory] = (["@carol:example.org", "@mallory:example.org"] as const).map((userId) => {
    server.member(userId, "join");
    return new RawDevice(server, userId, "DEVICE").publish();
  });
  assert(carol !== undefined && mallory !== undefined);
  await bot.sync();
  await bot.ready();
  const session = new RawSession();
  const key = session.roomKey(ROOM);
  const event = server.publish(carol.own, session.event(ROOM, "yes"), "txn");
  const copy = { ...event, event_id: "$copy" as EventID, sender: mallory.own.userId };

  await bot.sync({ toDevice: [mallory.message(bot, "m.room_key", key)], encrypted: [copy, event] });
  assertEquals([bot.outcome(copy), bot.outcome(event)], ["text: yes", "UNTRUSTED"]);
  const { recovered } = await bot.sync({ toDevice: [carol.message(bot, "m.room_key", key)] });
  assertEquals(recovered.map((found) => found.event.event_id), [event.event_id]);
  const again = await bot.engine.decrypt(event);
  assert("event" in again);
  assertEquals([again.event.sender, again.event.content.body], [carol.own.userId, "yes"]);
});

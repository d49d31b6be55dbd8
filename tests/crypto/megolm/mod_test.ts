import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { MessageEvent } from "@greenroom/matrix/types";
import { turnsDuring } from "../support/turns.ts";
import { memoryVault } from "../support/vault.ts";
import { ALICE, failure, knownSender, newDevice, read, Receiver, ROOM, Sender, told } from "./support.ts";
import { encryptionOf } from "../../../src/types/events/encryption_info.ts";

Deno.test("an event is read with the envelope of the encrypted one and the inside of the decrypted one", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  sender.say("first");
  const sent = sender.wrap({
    type: "m.room.message",
    content: { body: "hello" },
    sender: "@other:example.org",
    event_id: "$other",
    origin_server_ts: 1,
    unsigned: { age: 1 },
  }, { unsigned: { age: 1234 }, redacts: "$something" });

  const event = read(await receiver.one(sent));

  assertEquals({ ...JSON.parse(JSON.stringify(event)) }, {
    type: "m.room.message",
    content: { body: "hello" },
    event_id: sent.event_id,
    sender: ALICE,
    origin_server_ts: sent.origin_server_ts,
    room_id: ROOM,
    source: sent.source,
    unsigned: { age: 1234 },
  });
  assertEquals(encryptionOf(event), {
    senderTrust: "unverified-identity",
    keySource: "direct",
    sessionId: sender.sessionId,
    messageIndex: 1,
    senderKey: sender.device.curve25519,
    senderDevice: "DEVICE",
    relation: undefined,
  });
});

Deno.test("the results of a batch are in the order of its events, whichever session and room they are of", async () => {
  const receiver = new Receiver();
  const one = await knownSender(receiver, ALICE, { deviceId: "ONE" });
  const two = await knownSender(receiver, "@bob:example.org");
  const elsewhere = new Sender(receiver, one.device, "!other:example.org");
  await receiver.key(elsewhere);
  const stranger = new Sender(receiver, newDevice(receiver, ALICE));
  const events = [
    two.say("b0"),
    one.say("a0"),
    stranger.say("can't be decrypted"),
    elsewhere.say("c0"),
    one.say("a1", { content: {} }),
    two.say("b1"),
    one.say("a2"),
  ];

  const decrypted = await receiver.decrypt(...events);

  assertEquals(decrypted.map(told), ["b0", "a0", "MISSING_KEY", "c0", "MALFORMED", "b1", "a2"]);
});

Deno.test("an empty batch has no results", async () => {
  assertEquals(await new Receiver().decrypt(), []);
});

Deno.test("a batch takes few reads, however many sessions, senders and events it has", async () => {
  const store = memoryVault();
  let reads = 0;
  const vault = {
    ...store,
    getMany: (keys: Parameters<typeof store.getMany>[0]) => (reads++, store.getMany(keys)),
  };
  const receiver = new Receiver({ vault });
  const users = Array.from({ length: 20 }, (_, number) => `@user${number}:example.org` as const);
  const senders = [];
  for (const userId of users) senders.push(await knownSender(receiver, userId));
  const events = senders.flatMap((sender) =>
    Array.from({ length: 40 }, (_, index) => sender.say(`${index}`))
  );
  receiver.restart();
  reads = 0;

  const decrypted = await receiver.decrypt(...events);

  assertEquals(
    decrypted.map(told),
    senders.flatMap(() => Array.from({ length: 40 }, (_, index) => `${index}`)),
  );
  assertEquals(reads, 2); // sessions, replays
  assertEquals(receiver.devices.readTogether, [users]);
});

Deno.test("other work goes on while a batch of many sessions is decrypted", async () => {
  const receiver = new Receiver();
  const events: MessageEvent[] = [];
  for (let count = 0; count < 10; count++) {
    const sender = await knownSender(receiver, ALICE, { deviceId: `DEVICE${count}` });
    for (let index = 0; index < 50; index++) events.push(sender.say(`${index}`));
  }
  const turns = await turnsDuring(() => receiver.decrypt(...events));
  assert(turns >= 7, `${turns}`); // one for a hundred events: when they are decrypted, and when checked
});

Deno.test("sessions survive a restart", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  receiver.restart();
  assertEquals(told(await receiver.one(sender.say("still here"))), "still here");
});

Deno.test("an instance of vodozemac that has died is replaced by another one", async () => {
  const first = await Vodozemac.create();
  const second = await Vodozemac.create();
  let current = first;
  const receiver = new Receiver();
  Object.defineProperty(receiver.context, "vodozemac", { get: () => current });
  const sender = await knownSender(receiver);
  assertEquals(told(await receiver.one(sender.say("one"))), "one");
  const event = sender.say("two");
  first[Symbol.dispose]();
  const error = await assertRejects(() => receiver.one(event), VodozemacError);
  assertEquals(error.code, "instance_dead");

  receiver.inbound.clear();
  current = second;

  assertEquals(told(await receiver.one(event)), "two");
});

Deno.test("the additions of an aborted step are not there", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const event = sender.say("secret");
  await assertRejects(() =>
    receiver.step(async (tx) => {
      const { userId, curve25519, ed25519 } = sender.device;
      const device = sender.device;
      const key = {
        sender: userId,
        senderKey: curve25519,
        senderEd25519: ed25519,
        device,
        content: sender.roomKey,
      };
      await receiver.inbound.addRoomKey(tx, key);
      assertEquals(told((await receiver.inbound.decryption.decryptAll(tx, [event]))[0]), "secret");
      throw new TypeError("no");
    })
  );
  assertEquals(told(await receiver.one(event)), "MISSING_KEY");
});

Deno.test("an event from before the key says from when on the key is good", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const early = sender.say("early");
  const late = sender.say("late");
  const key = sender.laterKey();
  await receiver.key(sender, key);
  const after = sender.say("after");

  const decrypted = await receiver.decrypt(early, late, after);

  assertEquals(decrypted.map(told), ["KEY_TOO_NEW", "KEY_TOO_NEW", "after"]);
  assertMatch(failure(decrypted[1]).reason, /begins at 2, and the event is 1/);
});

Deno.test("a reason names the event, the sender, the room, the session and what to do", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const event = sender.say("hello");
  const decryption = failure(await receiver.one(event));
  for (const part of [event.event_id, ALICE, ROOM, sender.sessionId]) {
    assert(decryption.reason.includes(part));
  }
  assertMatch(decryption.reason, /^Cannot decrypt .*; .*[^.]$/);
});

Deno.test("another algorithm is said to be unknown", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.say("hello");
  const content = { ...event.content, algorithm: "m.megolm.v9" };
  assertEquals(told(await receiver.one({ ...event, content })), "UNSUPPORTED_ALGORITHM");
});

Deno.test("a redacted event says that it is redacted", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.say("hello", {
    content: {},
    unsigned: { redacted_because: { type: "m.room.redaction" } },
  });
  const decryption = failure(await receiver.one(event));
  assertEquals(decryption.code, "MALFORMED");
  assertMatch(decryption.reason, /redacted/);
});

Deno.test("events that lack what every event has are malformed, and disturb no others", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const good = sender.say("good");
  const { content } = sender.say("bad");
  const changes: Partial<Record<keyof MessageEvent, unknown>>[] = [
    { event_id: undefined },
    { event_id: "$" + "x".repeat(300) },
    { sender: 5 },
    { room_id: null },
    { origin_server_ts: "now" },
    { origin_server_ts: NaN },
    { state_key: "" },
    { state_key: null },
    { content: null },
    { content: [] },
    { content: { ...content, algorithm: 1 } },
    { content: { ...content, session_id: "" } },
    { content: { ...content, session_id: "x".repeat(300) } },
    { content: { ...content, session_id: {} } },
    { content: { ...content, ciphertext: {} } },
    { content: { ...content, ciphertext: "A".repeat(12_000_000) } }, // more than goes into vodozemac
    { content: { ...content, ciphertext: "not base64!" } },
    { content: { ...content, ciphertext: "" } },
  ];
  const bad = changes.map((change) => ({ ...good, ...change }) as MessageEvent);
  const decrypted = await receiver.decrypt(...bad, good);
  assertEquals(decrypted.map(told), [...bad.map(() => "MALFORMED"), "good"]);
});

Deno.test("more ciphertext than vodozemac takes in one call is decrypted in several", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const filler = "x".repeat(50_000);
  const events = Array.from(
    { length: 200 },
    (_, index) => sender.wrap({ type: "m.room.message", content: { body: `${index}`, filler } }),
  );
  const decrypted = await receiver.decrypt(...events);
  assertEquals(decrypted.map(told), events.map((_, index) => `${index}`));
});

Deno.test("the record of a session that is damaged does not stop the others, nor its key from coming again", async () => {
  const receiver = new Receiver();
  const good = await knownSender(receiver, ALICE);
  const bad = await knownSender(receiver, "@bob:example.org");
  const key = ["crypto", "inbound", ROOM, bad.sessionId];
  const [record] = await receiver.vault.getMany([key]);
  await receiver.vault.commit([{
    type: "set",
    key,
    value: { ...record as object, state: Uint8Array.of(1, 2, 3) },
  }]);
  receiver.restart();
  const events = [bad.say("lost"), good.say("here")];
  assertEquals((await receiver.decrypt(...events)).map(told), ["MISSING_KEY", "here"]);
  const ref = { roomId: ROOM, sessionId: bad.sessionId };
  assertEquals(await receiver.step((tx) => receiver.inbound.exportSession(tx, ref)), undefined);
  await receiver.key(bad);
  assertEquals((await receiver.decrypt(...events)).map(told), ["lost", "here"]);
});

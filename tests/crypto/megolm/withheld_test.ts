import { assert, assertEquals, assertMatch } from "@std/assert";
import type { JsonObject, UserID } from "@greenroom/matrix/types";
import {
  ALICE,
  failure,
  knownSender,
  MEGOLM,
  newDevice,
  Receiver,
  Sender,
  toDevice,
  told,
} from "./support.ts";

Deno.test("S06, S61: a withheld key is reported with its code and what that means; the older name counts too", async () => {
  for (const type of ["m.room_key.withheld", "org.matrix.room_key.withheld"]) {
    const receiver = new Receiver();
    const sender = new Sender(receiver, newDevice(receiver, ALICE));
    const { curve25519: sender_key } = sender.device;
    const { algorithm, room_id, session_id } = sender.roomKey;
    const content = { algorithm, room_id, session_id, sender_key, code: "m.unverified", reason: "because" };
    await receiver.step((tx) => receiver.inbound.withheld.receive(tx, toDevice(ALICE, type, content)));
    receiver.restart();
    const decryption = failure(await receiver.one(sender.say("hello")));
    assertEquals(decryption.code, "WITHHELD");
    assertEquals(decryption.withheld, "m.unverified");
    assertMatch(decryption.reason, /verify this device.*m\.unverified/);
    assert(!decryption.reason.includes("because"));
  }
});

Deno.test("a device that had no Olm session is reported for all its sessions, until it sends a key", async () => {
  const receiver = new Receiver();
  const device = newDevice(receiver, ALICE);
  const [one, two] = [new Sender(receiver, device), new Sender(receiver, device)];
  const content = { algorithm: MEGOLM, sender_key: device.curve25519, code: "m.no_olm" };
  const withheld = toDevice(ALICE, "m.room_key.withheld", content);
  await receiver.step((tx) => receiver.inbound.withheld.receive(tx, withheld));
  const events = [one.say("one"), two.say("two")];
  assertEquals((await receiver.decrypt(...events)).map(told), ["WITHHELD", "WITHHELD"]);
  await receiver.key(one);
  assertEquals((await receiver.decrypt(...events)).map(told), ["one", "MISSING_KEY"]);
});

Deno.test("withheld keys of one sender do not displace those of others", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const { algorithm, room_id, session_id } = sender.roomKey;
  const content = { algorithm, room_id, session_id, sender_key: "x", code: "m.blacklisted" };
  await receiver.step(async (tx) => {
    await receiver.inbound.withheld.receive(tx, toDevice(ALICE, "m.room_key.withheld", content));
    for (let number = 0; number < 3_000; number++) {
      const flood = { ...content, session_id: `session${number}` };
      await receiver.inbound.withheld.receive(
        tx,
        toDevice("@mallory:example.org", "m.room_key.withheld", flood),
      );
    }
  });
  assertEquals((await receiver.vault.list(["crypto", "withheld"])).length, 2_000);
  receiver.restart();
  assertEquals(told(await receiver.one(sender.say("hello"))), "WITHHELD");
});

/** What Alice says of why she keeps a key. */
const withheldBy = (sender: Sender, change: JsonObject = {}) => {
  const { algorithm, room_id, session_id } = sender.roomKey;
  const { curve25519: sender_key } = sender.device;
  const content = { algorithm, room_id, session_id, sender_key, code: "m.blacklisted", ...change };
  return toDevice(ALICE, "m.room_key.withheld", content);
};

Deno.test("a withheld key without a sender or a room is not recorded", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const wrong = [
    { ...withheldBy(sender), sender: "nobody" as UserID },
    withheldBy(sender, { room_id: "room" }),
    withheldBy(sender, { room_id: "!room\u0001:example.org" }),
  ];
  await receiver.step(async (tx) => {
    for (const event of wrong) await receiver.inbound.withheld.receive(tx, event);
  });
  assertEquals(await receiver.vault.list(["crypto", "withheld"]), []);
});

Deno.test("a key that is refused leaves what was said of why there is none", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  await receiver.step((tx) => receiver.inbound.withheld.receive(tx, withheldBy(sender)));
  const { session_key } = new Sender(receiver, sender.device).roomKey;
  assertEquals((await receiver.key(sender, { session_key })).kind, "refused");
  assertEquals(told(await receiver.one(sender.say("hello"))), "WITHHELD");
});

Deno.test("after a restart a key takes back what was said before, and what is said counts with what was", async () => {
  const receiver = new Receiver();
  const device = newDevice(receiver, ALICE);
  const [one, two] = [new Sender(receiver, device), new Sender(receiver, device)];
  const code = "m.no_olm";
  const unreachable = withheldBy(one, { room_id: undefined, session_id: undefined, code });
  await receiver.step((tx) => receiver.inbound.withheld.receive(tx, unreachable));
  receiver.restart();
  await receiver.key(one);
  assertEquals(told(await receiver.one(two.say("hello"))), "MISSING_KEY");

  const flood = (count: number) =>
    receiver.step(async (tx) => {
      for (let number = 0; number < count; number++) {
        await receiver.inbound.withheld.receive(tx, withheldBy(two, { session_id: `${count}-${number}` }));
      }
    });
  await flood(2_000);
  receiver.restart();
  await flood(5);
  assertEquals((await receiver.vault.list(["crypto", "withheld"])).length, 2_000);
});

Deno.test("claims and keys of the same step count, for one session and another", async () => {
  const receiver = new Receiver();
  const one = await knownSender(receiver);
  const two = new Sender(receiver, one.device);
  const { userId: sender, curve25519: senderKey, ed25519: senderEd25519 } = one.device;
  const decrypted = await receiver.step(async (tx) => {
    await receiver.inbound.withheld.receive(tx, withheldBy(two));
    const { roomKey: content, device } = one;
    await receiver.inbound.addRoomKey(tx, { sender, senderKey, senderEd25519, device, content });
    return await receiver.inbound.decryption.decryptAll(tx, [two.say("two"), one.say("one")]);
  });
  assertEquals(decrypted.map(told), ["WITHHELD", "one"]);
});

import { assert, assertEquals, assertMatch } from "@std/assert";
import { ALICE, failure, MEGOLM, newDevice, Receiver, Sender, toDevice, told } from "./support.ts";

Deno.test("S06, S61: a withheld key is told with its code and what that means; the older name counts too", async () => {
  for (const type of ["m.room_key.withheld", "org.matrix.room_key.withheld"]) {
    const receiver = new Receiver();
    const sender = new Sender(receiver, newDevice(receiver, ALICE));
    const { curve25519: sender_key } = sender.device;
    const { algorithm, room_id, session_id } = sender.roomKey;
    const content = { algorithm, room_id, session_id, sender_key, code: "m.unverified", reason: "because" };
    await receiver.step((tx) => receiver.inbound.receiveWithheld(tx, toDevice(ALICE, type, content)));
    receiver.restart();
    const decryption = failure(await receiver.one(sender.say("hello")));
    assertEquals(decryption.code, "WITHHELD");
    assertEquals(decryption.withheld, "m.unverified");
    assertMatch(decryption.reason, /verify this device.*m\.unverified/);
    assert(!decryption.reason.includes("because"));
  }
});

Deno.test("a device that found no way to send keys is told of for all its sessions, until it sends one", async () => {
  const receiver = new Receiver();
  const device = newDevice(receiver, ALICE);
  const [one, two] = [new Sender(receiver, device), new Sender(receiver, device)];
  const content = { algorithm: MEGOLM, sender_key: device.curve25519, code: "m.no_olm" };
  const withheld = toDevice(ALICE, "m.room_key.withheld", content);
  await receiver.step((tx) => receiver.inbound.receiveWithheld(tx, withheld));
  const events = [one.say("one"), two.say("two")];
  assertEquals((await receiver.decrypt(...events)).map(told), ["WITHHELD", "WITHHELD"]);
  await receiver.key(one);
  assertEquals((await receiver.decrypt(...events)).map(told), ["one", "MISSING_KEY"]);
});

Deno.test("withheld keys of one sender do not push out those of others", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const { algorithm, room_id, session_id } = sender.roomKey;
  const content = { algorithm, room_id, session_id, sender_key: "x", code: "m.blacklisted" };
  await receiver.step(async (tx) => {
    await receiver.inbound.receiveWithheld(tx, toDevice(ALICE, "m.room_key.withheld", content));
    for (let number = 0; number < 3_000; number++) {
      const flood = { ...content, session_id: `session${number}` };
      await receiver.inbound.receiveWithheld(
        tx,
        toDevice("@mallory:example.org", "m.room_key.withheld", flood),
      );
    }
  });
  assertEquals((await receiver.vault.list(["crypto", "withheld"])).length, 2_000);
  receiver.restart();
  assertEquals(told(await receiver.one(sender.say("hello"))), "WITHHELD");
});

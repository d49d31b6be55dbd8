/** A forged notice that a key is withheld. */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import {
  ALICE,
  knownSender,
  MALLORY,
  MEGOLM,
  newDevice,
  Receiver,
  ROOM,
  Sender,
  toDevice,
  told,
} from "../../megolm/support.ts";

const withheld = (sender: Sender, change: JsonObject = {}) => ({
  algorithm: MEGOLM,
  room_id: ROOM,
  session_id: sender.sessionId,
  sender_key: sender.device.curve25519,
  code: "m.blacklisted",
  ...change,
});

Deno.test("T45: a forged notice that a key is withheld does not stop decryption, before or after the key", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const forge = (content: JsonObject) =>
    receiver.step((tx) =>
      receiver.inbound.withheld.receive(tx, toDevice(ALICE, "m.room_key.withheld", content))
    );
  const noOlm = { algorithm: MEGOLM, sender_key: sender.device.curve25519, code: "m.no_olm" };
  await forge(withheld(sender));
  await forge(noOlm);
  const event = sender.say("hello");
  assertEquals(told(await receiver.one(event)), "WITHHELD");
  await receiver.key(sender);
  assertEquals(told(await receiver.one(event)), "hello");
  await forge(withheld(sender));
  await forge(noOlm);
  assertEquals(told(await receiver.one(sender.say("again"))), "again");
});

Deno.test("T45: a user can't say that another withholds a key", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  await knownSender(receiver, MALLORY);
  const forged = toDevice(MALLORY, "m.room_key.withheld", withheld(sender));
  await receiver.step((tx) => receiver.inbound.withheld.receive(tx, forged));
  assertEquals(told(await receiver.one(sender.say("hello"))), "MISSING_KEY");
});

Deno.test("T45: notices that are not what they must be are dropped", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const changes = [
    { algorithm: "m.megolm.v2" },
    { code: undefined },
    { code: "m.blacklisted\nPay here: https://example.org" },
    { code: "x".repeat(100) },
    { room_id: undefined },
    { room_id: "!".repeat(300) },
    { session_id: {} },
    { session_id: "" },
    { code: "m.no_olm", room_id: undefined, sender_key: 5 },
  ];
  for (const change of changes) {
    const event = toDevice(ALICE, "m.room_key.withheld", withheld(sender, change));
    await receiver.step((tx) => receiver.inbound.withheld.receive(tx, event));
  }
  assertEquals((await receiver.vault.list(["crypto", "withheld"])).length, 0);
  assertEquals(told(await receiver.one(sender.say("hello"))), "MISSING_KEY");
});

/** Messages in clear that must come encrypted. */

import { assertEquals } from "@std/assert";
import { classifyToDevice } from "../../../../src/crypto/engine/receive_sync.ts";
import { aliceAndBob as engines } from "../../engine/bot.ts";
import { RawDevice } from "../../engine/raw_device.ts";
import { aliceAndBob } from "../../olm/peers.ts";

Deno.test("T05: keys and secrets in clear are ignored; requests and refusals may be clear", async () => {
  const { alice } = await aliceAndBob();
  const secret = [
    "m.room_key",
    "m.forwarded_room_key",
    "m.secret.send",
    "m.secret.push",
    "m.room_key_bundle",
    "io.element.msc4268.room_key_bundle",
    "io.element.msc4385.secret.push",
    "m.dummy",
  ];
  for (const type of secret) assertEquals(classifyToDevice(alice.event({}, type)), "refused", type);
  const clear = [
    "m.room_key_request",
    "m.room_key.withheld",
    "org.matrix.room_key.withheld",
    "m.secret.request",
    "m.key.verification.start",
    "org.example.custom",
  ];
  for (const type of clear) assertEquals(classifyToDevice(alice.event({}, type)), "clear", type);
});

Deno.test("T05: a whole engine hands no key or secret to handlers, whether it comes in clear or encrypted", async () => {
  const { alice, server } = await engines();
  const carol = new RawDevice(server, "@carol:example.org", "CAROL").publish();
  server.member(carol.own.userId, "join");
  await alice.sync();
  await alice.ready(); // Carol's device is known from now on
  const content = { request_id: "1", secret: "AAAA", name: "m.megolm_backup.v1" };
  const types = [
    "m.room_key",
    "m.forwarded_room_key",
    "m.secret.send",
    "m.secret.push",
    "io.element.msc4385.secret.push",
    "m.dummy",
  ];
  const clear = types.map((type) => ({ type, sender: carol.own.userId, content, source: 0 }));
  const encrypted = types.map((type) => carol.message(alice, type, content));
  assertEquals((await alice.sync({ toDevice: [...clear, ...encrypted] })).toDevice, []);
  const custom = carol.message(alice, "org.example.custom", { n: 1 });
  const { toDevice: [message] } = await alice.sync({ toDevice: [custom] });
  assertEquals([message?.event.type, message?.encryption?.senderDevice], ["org.example.custom", "CAROL"]);
});

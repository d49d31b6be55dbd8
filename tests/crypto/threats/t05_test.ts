/** What must come encrypted, in clear. */

import { assertEquals } from "@std/assert";
import { classifyToDevice } from "../../../src/crypto/to_device_class.ts";
import { aliceAndBob } from "../olm/peers.ts";

Deno.test("T05: keys and secrets in clear are ignored; requests and refusals may be clear", async () => {
  const { alice } = await aliceAndBob();
  const secret = [
    "m.room_key",
    "m.forwarded_room_key",
    "m.secret.send",
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

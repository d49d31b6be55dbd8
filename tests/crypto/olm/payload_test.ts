/** What messages to devices say beside what they are about. */

import { assertEquals } from "@std/assert";
import { writeOlmPayload } from "../../../src/crypto/olm_payload.ts";
import { aliceAndBob } from "./peers.ts";

Deno.test("a message names its device both ways, since matrix-nio takes no m.dummy without sender_device", async () => {
  const { alice, bob } = await aliceAndBob();
  const deviceKeys = alice.keys.deviceKeys();
  const written = JSON.parse(writeOlmPayload(
    { type: "m.dummy", content: {} },
    { own: alice.keys.own, device: bob.device, deviceKeys },
  ));
  assertEquals(written, {
    type: "m.dummy",
    content: {},
    sender: alice.userId,
    sender_device: alice.deviceId,
    recipient: bob.userId,
    recipient_keys: { ed25519: bob.device.ed25519 },
    keys: { ed25519: alice.device.ed25519 },
    sender_device_keys: JSON.parse(JSON.stringify(deviceKeys)),
  });
});

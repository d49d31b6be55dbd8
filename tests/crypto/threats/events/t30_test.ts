/** The server replaces the sender of an event (CVE-2025-48937). */

import { assertEquals, assertMatch } from "@std/assert";
import { failure, knownSender, MALLORY, newDevice, Receiver, told } from "../../megolm/support.ts";

Deno.test("T30, S66: an event whose sender was rewritten is refused with the reason", async () => {
  for (const accept of ["all", "cross-signed-or-legacy", "cross-signed"] as const) {
    const receiver = new Receiver({ policy: { accept } });
    const sender = await knownSender(receiver);
    await knownSender(receiver, MALLORY);
    const event = sender.say("pay him");
    const { code, reason } = failure(await receiver.one({ ...event, sender: MALLORY }));
    assertEquals(code, "UNTRUSTED");
    assertMatch(reason, /key came from another user/);
    assertEquals(told(await receiver.one(event)), "pay him");
  }
});

Deno.test("T30: the sender_key and device_id of an event have no effect on its sender", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const mallory = receiver.devices.put(newDevice(receiver, MALLORY, { deviceId: "EVIL" }));
  const event = sender.say("hello");
  const content = { ...event.content, sender_key: mallory.curve25519, device_id: mallory.deviceId };
  const decryption = await receiver.one({ ...event, content });
  assertEquals(told(decryption), "hello");
  const encryption = "event" in decryption ? decryption.encryption : undefined;
  assertEquals([encryption?.senderKey, encryption?.senderDevice], [sender.device.curve25519, "DEVICE"]);
});

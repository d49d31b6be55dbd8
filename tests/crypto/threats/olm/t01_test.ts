/** A message to a device that is encrypted for a room (CVE-2022-39251). */

import { assertEquals } from "@std/assert";
import { classifyToDevice } from "../../../../src/crypto/engine/receive_sync.ts";
import { aliceAndBob } from "../../olm/peers.ts";

Deno.test("T01: a message to a device that is encrypted with Megolm is ignored", async () => {
  const { alice, bob } = await aliceAndBob();
  const content = {
    algorithm: "m.megolm.v1.aes-sha2",
    sender_key: alice.device.curve25519,
    session_id: "s",
    ciphertext: "AwgA",
  };
  const event = alice.event(content);
  assertEquals(classifyToDevice(event), "refused");
  assertEquals(await bob.receive(event), { kind: "dropped", reason: "it is not encrypted with Olm" });
  await alice.meet(bob);
  const real = await alice.send(bob);
  assertEquals(classifyToDevice(real), "encrypted");
  const dressed = { ...real, content: { ...real.content, algorithm: "m.megolm.v1.aes-sha2" } };
  assertEquals((await bob.receive(dressed)).kind, "dropped");
  assertEquals((await bob.receive(real)).kind, "decrypted");
});

/** Ciphertext for another device. */

import { assertEquals } from "@std/assert";
import { classifyToDevice } from "../../../../src/crypto/engine/receive_sync.ts";
import type { ToDeviceEvent } from "@greenroom/matrix/types";
import { aliceAndBob, ciphertextOf, Peer } from "../../olm/peers.ts";

Deno.test("T15: ciphertext for another device is ignored", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const carol = await Peer.open({ userId: "@carol:example.org", deviceId: "CAROL", server, clock });
  await alice.meet(carol);
  const event = await alice.send(carol);
  assertEquals(await bob.receive(event), { kind: "dropped", reason: "it is encrypted for another device" });
  // Under his key it is not for him either.
  const content = { ...event.content, ciphertext: { [bob.device.curve25519]: ciphertextOf(event) } };
  assertEquals((await bob.receive({ ...event, content })).kind, "failed");
  // Of several ciphertexts only the own one is looked at.
  await alice.meet(bob);
  const own = await alice.send(bob, { n: 1 });
  const both = { ...event.content.ciphertext as object, ...own.content.ciphertext as object };
  assertEquals(await bob.read({ ...own, content: { ...own.content, ciphertext: both } }), { n: 1 });
  for (const ciphertext of [undefined, null, "", [], { __proto__: { [bob.device.curve25519]: {} } }]) {
    const broken = { ...event, content: { ...event.content, ciphertext } };
    assertEquals((await bob.receive(broken)).kind, "dropped");
  }
});

Deno.test("T15: what has no content is ignored", async () => {
  const { alice, bob } = await aliceAndBob();
  for (const content of [undefined, null, "text", []]) {
    const event = { ...alice.event({}), content } as unknown as ToDeviceEvent;
    assertEquals(classifyToDevice(event), "refused");
    assertEquals((await bob.receive(event)).kind, "dropped");
  }
});

Deno.test("T15: what bears the key of this device itself is ignored", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob);
  const content = { ...event.content, sender_key: bob.device.curve25519 };
  assertEquals(await bob.receive({ ...event, sender: bob.userId, content }), {
    kind: "dropped",
    reason: "it bears the key of this device itself",
  });
});

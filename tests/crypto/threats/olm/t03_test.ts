/**
 * Unknown key share: an attacker publishes our keys as its own, and passes on what is written to
 * it.
 */

import { assertEquals } from "@std/assert";
import { aliceAndBob } from "../../olm/peers.ts";
import { forge } from "../forged_payload.ts";

Deno.test("T03: a message that was written to another user or device is dropped", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const changes = [
    { recipient: "@mallory:example.org" },
    { recipient: undefined },
    { recipient_keys: { ed25519: alice.device.ed25519 } },
    { recipient_keys: {} },
    { recipient_keys: undefined },
  ];
  for (const change of changes) {
    const event = await forge(alice, bob, (payload) => ({ ...payload, ...change }));
    assertEquals((await bob.receive(event)).kind, "dropped", JSON.stringify(change));
  }
  assertEquals((await bob.receive(await forge(alice, bob, (payload) => payload))).kind, "decrypted");
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined, "none of this is a wedge");
});

Deno.test("T03: a message that its server says is from another user than its writer is dropped", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const sender = "@mallory:example.org";
  const event = await alice.send(bob);
  assertEquals((await bob.receive({ ...event, sender })).kind, "dropped");
  const bare = await forge(alice, bob, ({ sender_device_keys: _, ...payload }) => payload);
  assertEquals(await bob.receive({ ...bare, sender }), {
    kind: "dropped",
    reason: "it was written by another user than the one who sent it",
  });
});

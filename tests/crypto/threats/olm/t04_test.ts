/** A device publishes the identity key of another. */

import { assertEquals } from "@std/assert";
import type { DeviceKeys } from "@greenroom/matrix/types";
import { aliceAndBob, Peer } from "../../olm/peers.ts";
import { forge } from "../forged_payload.ts";

Deno.test("T04: a message over a channel of one device does not pass as another's with the same identity key", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const mallory = await Peer.open({ userId: "@mallory:example.org", deviceId: "M", server, clock });
  const published: DeviceKeys = {
    ...mallory.keys.deviceKeys(),
    keys: { "curve25519:M": alice.device.curve25519, "ed25519:M": mallory.device.ed25519 },
  };
  server.of(mallory.userId, "M").keys = published;
  await alice.meet(bob);
  // Even if Alice helped and named Mallory, it is her signing key that she names.
  const event = await forge(alice, bob, ({ sender_device_keys: _, ...payload }) => ({
    ...payload,
    sender: mallory.userId,
  }));
  assertEquals(await bob.receive({ ...event, sender: mallory.userId }), {
    kind: "dropped",
    reason: "it was written by another device than the one whose key it came with",
  });
});

Deno.test("T04: a message that names another signing key than its device has is dropped", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  for (const keys of [{ ed25519: bob.device.ed25519 }, {}, undefined, { ed25519: 7 }]) {
    const event = await forge(alice, bob, ({ sender_device_keys: _, ...payload }) => ({ ...payload, keys }));
    assertEquals((await bob.receive(event)).kind, "dropped");
  }
});

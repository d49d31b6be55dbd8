/** Device keys inside of a message that are not the sender's (CVE-2026-45056). */

import { assert, assertEquals } from "@std/assert";
import type { DeviceKeys } from "@greenroom/matrix/types";
import { aliceAndBob, Peer } from "../../olm/peers.ts";
import { forge } from "../forged_payload.ts";

Deno.test("T02: a message whose sender_device_keys are not its sender's is dropped", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const mallory = await Peer.open({ userId: "@mallory:example.org", deviceId: "M", server, clock });
  await mallory.meet(bob);
  server.hidden.add("M"); // so that nothing but the keys says who it is
  const own: DeviceKeys = mallory.keys.deviceKeys();
  const signed = (keys: Partial<DeviceKeys>) =>
    mallory.keys.account.sign({ ...own, ...keys, signatures: {} });
  const forgeries = [
    alice.keys.deviceKeys(),
    signed({ user_id: alice.userId }),
    signed({ device_id: alice.deviceId, keys: alice.keys.deviceKeys().keys }),
    signed({ keys: { ...own.keys, "curve25519:M": alice.device.curve25519 } }),
    signed({ keys: { ...own.keys, "ed25519:M": alice.device.ed25519 } }),
    { ...own, algorithms: ["altered"] },
    { ...own, signatures: {} },
    "no keys",
  ];
  for (const keys of forgeries) {
    const event = await forge(mallory, bob, (payload) => ({ ...payload, sender_device_keys: keys }));
    assertEquals((await bob.receive(event)).kind, "dropped", JSON.stringify(keys));
  }
  const unstable = await forge(mallory, bob, ({ sender_device_keys: _, ...payload }) => ({
    ...payload,
    "org.matrix.msc4147.device_keys": alice.keys.deviceKeys(),
  }));
  assertEquals((await bob.receive(unstable)).kind, "dropped");
  const honest = await bob.receive(await forge(mallory, bob, (payload) => payload));
  assert(honest.kind === "decrypted");
  assertEquals(honest.deviceKeys?.device_id, "M");
});

Deno.test("T02: that keys were good once says nothing of others for the same channel", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  const altered = { ...alice.keys.deviceKeys(), algorithms: ["altered"] };
  const event = await forge(alice, bob, (payload) => ({ ...payload, sender_device_keys: altered }));
  assertEquals((await bob.receive(event)).kind, "dropped");
});

Deno.test("T02: a device that is known must not name itself another", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const { curve25519, ed25519 } = alice.device;
  const keys = alice.keys.account.sign({
    ...alice.keys.deviceKeys(),
    device_id: "OTHER",
    signatures: {},
    keys: {
      "curve25519:OTHER": curve25519,
      "ed25519:OTHER": ed25519,
    },
  });
  // Its signature has to bear the name that it gives itself.
  const signature = Object.values((keys.signatures as DeviceKeys["signatures"])[alice.userId] ?? {})[0];
  const named = { ...keys, signatures: { [alice.userId]: { "ed25519:OTHER": signature } } };
  const event = await forge(alice, bob, (payload) => ({ ...payload, sender_device_keys: named }));
  assertEquals(await bob.receive(event), {
    kind: "dropped",
    reason: "it names another device than the one whose key it came with",
  });
});

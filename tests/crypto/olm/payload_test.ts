/** What messages to devices say beside what they are about. */

import { assert, assertEquals } from "@std/assert";
import { writeOlmPayload } from "../../../src/crypto/olm/olm_payload.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { forge } from "../threats/forged_payload.ts";
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

Deno.test("a message that says no type, or has no content that is an object, is dropped", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const changes: JsonObject[] = [
    { type: undefined },
    { type: 5 },
    { type: null },
    { content: undefined },
    { content: "text" },
    { content: [] },
    { content: null },
  ];
  for (const change of changes) {
    const event = await forge(alice, bob, (payload) => ({ ...payload, ...change }));
    assertEquals(await bob.receive(event), { kind: "dropped", reason: "its plaintext is not an event" });
  }
});

Deno.test("a message may have a hundred levels, and values of any kind in them", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const nested = (levels: number) =>
    forge(alice, bob, (payload) => {
      const deep = JSON.parse(`${"[".repeat(levels)}null,1,"x",true${"]".repeat(levels)}`);
      return { ...payload, content: { deep } };
    });
  assertEquals((await bob.receive(await nested(98))).kind, "decrypted"); // the message and its content are two
  assertEquals((await bob.receive(await nested(99))).kind, "dropped");
});

Deno.test("a message need not bring the keys of its device: one that is known is known, one that is not may bring room keys", async () => {
  for (const isKnown of [true, false]) {
    const { alice, bob } = await aliceAndBob();
    await alice.meet(bob);
    if (!isKnown) bob.server.hidden.add(alice.deviceId);
    const without = (type: string) =>
      forge(alice, bob, ({ sender_device_keys: _, ...payload }) => ({ ...payload, type }));
    const key = await bob.receive(await without("m.room_key"));
    assert(key.kind === "decrypted");
    assertEquals([key.device?.deviceId, key.claimedDevice], [
      isKnown ? alice.deviceId : undefined,
      undefined,
    ]);
    assertEquals((await bob.receive(await without("m.dummy"))).kind, "decrypted");
    assertEquals((await bob.receive(await without("m.other"))).kind, isKnown ? "decrypted" : "dropped");
  }
});

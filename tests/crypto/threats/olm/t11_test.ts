/** Messages that cost a lot to decrypt. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, ciphertextOf, withCiphertext } from "../../olm/peers.ts";
import { forge } from "../forged_payload.ts";

Deno.test("T11: a message that is far too long is not even decoded", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob, { n: 1 });
  const { type } = ciphertextOf(event);
  const long = withCiphertext(event, { type, body: "A".repeat(10_000_000) });
  assertEquals(await bob.receive(long), { kind: "dropped", reason: "it is too long" });
});

Deno.test("T11: an index far ahead is refused without counting up to it", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  await alice.read(await bob.send(alice));
  await bob.read(await alice.send(bob));
  const event = await alice.send(bob, { n: 1 });
  const { type, body } = ciphertextOf(event);
  const bytes = [...Uint8Array.fromBase64(body)];
  // Version, tag and length and 32 bytes of the ratchet key, then the tag and the index of the chain.
  assertEquals(bytes[35], 0x10);
  assert((bytes[36] ?? 0x80) < 0x80);
  bytes.splice(36, 1, 0xff, 0xff, 0xff, 0xff, 0x0f);
  const far = withCiphertext(event, { type, body: Uint8Array.from(bytes).toBase64({ omitPadding: true }) });
  assertEquals((await bob.receive(far)).kind, "failed");
  assertEquals(await bob.read(event), { n: 1 });
});

Deno.test("T11: a gap of more than two thousand messages is a wedge, not a search", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  await alice.step(async (tx) => {
    for (let n = 0; n < 2_001; n++) await alice.olm.encrypt(tx, bob.device, "m.room_key", {});
  });
  assertEquals((await bob.receive(await alice.send(bob))).kind, "failed");
});

Deno.test("T11: a plaintext nested without end is refused, and so is one that is no text", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  for (const depth of [100, 20_000]) {
    const deep = "[".repeat(depth) + "]".repeat(depth);
    const nested = await forge(alice, bob, (payload) => {
      return JSON.stringify({ ...payload, content: { deep: "?" } }).replace('"?"', deep);
    });
    const result = await bob.receive(nested);
    assertEquals(result, { kind: "dropped", reason: "its plaintext is not what it must be" });
  }
  for (const text of ["", "[]", "null", "{", '{"type":"m.room_key"}']) {
    assertEquals((await bob.receive(await forge(alice, bob, () => text))).kind, "dropped", text);
  }
  const invalid = await forge(alice, bob, (payload) => {
    const text = JSON.stringify({ ...payload, content: { text: "?" } });
    const bytes = new TextEncoder().encode(text);
    bytes[text.indexOf("?")] = 0xff;
    return bytes;
  });
  assertEquals(await bob.receive(invalid), {
    kind: "dropped",
    reason: "its plaintext is not what it must be",
  });
  const again = await forge(alice, bob, (payload) => ({ ...payload, type: "m.room.encrypted" }));
  assertEquals((await bob.receive(again)).kind, "dropped");
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 }, "the ratchet has gone on");
});

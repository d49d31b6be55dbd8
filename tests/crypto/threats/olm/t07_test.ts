/** Messages that only use up a one-time key. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, ciphertextOf, garbled, withCiphertext } from "../../olm/peers.ts";

Deno.test("T07: a bad pre-key message leaves its one-time key usable", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob, { n: 1 });
  const { type, body } = ciphertextOf(event);
  assertEquals((await bob.receive(garbled(event))).kind, "failed");
  const short = withCiphertext(event, { type, body: body.slice(0, -8) });
  assert((await bob.receive(short)).kind !== "decrypted");
  await bob.restart();
  assertEquals(await bob.read(event), { n: 1 });
});

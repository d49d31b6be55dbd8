/** Messages of other versions. */

import { assertEquals } from "@std/assert";
import { aliceAndBob, ciphertextOf, withCiphertext } from "../../olm/peers.ts";

Deno.test("T10: a message with another version is refused, and the session goes on", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  const withVersion = async (version: number) => {
    const event = await alice.send(bob);
    const { type, body } = ciphertextOf(event);
    const bytes = Uint8Array.fromBase64(body);
    bytes[0] = version;
    return withCiphertext(event, { type, body: bytes.toBase64({ omitPadding: true }) });
  };
  for (const version of [0, 1, 2, 4, 255]) {
    assertEquals((await bob.receive(await withVersion(version))).kind, "dropped", String(version));
  }
  await alice.read(await bob.send(alice));
  for (const version of [0, 1, 2, 4, 255]) { // of type 1 now
    assertEquals((await bob.receive(await withVersion(version))).kind, "dropped", String(version));
  }
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined);
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});

/** Pre-key messages that are shown as another device's than the one that has written them. */

import { assertEquals } from "@std/assert";
import { NEW_PEERS_A_DAY } from "../../../src/crypto/records/mod.ts";
import { testContext } from "../support/context.ts";
import { aliceAndBob } from "./peers.ts";

Deno.test("a message that begins a session under another key than its sender's is dropped, and uses up no one-time key", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob, { n: 1 });
  // As many as may start sessions in a day: forged messages must not use that up.
  for (let count = 0; count < NEW_PEERS_A_DAY; count++) {
    const sender_key = testContext().own.curve25519;
    const body = { ...event, content: { ...event.content, sender_key } };
    assertEquals(await bob.receive(body), { kind: "dropped", reason: "it names two different senders" });
  }
  assertEquals(await bob.read(event), { n: 1 });
});

/** Replays of pre-key messages, which a fallback key would accept again. */

import { assert, assertEquals } from "@std/assert";
import type { ToDeviceEvent } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../../src/store/base/mod.ts";
import { aliceAndBob, ciphertextOf, type Peer, withCiphertext } from "../../olm/peers.ts";

/** The same message, with something behind it that decoders skip: its hash is another one. */
function rewrapped(event: ToDeviceEvent): ToDeviceEvent {
  const { type, body } = ciphertextOf(event);
  const bytes = [...Uint8Array.fromBase64(body), 0x78, 0x01];
  return withCiphertext(event, { type, body: Uint8Array.from(bytes).toBase64({ omitPadding: true }) });
}

/**
 * Bob, who can only be reached by his fallback key, and has let go of the session of Alice's first message.
 */
async function evicted() {
  const { alice, bob, server } = await aliceAndBob();
  server.of(bob.userId, bob.deviceId).oneTimeKeys.clear();
  await alice.meet(bob);
  const first = await alice.send(bob, { secret: true });
  await bob.read(first);
  for (let n = 0; n < 8; n++) {
    await alice.step((tx) => alice.olm.sessions.rollback(tx));
    await alice.meet(bob);
    await bob.read(await alice.send(bob));
  }
  const sessions = await Array.fromAsync(bob.store.list(["crypto", "olm-session"]));
  const { sessionId } = bob.context.vodozemac.olm.readPreKeyMessage(ciphertextOf(first).body);
  assert(!sessions.some(({ key }) => key.includes(sessionId)), "the first session was to be let go");
  return { alice, bob, first };
}

/** Bob without a kind of record. */
async function without(bob: Peer, kind: string): Promise<void> {
  const store = new MemoryStore();
  const entries = (await Array.fromAsync(bob.store.list([]))).filter(({ key }) => key[1] !== kind);
  await store.commit(entries.map(({ key, value }) => ({ type: "set", key, value })));
  await bob.setBack(store);
}

Deno.test("T06: a pre-key message is not read again after its session was let go, and asks for no new one", async () => {
  const { bob, first } = await evicted();
  assertEquals(await bob.receive(first), { kind: "dropped", reason: "it was here before" });
  await bob.restart();
  assertEquals(await bob.receive(first), { kind: "dropped", reason: "it was here before" });
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined);
});

Deno.test("T06: what remembers sessions that were let go refuses it by itself", async () => {
  const { bob, first } = await evicted();
  await without(bob, "olm-seen");
  assertEquals(await bob.receive(first), { kind: "dropped", reason: "its session was given up" });
  assertEquals(await bob.receive(rewrapped(first)), { kind: "dropped", reason: "its session was given up" });
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined);
});

Deno.test("T06: what remembers messages refuses it by itself, under whatever sender", async () => {
  const { bob, first } = await evicted();
  await without(bob, "olm-gone");
  assertEquals(await bob.receive(first), { kind: "dropped", reason: "it was here before" });
  const other = { ...first, sender: "@mallory:example.org" } as const;
  assertEquals(await bob.receive(other), { kind: "dropped", reason: "it was here before" });
});

Deno.test("T06: without either the replay would be read: the attack is real", async () => {
  const { bob, first } = await evicted();
  await without(bob, "olm-seen");
  await without(bob, "olm-gone");
  assertEquals((await bob.receive(first)).kind, "decrypted");
});

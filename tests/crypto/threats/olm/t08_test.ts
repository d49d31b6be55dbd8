/** Keys that produce no secret. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob } from "../../olm/peers.ts";

const ZERO = "A".repeat(43);

Deno.test("T08: a one-time key of zeros makes no session, even if its device has signed it", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const published = server.of(bob.userId, bob.deviceId);
  published.oneTimeKeys.clear();
  published.oneTimeKeys.set("signed_curve25519:AAAAAA", bob.keys.account.sign({ key: ZERO }));
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  assertEquals(await alice.claim(), { established: [], exhausted: [bob.device] });
  assertEquals(await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device])), [bob.device]);
});

Deno.test("T08: an identity key of zeros makes no session", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const published = server.of(bob.userId, bob.deviceId);
  published.keys = {
    ...bob.keys.deviceKeys(),
    keys: { "curve25519:BOB": ZERO, "ed25519:BOB": bob.device.ed25519 },
  };
  const device = await server.device(undefined, bob.userId, "BOB");
  assert(device?.curve25519 === ZERO);
  await alice.step((tx) => alice.olm.claims.want(tx, [device]));
  assertEquals((await alice.claim())?.established, []);
});

Deno.test("T08: a pre-key message made of zeros is dropped, and asks for no new session", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob);
  const [part] = Object.values(event.content.ciphertext as Record<string, { type: number; body: string }>);
  assert(part !== undefined);
  const bytes = Uint8Array.fromBase64(part.body);
  // Version, then three keys, each behind its tag and length: one-time, base, identity.
  bytes.fill(0, 37, 69);
  const body = bytes.toBase64({ omitPadding: true });
  const content = { ...event.content, ciphertext: { [bob.device.curve25519]: { type: 0, body } } };
  assertEquals((await bob.receive({ ...event, content })).kind, "dropped");
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined);
});

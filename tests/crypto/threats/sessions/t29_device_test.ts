/** A device ID with other keys (CVE-2021-40823, CVE-2021-40824): the part that concerns devices. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, Peer } from "../../olm/peers.ts";

Deno.test("T29: a device that takes the name of a known one with other keys is ignored", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const impostor = await Peer.unpublished({ userId: alice.userId, deviceId: "ALICE", server, clock });
  assert(impostor.device.curve25519 !== alice.device.curve25519);
  await impostor.meet(bob);
  assertEquals(await bob.receive(await impostor.send(bob)), {
    kind: "dropped",
    reason: "its device is known by other keys",
  });
});

Deno.test("T29: a session is started only with the keys that a device had when it was first seen", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const impostor = await Peer.unpublished({ userId: alice.userId, deviceId: "ALICE", server, clock });
  const upload = impostor.keys.nextUpload();
  const { oneTimeKeys } = server.of(alice.userId, "ALICE");
  oneTimeKeys.clear();
  for (const [id, key] of Object.entries(upload?.one_time_keys ?? {})) oneTimeKeys.set(id, key);
  await bob.step((tx) => bob.olm.claims.want(tx, [alice.device]));
  assertEquals(await bob.claim(), { established: [], exhausted: [alice.device] });
});

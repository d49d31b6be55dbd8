/** Garbage that makes this device claim one-time keys. */

import { assertEquals } from "@std/assert";
import { aliceAndBob, garbled, Peer } from "../../olm/peers.ts";

Deno.test("T13: garbage makes at most one new session an hour with a device", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await bob.meet(alice);
  let claims = 0;
  for (let minute = 0; minute < 180; minute++) {
    assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
    if (await alice.claim() !== undefined) claims++;
    if (minute % 50 === 0) await alice.restart();
    await clock.tick(60_000);
  }
  assertEquals(claims, 3);
});

Deno.test("T13: garbage of unknown devices makes no session, leaves one note for each, and has its user looked up once an hour", async () => {
  const { alice, server, clock } = await aliceAndBob();
  const eve = await Peer.open({ userId: "@eve:example.org", deviceId: "EVE", server, clock });
  await eve.meet(alice);
  server.hidden.add("EVE");
  const before = (await Array.fromAsync(alice.store.list([]))).length;
  for (let n = 0; n < 10; n++) await alice.receive(garbled(await eve.send(alice)));
  assertEquals(alice.olm.claims.next(clock.now()), undefined);
  assertEquals((await Array.fromAsync(alice.store.list([]))).length, before + 1);
  assertEquals(server.lookedUp, ["@eve:example.org"]);
  await clock.tick(3_600_000);
  await alice.receive(garbled(await eve.send(alice)));
  assertEquals(server.lookedUp.length, 2);
});

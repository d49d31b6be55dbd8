/** Input that could make the WebAssembly instance fail. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, Peer, withCiphertext } from "../../olm/peers.ts";
import { forge } from "../forged_payload.ts";

Deno.test("T12: keys of 44 characters that are not 32 bytes do no harm", async () => {
  const vodozemac = await Vodozemac.create();
  const { alice, server, clock } = await aliceAndBob();
  const bob = await Peer.open({ userId: "@bob2:example.org", deviceId: "B", server, clock, vodozemac });
  const bad = "A".repeat(43) + "B";
  await alice.meet(bob);
  const forgeries = [
    await forge(alice, bob, (payload) => ({ ...payload, keys: { ed25519: bad } })),
    await forge(alice, bob, (payload) => ({ ...payload, recipient_keys: { ed25519: bad } })),
    await forge(alice, bob, (payload) => ({
      ...payload,
      sender_device_keys: {
        ...alice.keys.deviceKeys(),
        keys: { "curve25519:ALICE": bad, "ed25519:ALICE": bad },
      },
    })),
  ];
  const event = await alice.send(bob, { n: 1 });
  forgeries.push({ ...event, content: { ...event.content, sender_key: bad } });
  for (const body of ["", "A", bad, "AwogAA", "A".repeat(1_000), "!"]) {
    for (const type of [0, 1, 2, "0"]) forgeries.push(withCiphertext(event, { type, body }));
  }
  for (const forgery of forgeries) assert((await bob.receive(forgery)).kind !== "decrypted");
  assert(!vodozemac.dead);
  assertEquals(await bob.read(event), { n: 1 });
  const [id] = server.of(alice.userId, alice.deviceId).oneTimeKeys.keys();
  server.of(alice.userId, alice.deviceId).oneTimeKeys.set(id ?? "", alice.keys.account.sign({ key: bad }));
  await clock.tick(10_000_000);
  await bob.meet(alice);
  assert(!vodozemac.dead);
});

/** Key bundles: without the option none is fetched, and with it none that an inviter has not sent. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob } from "../../engine/bot.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";

const file = {
  url: "mxc://example.org/bundle",
  v: "v2",
  key: { kty: "oct", alg: "A256CTR", k: "A".repeat(43), ext: true, key_ops: ["encrypt", "decrypt"] },
  iv: "A".repeat(22),
  hashes: { sha256: "A".repeat(43) },
};

for (const type of ["m.room_key_bundle", "io.element.msc4268.room_key_bundle"]) {
  Deno.test(`T39: ${type} is ignored from any sender, and reaches no handler`, async () => {
    const { alice, server } = await aliceAndBob();
    const carol = new RawDevice(server, "@carol:example.org", "CAROL").publish();
    server.member(carol.own.userId, "join");
    const session = new RawSession();
    const keys = session.exported(ROOM, carol.own);
    const event = server.publish(carol.own, session.event(ROOM, "planted"), "txn");
    await alice.sync();
    await alice.ready(); // Carol's device is known from now on
    const trust = {
      userId: carol.own.userId,
      deviceId: "CAROL",
      ed25519: carol.own.ed25519,
      trust: "verified",
    } as const;
    for (const verified of [false, true]) {
      if (verified) await alice.engine.steps.setDeviceTrust(trust);
      for (const room_id of [ROOM, "!other:example.org"]) {
        const content = { room_id, file, room_keys: [keys], withheld: [] };
        const toDevice = [
          carol.message(alice, type, content),
          { ...carol.message(alice, "m.dummy", {}), type, content },
          carol.message(alice, type, { huge: "x".repeat(60_000) }),
        ];
        assertEquals((await alice.sync({ toDevice })).toDevice, []);
        assertEquals(await alice.engine.requests(), []);
      }
    }
    assertEquals(alice.outcome(event), "MISSING_KEY");
    const records = await Array.fromAsync(alice.store.list(["crypto", "inbound", ROOM]));
    assert(!records.some(({ key }) => key.includes(session.id)));
  });
}

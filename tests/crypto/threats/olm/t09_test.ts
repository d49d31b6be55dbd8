/** One-time keys that the server has made up. */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { aliceAndBob, Peer } from "../../olm/peers.ts";

type Answer = { one_time_keys: Record<string, Record<string, Record<string, JsonObject>>> };

Deno.test("T09: a key that is unsigned, forged, of another kind or another device makes no session", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const eve = await Peer.open({ userId: "@eve:example.org", deviceId: "BOB", server, clock });
  const [, good] = [...server.of(bob.userId, bob.deviceId).oneTimeKeys][0] as [string, JsonObject];
  const forgeries: Record<string, unknown> = {
    unsigned: { key: good.key },
    altered: { ...good, key: eve.device.curve25519 },
    flagged: { ...good, fallback: true },
    "signed by another": eve.keys.account.sign({ key: good.key }),
    "signed by another in his name": {
      key: good.key,
      signatures: {
        [bob.userId]:
          (eve.keys.account.sign({ key: good.key }).signatures as Record<string, unknown>)[eve.userId],
      },
    },
    "bare": good.key,
    "no key": bob.keys.account.sign({ key: "short" }),
    "nothing": null,
  };
  for (const [name, key] of Object.entries(forgeries)) {
    await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
    const answer = { one_time_keys: { [bob.userId]: { BOB: { "signed_curve25519:AAAAAA": key } } } };
    assertEquals((await alice.claim(() => answer))?.established, [], name);
    await clock.tick(1_000_000);
  }
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const otherKind = { one_time_keys: { [bob.userId]: { BOB: { "curve25519:AAAAAA": good } } } };
  assertEquals((await alice.claim(() => otherKind))?.established, []);
  assertEquals(await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device])), [bob.device]);
});

Deno.test("T09: a key that was not claimed makes no session", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const carol = await Peer.open({ userId: "@carol:example.org", deviceId: "CAROL", server, clock });
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const outcome = await alice.claim((answer) => {
    const [entry] = server.of(carol.userId, carol.deviceId).oneTimeKeys;
    const { one_time_keys } = answer as Answer;
    const more = { [carol.userId]: { CAROL: Object.fromEntries(entry === undefined ? [] : [entry]) } };
    return { one_time_keys: { ...one_time_keys, ...more } };
  });
  assertEquals(outcome?.established, [bob.device]);
  const without = await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device, carol.device]));
  assertEquals(without, [carol.device]);
});

Deno.test("T09: an answer that is not what it must be makes no session, and does no harm", async () => {
  const { alice, bob } = await aliceAndBob();
  const answers = [{}, { one_time_keys: null }, { one_time_keys: [], failures: 7 }, {
    one_time_keys: { [bob.userId]: 1 },
  }];
  for (const answer of answers) {
    await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
    assertEquals((await alice.claim(() => answer))?.exhausted, [bob.device]);
    await alice.clock.tick(1_000_000);
  }
});

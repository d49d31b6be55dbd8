/** A server that lies about the number of keys it has. */

import { assert, assertEquals } from "@std/assert";
import { accountKey } from "../../../../src/crypto/account/own_account.ts";
import { Peer } from "../../olm/peers.ts";

const fresh = () => Peer.open({ userId: "@alice:example.org", deviceId: "ALICE" });

Deno.test("T14: counts that are no counts make at most fifty keys, and never fewer than none", async () => {
  const cases: [count: unknown, made: number][] = [
    [-1, 50],
    [-1e9, 50],
    [1.5, 49],
    [49.9, 1],
    [50, 0],
    [1e9, 0],
    [Infinity, 0],
    [NaN, 50],
    ["7", 50],
    [null, 50],
  ];
  for (const [count, made] of cases) {
    const peer = await fresh();
    const counts = { signed_curve25519: count as number };
    await peer.step((tx) => peer.keys.receiveCounts(tx, counts, ["signed_curve25519"]));
    assertEquals(Object.keys(peer.keys.nextUpload()?.one_time_keys ?? {}).length, made, String(count));
  }
});

Deno.test("T14: keys that a sync says are used up are not made again after an upload says that they are not", async () => {
  const peer = await fresh();
  for (let round = 0; round < 12; round++) {
    await peer.step((tx) => peer.keys.receiveCounts(tx, {}, []));
    await peer.upload();
  }
  const record = await peer.step((tx) => tx.get(accountKey()));
  assertEquals((record?.oneTimeKeys.length ?? 0) / 32, 100);
});

Deno.test("T14: however often keys are said to be used up, no more than five hundred are kept", async () => {
  const peer = await fresh();
  for (let round = 0; round < 12; round++) {
    await peer.step((tx) => peer.keys.receiveCounts(tx, {}, []));
    const request = peer.keys.nextUpload();
    if (request === undefined) continue;
    await peer.step((tx) => peer.keys.receiveUpload(tx, request, { one_time_key_counts: {} })); // a lie, too
  }
  const record = await peer.step((tx) => tx.get(accountKey()));
  assert(record !== undefined);
  assertEquals(record.oneTimeKeys.length / 32, 500);
  using account = peer.context.vodozemac.olm.restoreAccount(record.state);
  assertEquals(account.storedOneTimeKeyCount, 500);
});

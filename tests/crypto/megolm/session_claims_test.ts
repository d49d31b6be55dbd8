/** Who claims a session: what stays of the claims of several users and devices. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { inboundKey } from "../../../src/crypto/megolm/inbound_record.ts";
import { ClaimsStage, ONE } from "./claims_stage.ts";
import { ALICE, MALLORY, ME, ROOM } from "./support.ts";

const TWO = "two";
const CAROL = "@carol:example.org";

Deno.test("each user's claims are kept apart", async () => {
  const stage = new ClaimsStage();
  const [alice, mallory, other] = [stage.device(ALICE), stage.device(MALLORY), stage.device(ALICE)];
  assert(await stage.claim(alice));
  assert(await stage.includes(alice));
  assertFalse(await stage.includes(mallory));
  assert(await stage.claim(mallory));
  for (const device of [alice, mallory]) assert(await stage.includes(device));
  assertFalse(await stage.includes(other));
  assertEquals(await stage.keysOf(ALICE), [alice.curve25519]);
  assertEquals(await stage.keysOf(MALLORY), [mallory.curve25519]);
  assertEquals(await stage.keysOf(ME), undefined);
  for (const device of [alice, mallory]) assertFalse(await stage.claim(device), "nothing new");
  assertEquals((await stage.record())?.others?.count, 1);
});

Deno.test("the 32 claims of a user make room only for a better founded one", async () => {
  const stage = new ClaimsStage();
  for (let count = 0; count < 32; count++) assert(await stage.claim(stage.device(ALICE)));
  assertFalse(await stage.claim(stage.device(ALICE)));
  const signed = stage.device(ALICE, "cross-signed");
  assert(await stage.claim(signed));
  const keys = await stage.keysOf(ALICE);
  assertEquals([keys?.length, keys?.includes(signed.curve25519)], [32, true]);
});

Deno.test("the best founded claim is the best of the likeliest owner's, whatever others' are", async () => {
  const stage = new ClaimsStage();
  await stage.claim(stage.device(ALICE));
  const signed = stage.device(ALICE, "cross-signed");
  await stage.claim(signed);
  assertEquals((await stage.best())?.senderKey, signed.curve25519);
  await stage.message(ALICE);
  await stage.claim(stage.device(MALLORY, "verified"));
  assertEquals((await stage.best())?.senderKey, signed.curve25519);
});

Deno.test("a claim that is to be kept makes room for no other", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  const kept = true;
  await stage.claim(stage.device(ALICE), ONE, { kept });
  for (const sessionId of [TWO, "three"]) await stage.claim(stage.device(ALICE), sessionId);
  assertEquals([stage.forgotten, (await stage.record())?.claims.length], [[TWO], 1]);
});

Deno.test("a user's second claim of a session takes no place of its own among what waits", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  await stage.claim(stage.device(ALICE));
  await stage.claim(stage.device(ALICE));
  assertEquals(stage.forgotten, []);
  await stage.claim(stage.device(ALICE), TWO);
  assertEquals(stage.forgotten, [ONE]);
  assertEquals([await stage.record(ONE), (await stage.record(TWO))?.claims.length], [undefined, 1]);
});

Deno.test("what a device shows of itself is noted when it comes with the key again, and only for the key that it has named", async () => {
  const stage = new ClaimsStage();
  const alice = stage.device(ALICE);
  const shown = (signedBy: string[], from = alice) =>
    stage.claim(from, ONE, { credentials: { deviceId: alice.deviceId, ed25519: alice.ed25519, signedBy } });
  const noted = async () => (await stage.record())?.claims.map(({ credentials }) => credentials?.signedBy);
  assert(await stage.claim(alice));
  assertEquals(await noted(), [undefined]);
  assert(await shown(["old"]));
  assertFalse(await shown(["old"]));
  assertFalse(await stage.claim(alice), "what is left out takes nothing away");
  assert(await shown(["new"]));
  assertFalse(await shown(["other"], { ...alice, ed25519: "another" }));
  assertEquals(await noted(), [["new"]]);
});

Deno.test("a user's unused claims are removed, and nothing of others'", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  const [alice, mallory] = [stage.device(ALICE), stage.device(MALLORY)];
  const kept = true;
  await stage.claim(alice, ONE, { kept });
  await stage.claim(mallory, ONE);
  await stage.claim(mallory, TWO);
  assertEquals(stage.forgotten, []);
  assertEquals([await stage.keysOf(MALLORY), await stage.keysOf(ALICE)], [undefined, [alice.curve25519]]);
  assertEquals((await stage.record())?.others?.count, 0);
});

Deno.test("a claim that makes another's of the same session go leaves nothing of that", async () => {
  const stage = new ClaimsStage({ ofUser: 100, inAll: 1 });
  const [alice, mallory] = [stage.device(ALICE), stage.device(MALLORY)];
  await stage.claim(mallory);
  await stage.claim(alice);
  assertEquals((await stage.record())?.claims.map(({ userId }) => userId), [ALICE]);
  assertEquals([await stage.keysOf(ALICE), await stage.keysOf(MALLORY)], [[alice.curve25519], undefined]);
  assertEquals((await stage.record())?.others, undefined);
});

Deno.test("a user's claims leave those of others as they are", async () => {
  const stage = new ClaimsStage();
  for (const userId of [ALICE, MALLORY, ALICE, MALLORY]) await stage.claim(stage.device(userId));
  assertEquals(await stage.standing(), { first: ALICE, others: 1, records: 1 });
  for (const userId of [ALICE, MALLORY]) assertEquals((await stage.keysOf(userId))?.length, 2);
});

Deno.test("a user who sends messages of a session comes before those who only claim it, and the first one stays first", async () => {
  const stage = new ClaimsStage();
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  assertEquals(await stage.standing(), { first: ALICE, others: 1, records: 1 });
  assert(await stage.message(MALLORY));
  assertEquals(await stage.standing(), { first: MALLORY, others: 1, records: 1 });
  assert(await stage.message(ALICE));
  assertEquals(await stage.standing(), { first: MALLORY, others: 1, records: 1 });
  assertFalse(await stage.message(ALICE), "nothing new");
  assertEquals(await stage.standing(), { first: MALLORY, others: 1, records: 1 });
});

Deno.test("among users without a message, the one with the better known device comes first, after all with one", async () => {
  const stage = new ClaimsStage();
  await stage.claim(stage.device(ALICE));
  await stage.claim(stage.device(MALLORY, "cross-signed"));
  assertEquals(await stage.standing(), { first: MALLORY, others: 1, records: 1 });
  await stage.claim(stage.device(CAROL));
  assertEquals(await stage.standing(), { first: MALLORY, others: 2, records: 2 });
  await stage.message(ALICE);
  assertEquals(await stage.standing(), { first: ALICE, others: 2, records: 2 });
  await stage.claim(stage.device(ME, "verified"));
  assertEquals(await stage.standing(), { first: ALICE, others: 3, records: 3 });
});

Deno.test("a session stays with its other claimants when the claims of the first one are removed", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  const mallory = stage.device(MALLORY);
  await stage.claim(stage.device(ALICE));
  await stage.claim(mallory);
  await stage.claim(stage.device(ALICE), TWO);
  assertEquals([stage.forgotten, await stage.keysOf(ALICE)], [[], undefined]);
  assertEquals(await stage.standing(), { first: undefined, others: 1, records: 1 });
  assertEquals((await stage.best())?.senderKey, mallory.curve25519);
  await stage.message(MALLORY);
  assertEquals(await stage.standing(), { first: MALLORY, others: 0, records: 0 });
  assertEquals(await stage.keysOf(MALLORY), [mallory.curve25519]);
});

Deno.test("the next claimant takes the place of a first one whose claims are removed", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  await stage.claim(stage.device(ALICE), TWO);
  await stage.claim(stage.device(CAROL));
  assertEquals(await stage.standing(), { first: CAROL, others: 1, records: 1 });
});

Deno.test("what a claimant does not allow is not allowed when the claim is gone, unless messages showed another's", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  await stage.claim(stage.device(ALICE), TWO);
  await stage.claim(stage.device(CAROL), ONE, { sharedHistory: false });
  await stage.claim(stage.device(CAROL), TWO);
  assertEquals(await stage.standing(), { first: undefined, others: 1, records: 1 });
  await stage.message(MALLORY);
  assertEquals([(await stage.standing()).first, await stage.shares()], [MALLORY, false]);

  const other = new ClaimsStage();
  await other.claim(other.device(ALICE));
  await other.message(ALICE);
  await other.claim(other.device(MALLORY), ONE, { sharedHistory: false });
  assertEquals([(await other.standing()).first, await other.shares()], [ALICE, true]);
  await other.message(MALLORY);
  assertEquals([(await other.standing()).first, await other.shares()], [ALICE, false]);
});

Deno.test("a session is removed with its last claimant", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  for (const sessionId of [ONE, TWO]) {
    for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId), sessionId);
  }
  assertEquals([stage.forgotten, await stage.record()], [[ONE], undefined]);
  assertEquals(await stage.standing(), { first: undefined, others: undefined, records: 0 });
});

Deno.test("a session with a known owner from others stays when its last claim is removed", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  const hearsay = [{ source: "backup", senderKey: "key", senderEd25519: "", sharedHistory: false } as const];
  await stage.claim(stage.device(ALICE));
  await stage.receiver.step(async (tx) => {
    const record = await tx.get(inboundKey(ROOM, ONE));
    assert(record);
    tx.set(inboundKey(ROOM, ONE), { ...record, hearsay });
  });
  await stage.claim(stage.device(ALICE), TWO);
  const { claims, others, hearsay: kept } = await stage.record() ?? {};
  assertEquals([stage.forgotten, claims, others, kept], [[], [], undefined, hearsay]);
});

Deno.test("a message that is not to be taken for a user's leaves the user's claims waiting", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  assertFalse(await stage.message(MALLORY, { isUsed: false }));
  await stage.claim(stage.device(MALLORY), TWO);
  assertEquals(await stage.keysOf(MALLORY), undefined);
});

Deno.test("a claim of a session that is gone makes room for another", async () => {
  const stage = new ClaimsStage({ ofUser: 1, inAll: 100 });
  await stage.claim(stage.device(ALICE));
  await stage.receiver.step((tx) => tx.delete(inboundKey(ROOM, ONE)));
  assert(await stage.claim(stage.device(ALICE), TWO));
  assertEquals([stage.forgotten, (await stage.record(TWO))?.claims.length], [[], 1]);
});

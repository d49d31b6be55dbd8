/** Who claims a session: what stays of the claims of several users and devices. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { ClaimJudge } from "../../../src/crypto/megolm/session_owner.ts";
import type { CryptoDevice } from "../../../src/crypto/devices/user_record.ts";
import {
  claimsOf,
  inboundKey,
  type InboundRecord,
  isShareable,
  type OwnerClaim,
  withClaims,
} from "../../../src/crypto/megolm/inbound_record.ts";
import { SessionClaims } from "../../../src/crypto/megolm/session_claims.ts";
import { type UnusedLimits, UnusedSessions } from "../../../src/crypto/megolm/unused_sessions.ts";
import type { UserID } from "../../../src/types/ids.ts";
import { ALICE, MALLORY, ME, newDevice, Receiver, ROOM } from "./support.ts";

const [ONE, TWO] = ["one", "two"] as const;
const CAROL = "@carol:example.org";

/** Claims on sessions, kept as the sessions' records keep them. */
class Stage {
  readonly receiver = new Receiver();
  readonly forgotten: string[] = [];
  readonly claims: SessionClaims;
  #devices = 0;

  constructor(limits: UnusedLimits = { ofUser: 100, inAll: 100 }) {
    this.claims = new SessionClaims({
      judge: new ClaimJudge(this.receiver.context, this.receiver.devices),
      unused: new UnusedSessions(limits),
      forget: (_tx, { sessionId }) => this.forgotten.push(sessionId),
    });
  }

  device(userId: UserID, trust: CryptoDevice["trust"] = "unsigned"): CryptoDevice {
    const deviceId = `D${++this.#devices}`;
    return this.receiver.devices.put(newDevice(this.receiver, userId, { deviceId, trust }));
  }

  /** A device claims a session; whether that says anything new. */
  claim(
    { userId, curve25519, ed25519 }: CryptoDevice,
    sessionId: string = ONE,
    { kept = false, ...more }: Partial<OwnerClaim> & { readonly kept?: boolean } = {},
  ): Promise<boolean> {
    return this.receiver.step(async (tx) => {
      const key = inboundKey(ROOM, sessionId);
      const record = await tx.get(key);
      const claim = { userId, senderKey: curve25519, senderEd25519: ed25519, sharedHistory: true, ...more };
      const claimed = await this.claims.add(tx, { roomId: ROOM, sessionId }, { record, claim, kept });
      if (claimed !== undefined) tx.set(key, { state: new Uint8Array(), firstIndex: 0, ...claimed });
      return claimed !== undefined;
    });
  }

  /** A message of the first session comes from a user who claims it; whether that says anything new. */
  message(userId: UserID, { isUsed = true } = {}): Promise<boolean> {
    return this.receiver.step(async (tx) => {
      const session = { roomId: ROOM, sessionId: ONE };
      const key = inboundKey(ROOM, ONE);
      const record = await tx.get(key);
      const set = record && await claimsOf(tx, session, { record, userId });
      assert(record && set);
      const claimed = await this.claims.met(tx, session, { record, userId, set, isUsed });
      if (claimed !== undefined) tx.set(key, withClaims(record, claimed));
      return claimed !== undefined;
    });
  }

  /** Whose the first session most likely is, how many others claim it, and how many records say so. */
  async standing() {
    const record = await this.record();
    const records = await this.receiver.vault.list(["crypto", "inbound_claims", ROOM, ONE]);
    return { first: record?.claims[0]?.userId, others: record?.others?.count, records: records.length };
  }

  record(sessionId: string = ONE): Promise<InboundRecord | undefined> {
    return this.receiver.step((tx) => tx.get(inboundKey(ROOM, sessionId)));
  }

  /** The keys of the devices that claim a session for a user. */
  async keysOf(userId: UserID, sessionId: string = ONE): Promise<string[] | undefined> {
    const record = await this.record(sessionId) ?? { claims: [] };
    const session = { roomId: ROOM, sessionId };
    const set = await this.receiver.step((tx) => claimsOf(tx, session, { record, userId }));
    return set?.claims.map(({ senderKey }) => senderKey);
  }

  /** The best founded claim of the first session. */
  async best(): Promise<OwnerClaim | undefined> {
    const record = await this.record() ?? { claims: [] };
    const session = { roomId: ROOM, sessionId: ONE };
    return await this.receiver.step((tx) => this.claims.best(tx, session, record));
  }

  /** Whether the first session's key may be shared with users who are invited later. */
  async shares(): Promise<boolean> {
    const record = await this.record();
    return record !== undefined && isShareable(record);
  }

  async includes({ curve25519: senderKey }: CryptoDevice): Promise<boolean> {
    const record = await this.record() ?? { claims: [] };
    const session = { roomId: ROOM, sessionId: ONE };
    return await this.receiver.step((tx) => this.claims.include(tx, session, { record, senderKey }));
  }
}

Deno.test("each user's claims are kept apart", async () => {
  const stage = new Stage();
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
  const stage = new Stage();
  for (let count = 0; count < 32; count++) assert(await stage.claim(stage.device(ALICE)));
  assertFalse(await stage.claim(stage.device(ALICE)));
  const signed = stage.device(ALICE, "cross-signed");
  assert(await stage.claim(signed));
  const keys = await stage.keysOf(ALICE);
  assertEquals([keys?.length, keys?.includes(signed.curve25519)], [32, true]);
});

Deno.test("a user's second claim of a session takes no place of its own among what waits", async () => {
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  await stage.claim(stage.device(ALICE));
  await stage.claim(stage.device(ALICE));
  assertEquals(stage.forgotten, []);
  await stage.claim(stage.device(ALICE), TWO);
  assertEquals(stage.forgotten, [ONE]);
  assertEquals([await stage.record(ONE), (await stage.record(TWO))?.claims.length], [undefined, 1]);
});

Deno.test("what a device shows of itself is noted when it comes with the key again, and only for the key that it has named", async () => {
  const stage = new Stage();
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
  const stage = new Stage({ ofUser: 1, inAll: 100 });
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
  const stage = new Stage({ ofUser: 100, inAll: 1 });
  const [alice, mallory] = [stage.device(ALICE), stage.device(MALLORY)];
  await stage.claim(mallory);
  await stage.claim(alice);
  assertEquals((await stage.record())?.claims.map(({ userId }) => userId), [ALICE]);
  assertEquals([await stage.keysOf(ALICE), await stage.keysOf(MALLORY)], [[alice.curve25519], undefined]);
  assertEquals((await stage.record())?.others, undefined);
});

Deno.test("a user's claims leave those of others as they are", async () => {
  const stage = new Stage();
  for (const userId of [ALICE, MALLORY, ALICE, MALLORY]) await stage.claim(stage.device(userId));
  assertEquals(await stage.standing(), { first: ALICE, others: 1, records: 1 });
  for (const userId of [ALICE, MALLORY]) assertEquals((await stage.keysOf(userId))?.length, 2);
});

Deno.test("a user who sends messages of a session comes before those who only claim it, and the first one stays first", async () => {
  const stage = new Stage();
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
  const stage = new Stage();
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
  const stage = new Stage({ ofUser: 1, inAll: 100 });
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
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  await stage.claim(stage.device(ALICE), TWO);
  await stage.claim(stage.device(CAROL));
  assertEquals(await stage.standing(), { first: CAROL, others: 1, records: 1 });
});

Deno.test("what a claimant does not allow is not allowed when the claim is gone, unless messages showed another's", async () => {
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  await stage.claim(stage.device(ALICE), TWO);
  await stage.claim(stage.device(CAROL), ONE, { sharedHistory: false });
  await stage.claim(stage.device(CAROL), TWO);
  assertEquals(await stage.standing(), { first: undefined, others: 1, records: 1 });
  await stage.message(MALLORY);
  assertEquals([(await stage.standing()).first, await stage.shares()], [MALLORY, false]);

  const other = new Stage();
  await other.claim(other.device(ALICE));
  await other.message(ALICE);
  await other.claim(other.device(MALLORY), ONE, { sharedHistory: false });
  assertEquals([(await other.standing()).first, await other.shares()], [ALICE, true]);
  await other.message(MALLORY);
  assertEquals([(await other.standing()).first, await other.shares()], [ALICE, false]);
});

Deno.test("a session is removed with its last claimant", async () => {
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  for (const sessionId of [ONE, TWO]) {
    for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId), sessionId);
  }
  assertEquals([stage.forgotten, await stage.record()], [[ONE], undefined]);
  assertEquals(await stage.standing(), { first: undefined, others: undefined, records: 0 });
});

Deno.test("a session with a known owner from others stays when its last claim is removed", async () => {
  const stage = new Stage({ ofUser: 1, inAll: 100 });
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
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  for (const userId of [ALICE, MALLORY]) await stage.claim(stage.device(userId));
  assertFalse(await stage.message(MALLORY, { isUsed: false }));
  await stage.claim(stage.device(MALLORY), TWO);
  assertEquals(await stage.keysOf(MALLORY), undefined);
});

Deno.test("a claim of a session that is gone makes room for another", async () => {
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  await stage.claim(stage.device(ALICE));
  await stage.receiver.step((tx) => tx.delete(inboundKey(ROOM, ONE)));
  assert(await stage.claim(stage.device(ALICE), TWO));
  assertEquals([stage.forgotten, (await stage.record(TWO))?.claims.length], [[], 1]);
});

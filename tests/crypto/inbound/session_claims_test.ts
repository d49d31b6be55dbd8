/** Who claims a session: what stays of the claims of several users and devices. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { ClaimJudge } from "../../../src/crypto/claim_judge.ts";
import type { Device } from "../../../src/crypto/device.ts";
import { inboundKey, type InboundRecord } from "../../../src/crypto/inbound_record.ts";
import { SessionClaims } from "../../../src/crypto/session_claims.ts";
import { type UnusedLimits, UnusedSessions } from "../../../src/crypto/unused_sessions.ts";
import type { UserID } from "../../../src/types/ids.ts";
import { ALICE, MALLORY, ME, newDevice, Receiver, ROOM } from "./support.ts";

const [ONE, TWO] = ["one", "two"];

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

  device(userId: UserID, trust: Device["trust"] = "unsigned"): Device {
    const deviceId = `D${++this.#devices}`;
    return this.receiver.devices.put(newDevice(this.receiver, userId, { deviceId, trust }));
  }

  /** A device claims a session; whether that says anything new. */
  claim({ userId, curve25519, ed25519 }: Device, sessionId = ONE, kept = false): Promise<boolean> {
    return this.receiver.step(async (tx) => {
      const key = inboundKey(ROOM, sessionId);
      const record = await tx.get(key);
      const claim = { userId, senderKey: curve25519, senderEd25519: ed25519, sharedHistory: true };
      const claimed = await this.claims.add(tx, { roomId: ROOM, sessionId }, { record, claim, kept });
      if (claimed !== undefined) tx.set(key, { state: new Uint8Array(), firstIndex: 0, ...claimed });
      return claimed !== undefined;
    });
  }

  record(sessionId = ONE): Promise<InboundRecord | undefined> {
    return this.receiver.step((tx) => tx.get(inboundKey(ROOM, sessionId)));
  }

  /** The keys of the devices that claim a session for a user. */
  async keysOf(userId: UserID, sessionId = ONE): Promise<string[] | undefined> {
    const record = await this.record(sessionId) ?? { claims: [] };
    const session = { roomId: ROOM, sessionId };
    const set = await this.receiver.step((tx) => this.claims.ofUser(tx, session, { record, userId }));
    return set?.claims.map(({ senderKey }) => senderKey);
  }

  async includes({ curve25519: senderKey }: Device): Promise<boolean> {
    const record = await this.record() ?? { claims: [] };
    const session = { roomId: ROOM, sessionId: ONE };
    return await this.receiver.step((tx) => this.claims.include(tx, session, { record, senderKey }));
  }
}

Deno.test("the claims of each user stand for themselves, and those of nobody else are there", async () => {
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

Deno.test("of the 32 claims of a user one gives way to a better founded one, and to no other", async () => {
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

Deno.test("what a user claims and does not use goes, and with it nothing of others'", async () => {
  const stage = new Stage({ ofUser: 1, inAll: 100 });
  const [alice, mallory] = [stage.device(ALICE), stage.device(MALLORY)];
  const kept = true;
  await stage.claim(alice, ONE, kept);
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

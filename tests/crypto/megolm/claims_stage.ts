/**
 * Claims on sessions, and who makes them.
 *
 * @module
 */

import { assert } from "@std/assert";
import { ClaimJudge } from "../../../src/crypto/megolm/session_owner.ts";
import type { CryptoDevice, UserID } from "@greenroom/matrix/types";
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
import { newDevice, Receiver, ROOM } from "./support.ts";

/** A session. */
export const ONE = "one";

/** Claims on sessions, kept as the sessions' records keep them. */
export class ClaimsStage {
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

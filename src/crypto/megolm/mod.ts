/**
 * Megolm sessions of other devices, and copies of the own:
 * receiving their keys, and decrypting events with them.
 *
 * @module
 */

import { type InboundGroupSession, VodozemacError } from "@greenroom/vodozemac-wasm";
import { isKey, unpadded } from "../../types/base64.ts";
import { type MegolmSessionRef, readSessionRef } from "../../types/identifiers.ts";
import type { RoomID } from "../../types/ids.ts";
import type { CryptoContext } from "../context/context.ts";
import type { DeviceOwners } from "../devices/mod.ts";
import { LiveObjects, type RecordKey, type Transaction } from "../records/mod.ts";
import {
  type Claimed,
  claimsIn,
  inboundKey,
  type InboundRecord,
  mergeRatchets,
  type OwnerClaim,
  restored,
  type Said,
  withHearsay,
} from "./inbound_record.ts";
import { MegolmDecryption } from "./megolm_decryption.ts";
import { noReplays } from "./replay_log.ts";
import {
  type AddedKey,
  type ExportedSession,
  type ImportedRoomKey,
  readRoomKey,
  type ReceivedRoomKey,
  SessionExport,
} from "./room_key.ts";
import { SessionClaims } from "./session_claims.ts";
import { ClaimJudge, type SenderDevices, SessionOwners } from "./session_owner.ts";
import { type DueSessions, type UnusedLimits, UnusedSessions } from "./unused_sessions.ts";
import { WithheldLog } from "./withheld_log.ts";

export type {
  AnswerOutput,
  DecryptedEvent,
  Decryption,
  JudgedEvent,
  RecoveredEvent,
  ToDeviceMessage,
  UndecryptableEventRef,
} from "./decrypted.ts";
export { type DueSession, DueSessions } from "./unused_sessions.ts";
export { ReplayLog } from "./replay_log.ts";
export {
  type AddedKey,
  type ExportedSession,
  type ImportedRoomKey,
  OTHER_SHARED,
  readSessionJson,
  sessionJson,
  type SessionPage,
  type SessionQuery,
} from "./room_key.ts";
export { accepts, isPastOnly, senderTrustOf } from "./session_owner.ts";
export { UndecryptableEvents } from "./undecryptable_events.ts";
export { readSharedReason, type SharedReason } from "./withheld_log.ts";

/** How many sessions are kept ready for use: enough for a bot in 10,000 rooms. One takes 5 kB. */
const LIVE_SESSIONS = 12_000;

/** Keeps the sessions, and decrypts with them. */
export class InboundSessions {
  readonly #context: CryptoContext;
  readonly #live = new LiveObjects<InboundGroupSession>(LIVE_SESSIONS);
  /** Why others have withheld keys. */
  readonly withheld: WithheldLog = new WithheldLog();
  readonly #unused: UnusedSessions;
  readonly #claims: SessionClaims;
  /** Decrypts events. */
  readonly decryption: MegolmDecryption;
  /** Makes copies of sessions, for a file, a backup or another device. */
  readonly export: SessionExport;
  readonly #due: Pick<DueSessions, "add"> | undefined;

  /**
   * @param context What the parts share.
   * @param devices The devices that senders have.
   * @param owners The owners of devices by their signing keys.
   * @param due Receives the keys to back up. Default: none are backed up.
   * @param unused How many sessions may wait for their first message. Default: 10,000 of a user,
   *   200,000 in all.
   */
  constructor(
    context: CryptoContext,
    devices: SenderDevices,
    owners: Pick<DeviceOwners, "ownerOf">,
    due?: Pick<DueSessions, "add">,
    unused?: UnusedLimits,
  ) {
    this.#context = context;
    this.#due = due;
    this.#unused = new UnusedSessions(unused);
    const judge = new ClaimJudge(context, devices);
    this.#claims = new SessionClaims({
      judge,
      unused: this.#unused,
      forget: (tx, { roomId, sessionId }) =>
        tx.onCommit(() => this.#live.evict(inboundKey(roomId, sessionId).id)),
    });
    this.decryption = new MegolmDecryption({
      context,
      owners: new SessionOwners({ own: context.own, devices, owners, judge, claims: this.#claims }),
      withheld: this.withheld,
      session: (tx, ref, record) => this.#session(tx, ref, record),
    });
    this.export = new SessionExport(context, { claims: this.#claims, judge, owners });
  }

  /** Reads what an earlier process has left; done by itself at the first use. */
  async load(tx: Transaction): Promise<void> {
    await Promise.all([this.withheld.load(tx), this.#unused.load(tx)]);
  }

  /** Frees all objects of vodozemac. */
  clear(): void {
    this.#live.clear();
  }

  /** Receives an `m.room_key` that came encrypted with Olm. */
  async addRoomKey(tx: Transaction, key: ReceivedRoomKey): Promise<AddedKey> {
    const read = readRoomKey(this.#context.vodozemac, key);
    if (typeof read === "string") return refused(read);
    const { ref, sessionKey, claim } = read;
    const added = await this.#add(tx, ref, {
      make: () => this.#context.vodozemac.megolm.createInbound(sessionKey),
      claim,
    });
    if (added.kind !== "refused") {
      await this.withheld.arrived(tx, key.sender, { ...ref, senderKey: claim.senderKey });
    }
    return added;
  }

  /** Keeps a copy of an own session, to read what this device has sent. */
  async addOwn(
    tx: Transaction,
    { roomId, sessionKey, sharedHistory }: {
      readonly roomId: RoomID;
      /** The session key, as vodozemac gives it. */
      readonly sessionKey: string;
      readonly sharedHistory: boolean;
    },
  ): Promise<void> {
    const { vodozemac: { megolm }, own } = this.#context;
    using session = megolm.createInbound(sessionKey);
    const { userId, curve25519: senderKey, ed25519: senderEd25519 } = own;
    await this.#add(tx, { roomId, sessionId: session.sessionId }, {
      make: () => session.clone(),
      claim: { userId, senderKey, senderEd25519, sharedHistory },
    });
  }

  /** Adds a key from a device that did not make the session, so that its owner is not proven. */
  async import(tx: Transaction, key: ImportedRoomKey): Promise<AddedKey> {
    const { roomId, sessionId, sessionKey, senderKey, senderEd25519, sharedHistory, source, sharedBy } = key;
    const ref = readSessionRef(roomId, sessionId);
    if (ref === undefined) return refused("it names no room or no session");
    if (!isKey(senderKey)) return refused("it does not say whose it is");
    const hearsay: Said = {
      source,
      senderKey: unpadded(senderKey),
      senderEd25519: isKey(senderEd25519) ? unpadded(senderEd25519) : "",
      sharedHistory,
      sharedBy,
    };
    return await this.#add(tx, ref, {
      make: () => this.#context.vodozemac.megolm.importInbound(sessionKey),
      hearsay,
    });
  }

  /** The same for many keys; the outcomes are in their order. */
  async importAll(tx: Transaction, keys: readonly ImportedRoomKey[]): Promise<AddedKey[]> {
    const named = keys.filter(({ roomId, sessionId }) => readSessionRef(roomId, sessionId) !== undefined);
    await tx.getMany(named.map(passingKey)); // at once; others have names that no store need take
    const added: AddedKey[] = [];
    for (const key of keys) added.push(await this.import(tx, key));
    return added;
  }

  /**
   * Exports a session.
   *
   * @param index From which index on; if that is not known, and by default, from the first that is.
   * @returns The session; undefined if there is none.
   */
  async exportSession(
    tx: Transaction,
    { roomId, sessionId }: MegolmSessionRef,
    index = 0,
  ): Promise<ExportedSession | undefined> {
    const record = await tx.get(inboundKey(roomId, sessionId));
    return record && await this.export.one(tx, { roomId, sessionId }, { record, index });
  }

  #session(tx: Transaction, ref: MegolmSessionRef, record: InboundRecord): InboundGroupSession | undefined {
    const { id } = inboundKey(ref.roomId, ref.sessionId);
    return this.#live.get(tx, id, () => restored(this.#context, ref, record));
  }

  async #add(
    tx: Transaction,
    ref: MegolmSessionRef,
    { make, claim, hearsay }: { make: () => InboundGroupSession; claim?: OwnerClaim; hearsay?: Said },
  ): Promise<AddedKey> {
    let session: InboundGroupSession;
    try {
      session = make();
    } catch (error) {
      if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
      return refused(error.message);
    }
    let kept = false;
    try {
      if (session.sessionId !== ref.sessionId) return refused("the key is that of another session");
      const key = hearsay === undefined ? inboundKey(ref.roomId, ref.sessionId) : passingKey(ref);
      const old = await tx.get(key);
      using passing = old && hearsay && restored(this.#context, ref, old);
      const before = passing ?? (old && this.#session(tx, ref, old));
      const merged = mergeRatchets(session, {
        isSigned: claim !== undefined, // a room key is, by the session itself, and nothing else is
        before: old && before && { session: before, record: old },
      });
      if (merged === undefined) return refused("the session is known with another key, which stays");
      const { isBetter, signedFrom } = merged;
      const claimed = await this.#claimed(tx, ref, { old, claim, hearsay });
      const firstIndex = isBetter || old === undefined ? session.firstKnownIndex : old.firstIndex;
      if (claimed === undefined && !isBetter && signedFrom === old?.signedFrom) {
        return { kind: "known", session: ref, firstIndex };
      }
      kept = isBetter && hearsay === undefined;
      if (old === undefined && hearsay === undefined) noReplays(tx, ref, firstIndex);
      const state = isBetter || old === undefined ? session.state() : old.state;
      const proven = { state, firstIndex, ...(signedFrom !== undefined && { signedFrom }) };
      tx.set(key, { ...proven, ...(claimed ?? claimsIn(old)) });
      if (isBetter && hearsay?.source !== "backup") this.#due?.add(tx, ref);
      if (kept) this.#live.add(tx, key.id, session);
      else if (isBetter) this.#live.evict(key.id);
      if (claimed === undefined && !isBetter) return { kind: "known", session: ref, firstIndex };
      return { kind: old === undefined ? "added" : "improved", session: ref, firstIndex };
    } finally {
      if (!kept) session[Symbol.dispose]();
    }
  }

  /** Returns what is new about the owner of a session; undefined: nothing. */
  async #claimed(
    tx: Transaction,
    ref: MegolmSessionRef,
    { old, claim, hearsay }: { old: InboundRecord | undefined; claim?: OwnerClaim; hearsay?: Said },
  ): Promise<Claimed | undefined> {
    if (claim !== undefined) {
      const kept = claim.senderKey === this.#context.own.curve25519;
      return await this.#claims.add(tx, ref, { record: old, claim, kept });
    }
    const all = hearsay && withHearsay(old?.hearsay ?? [], hearsay);
    return all && { ...claimsIn(old), hearsay: all };
  }
}

/** The key of an imported session: a file of all that there are must not drive out what is in use. */
function passingKey({ roomId, sessionId }: MegolmSessionRef): RecordKey<InboundRecord> {
  return { ...inboundKey(roomId, sessionId), passing: true };
}

function refused(reason: string): AddedKey {
  return { kind: "refused", reason };
}

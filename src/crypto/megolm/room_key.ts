/**
 * Room keys: as devices send them, and on their way out, to another device, into a file or a backup.
 *
 * @module
 */

import type { InboundGroupSession, Vodozemac } from "@greenroom/vodozemac-wasm";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { KeySource } from "../../types/events/encryption_info.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { type JsonObject, objectOf } from "../../types/json.ts";
import { credentialsIn, type CryptoDevice, type DeviceOwners, isVouchedFor } from "../devices/mod.ts";
import { isKey, sameKey, unpadded } from "../../types/base64.ts";
import {
  borneOut,
  type Hearsay,
  INBOUND_KIND,
  inboundKey,
  type InboundRecord,
  isShareable,
  type OwnerClaim,
  restored,
} from "./inbound_record.ts";
import { type MegolmSessionRef, readSessionRef } from "../../types/identifiers.ts";
import { isSigningKey } from "../encoding/encoding.ts";
import type { CryptoContext } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import type { SessionClaims } from "./session_claims.ts";
import { accepts, type ClaimJudge } from "./session_owner.ts";

/** An `m.room_key` that came encrypted with Olm. */
export interface ReceivedRoomKey {
  readonly sender: UserID;
  /** The Curve25519 key of the device that sent it. */
  readonly senderKey: string;
  /** The Ed25519 key that the device named as its own. */
  readonly senderEd25519: string;
  /** The device, if it is known. */
  readonly device: CryptoDevice | undefined;
  /** The keys that the device has signed itself, if it sent them along. */
  readonly deviceKeys?: DeviceKeys | undefined;
  readonly content: JsonObject;
}

/** The content of a room key, as far as it can be checked without its key. */
export interface RoomKey {
  /** The session that it is for, as it says. */
  readonly ref: MegolmSessionRef;
  readonly sessionKey: string;
  /** Its owner, as it says. */
  readonly claim: OwnerClaim;
}

/** A key from a device that did not make the session. */
export interface ImportedRoomKey extends MegolmSessionRef {
  /** The key, as vodozemac exports it. */
  readonly sessionKey: string;
  /** The Curve25519 key of the alleged maker of the session. */
  readonly senderKey: string;
  /** Its Ed25519 key; empty if none was given. */
  readonly senderEd25519: string;
  /** Whether the key may be shared with users who are invited later. Absent: it is not said. */
  readonly sharedHistory?: boolean;
  /** How it came. */
  readonly source: Exclude<KeySource, "direct">;
  /** Who has shared it, if it came in a bundle. */
  readonly sharedBy?: UserID;
}

/** The outcome of adding a key. */
export type AddedKey =
  | {
    /**
     * `added`: the session is new; `improved`: it reads more now, or its owner is clearer; `known`:
     * nothing is new.
     */
    readonly kind: "added" | "improved" | "known";
    readonly session: MegolmSessionRef;
    /** The first index that can be decrypted now. */
    readonly firstIndex: number;
  }
  | { /** It was not taken. */ readonly kind: "refused"; /** Why. */ readonly reason: string };

/** A session for another device, a file or a backup. */
export interface ExportedSession {
  /**
   * The content that exports, backups and forwarded keys have in common, without the claimed
   * Ed25519 key.
   */
  readonly content: JsonObject & {
    readonly room_id: RoomID;
    readonly session_id: string;
    readonly session_key: string;
    readonly sender_key: string;
  };
  /** The Ed25519 key of the alleged maker; may be empty. */
  readonly senderEd25519: string;
  /**
   * Who says who made it, as it came: what only a backup says, this device does not pass on as its own word.
   * What a device says that is not heard counts no more than that.
   */
  readonly source: KeySource;
  /** Whether the key may be shared with users who are invited later. */
  readonly sharedHistory: boolean;
  /** The first index that it decrypts. */
  readonly firstIndex: number;
}

/**
 * Reads a room key; returns the problem in words if it is malformed.
 *
 * @param vodozemac Verifies who vouches for the device, unless that is known.
 */
export function readRoomKey(vodozemac: Vodozemac, key: ReceivedRoomKey): RoomKey | string {
  const { sender, senderKey, senderEd25519, device, deviceKeys, content } = key;
  const { algorithm, room_id, session_id, session_key } = content;
  if (algorithm !== EncryptionAlgorithm.MEGOLM_V1) return "it is for an algorithm that is not known here";
  if (typeof session_key !== "string") return "there is no key in it";
  if (!isKey(senderKey) || !isKey(senderEd25519)) return "its device has no keys as devices have them";
  if (device !== undefined && !isSender(device, key)) return "it came from another device than it says";
  // Such a device only receives keys.
  if (device?.isDehydrated === true) return "it came from a dehydrated device";
  const ref = readSessionRef(room_id, session_id);
  if (ref === undefined) return "it names no room or no session";
  // Of a device that is known to be vouched for, they say nothing new.
  const isNews = deviceKeys !== undefined && (device === undefined || !isVouchedFor(device));
  const credentials = isNews ? credentialsIn(vodozemac, deviceKeys) : undefined;
  const claim: OwnerClaim = {
    userId: sender,
    senderKey: unpadded(senderKey),
    senderEd25519: unpadded(senderEd25519),
    sharedHistory: saidShared(content) === true,
    ...(credentials !== undefined && { credentials }),
  };
  return { ref, sessionKey: session_key, claim };
}

function isSender(device: CryptoDevice, { sender, senderKey, senderEd25519 }: ReceivedRoomKey): boolean {
  return device.userId === sender && sameKey(device.curve25519, senderKey) &&
    sameKey(device.ed25519, senderEd25519);
}

/** What unstable versions of the specification call `shared_history`, and other clients still do. */
const UNSTABLE_SHARED = "org.matrix.msc3061.shared_history";

/** What matrix-sdk-crypto calls it in room keys: it shares no key that does not say so. */
export const OTHER_SHARED = "m.shared_history";

/** Returns whether the key may be shared; undefined: it is not said. */
function saidShared(content: JsonObject): boolean | undefined {
  const said = content.shared_history ?? content[UNSTABLE_SHARED] ?? content[OTHER_SHARED];
  return typeof said === "boolean" ? said : undefined;
}

/** What is said of a session beside its name. */
export type SaidOfSession = Pick<
  ImportedRoomKey,
  "sessionKey" | "senderKey" | "senderEd25519" | "sharedHistory"
>;

/** Writes all that is said of a session, with its name. */
export function sessionJson({ content, senderEd25519, sharedHistory }: ExportedSession): JsonObject {
  return {
    ...content,
    sender_claimed_keys: senderEd25519 === "" ? {} : { ed25519: senderEd25519 },
    forwarding_curve25519_key_chain: [],
    shared_history: sharedHistory,
    [UNSTABLE_SHARED]: sharedHistory,
  };
}

/**
 * Reads what is said of a session, whose key is checked where it is imported.
 *
 * @returns Undefined if it is nothing of the kind, or of another algorithm.
 */
export function readSessionJson(object: JsonObject): SaidOfSession | undefined {
  if (object.algorithm !== EncryptionAlgorithm.MEGOLM_V1) return undefined;
  const { session_key, sender_key, sender_claimed_keys } = object;
  if (typeof session_key !== "string" || typeof sender_key !== "string") return undefined;
  const sharedHistory = saidShared(object);
  const { ed25519 } = objectOf(sender_claimed_keys);
  return {
    sessionKey: session_key,
    senderKey: sender_key,
    senderEd25519: typeof ed25519 === "string" ? ed25519 : "",
    ...(sharedHistory !== undefined && { sharedHistory }),
  };
}

/** Asks for sessions. */
export interface SessionQuery {
  /** The session after which to begin. Default: at the first. */
  readonly after?: MegolmSessionRef;
  /** Those of one room. Default: of all. */
  readonly roomId?: RoomID;
  /** How many at most. */
  readonly limit: number;
}

/** Some of the sessions, in the order of their rooms and IDs. */
export interface SessionPage {
  /** The sessions; those without a known maker, or with a damaged record, are left out. */
  readonly sessions: readonly ExportedSession[];
  /** The session after which the next page begins; undefined after the last. */
  readonly last: MegolmSessionRef | undefined;
}

/** Exports sessions, without keeping their objects ready for use. */
export class SessionExport {
  readonly #context: CryptoContext;
  readonly #claims: SessionClaims;
  readonly #judge: ClaimJudge;
  readonly #owners: Pick<DeviceOwners, "ownerOf">;

  /**
   * @param context What the parts share.
   * @param parts The claims to sessions, who judges them, and the owners of devices by their signing keys.
   */
  constructor(
    context: CryptoContext,
    { claims, judge, owners }: {
      readonly claims: SessionClaims;
      readonly judge: ClaimJudge;
      readonly owners: Pick<DeviceOwners, "ownerOf">;
    },
  ) {
    this.#context = context;
    this.#claims = claims;
    this.#judge = judge;
    this.#owners = owners;
  }

  /** Exports a page of the sessions. */
  async page(tx: Transaction, { after, roomId, limit }: SessionQuery): Promise<SessionPage> {
    const from = after && inboundKey(after.roomId, after.sessionId);
    const parts = roomId === undefined ? [] : [roomId];
    const records = await tx.page<InboundRecord>({ limit, after: from }, INBOUND_KIND, ...parts);
    const sessions: ExportedSession[] = [];
    let last: MegolmSessionRef | undefined;
    for (const [key, record] of records) {
      const [room = "", sessionId = ""] = [...parts, ...key];
      last = { roomId: room as RoomID, sessionId }; // as inboundKey() makes it
      const session = await this.one(tx, last, { record });
      if (session !== undefined && session.content.sender_key !== "") sessions.push(session);
    }
    return { sessions, last: records.length < limit ? undefined : last };
  }

  /**
   * Exports a session.
   *
   * @param options Its record, and from which index on; if that is not known, and by default, from
   *   the first that is.
   * @returns The session; undefined if its record is damaged.
   */
  async one(
    tx: Transaction,
    ref: MegolmSessionRef,
    { record, index = 0 }: { readonly record: InboundRecord; readonly index?: number },
  ): Promise<ExportedSession | undefined> {
    const firstIndex = Math.max(index, record.firstIndex);
    using session: InboundGroupSession | undefined = restored(this.#context, ref, record);
    const session_key = session?.exportAt(firstIndex);
    if (session_key === undefined) return undefined;
    const { roomId: room_id, sessionId: session_id } = ref;
    const { vodozemac, policy } = this.#context;
    const [met] = borneOut(record);
    const claim = met === undefined ? await this.#claims.best(tx, ref, record) : undefined;
    const hearsay = met ?? (claim === undefined ? record.hearsay?.[0] : undefined);
    const { senderKey: sender_key, senderEd25519: named } = claim ?? hearsay ?? NOBODY;
    const content = {
      algorithm: EncryptionAlgorithm.MEGOLM_V1,
      room_id,
      session_id,
      session_key,
      sender_key,
    };
    const senderEd25519 = isSigningKey(vodozemac, named) ? named : "";
    // Who is not heard here is not vouched for elsewhere: the server may delete the device that it has added.
    const isHeard = claim === undefined
      ? hearsay === undefined || !await this.#isDisowned(tx, hearsay)
      : accepts(policy.accept, await this.#judge.judge(tx, claim));
    const source = isHeard ? hearsay?.source ?? "direct" : "backup";
    return { content, senderEd25519, source, sharedHistory: isShareable(record), firstIndex };
  }

  /** Returns whether a device is named as the maker that is known here, and not heard. */
  async #isDisowned(tx: Transaction, hearsay: Hearsay): Promise<boolean> {
    const owner = await this.#owners.ownerOf(tx, hearsay.senderEd25519);
    if (owner === undefined) return false;
    const { trust, isSpared } = await this.#judge.judgeHearsay(tx, owner, hearsay);
    const { accept } = this.#context.policy;
    return trust !== "unknown-device" && !accepts(accept, { trust, isSpared, source: hearsay.source });
  }
}

const NOBODY = { senderKey: "", senderEd25519: "" };

/**
 * Megolm sessions on their way out: to another device, into a file or a backup.
 *
 * @module
 */

import type { InboundGroupSession } from "@greenroom/vodozemac-wasm";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { RoomID } from "../../types/ids.ts";
import { isSigningKey } from "../encoding/encoding.ts";
import type { CryptoContext } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import {
  borneOut,
  INBOUND_KIND,
  inboundKey,
  type InboundRecord,
  isShareable,
  restored,
} from "./inbound_record.ts";
import type { ExportedSession } from "./room_key.ts";
import type { SessionClaims } from "./session_claims.ts";
import { accepts, type ClaimJudge } from "./session_owner.ts";
import type { MegolmSessionRef } from "../../types/session_ref.ts";

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

  /**
   * @param context What the parts share.
   * @param parts The claims to sessions, and who judges them.
   */
  constructor(
    context: CryptoContext,
    parts: { readonly claims: SessionClaims; readonly judge: ClaimJudge },
  ) {
    this.#context = context;
    this.#claims = parts.claims;
    this.#judge = parts.judge;
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
    const isHeard = claim === undefined || accepts(policy.accept, await this.#judge.judge(tx, claim));
    const source = isHeard ? hearsay?.source ?? "direct" : "backup";
    return { content, senderEd25519, source, sharedHistory: isShareable(record), firstIndex };
  }
}

const NOBODY = { senderKey: "", senderEd25519: "" };

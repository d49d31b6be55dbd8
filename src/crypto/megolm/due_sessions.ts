/**
 * Sessions that are to be backed up: each has a mark, written in one commit with its key.
 *
 * There are marks only while a backup is in use. All that was there before is found by going
 * through the sessions once.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import type { MegolmSessionRef } from "../../types/session_ref.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";

const KIND = "backup_due";

/** A session with its mark, which is another one whenever the session has another key. */
export interface DueSession extends MegolmSessionRef {
  readonly mark: string;
}

/** Marks sessions. */
export class DueSessions {
  readonly #uniqueId: () => string;
  /** Whether a backup is in use. */
  isOn = false;
  /** Whether there may be marks. */
  #isAny = true;

  /** @param uniqueId Makes marks. */
  constructor(uniqueId: () => string) {
    this.#uniqueId = uniqueId;
  }

  /** Whether there may be sessions that are due. */
  get isAny(): boolean {
    return this.#isAny;
  }

  /** Marks a session that is new, or reads more than before. */
  add(tx: Transaction, session: MegolmSessionRef): void {
    if (!this.isOn) return;
    tx.set(dueKey(session), this.#uniqueId());
    tx.onCommit(() => this.#isAny = true);
    tx.leadsToRequest = true;
  }

  /** The first of them. */
  async first(tx: Transaction, limit: number): Promise<DueSession[]> {
    const found = await tx.page<string>({ limit }, KIND);
    if (found.length === 0) tx.onCommit(() => this.#isAny = false);
    // As dueKey() makes them.
    return found.map(([[roomId = "", sessionId = ""], mark]) => ({
      roomId: roomId as RoomID,
      sessionId,
      mark,
    }));
  }

  /** Removes marks of sessions that have been backed up; one that was marked again keeps its mark. */
  async done(tx: Transaction, sessions: readonly DueSession[]): Promise<void> {
    const marks = await tx.getMany(sessions.map(dueKey));
    for (const [index, session] of sessions.entries()) {
      if (marks[index] === session.mark) tx.delete(dueKey(session));
    }
  }
}

function dueKey({ roomId, sessionId }: MegolmSessionRef): RecordKey<string> {
  return { ...recordKey<string>(KIND, roomId, sessionId), held: true, passing: true }; // no cache needs it
}

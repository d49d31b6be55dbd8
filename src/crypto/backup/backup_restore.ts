/**
 * Room keys on their way out of the backup: which sessions are asked for, and what has come.
 *
 * A session is asked for when an event of it can't be read. What was asked for is not asked for
 * again before a while: most keys that are not in the backup never will be.
 *
 * @module
 */

import { type KeyReceivers, type KeysOutput, receiveKeys } from "../key_requests/mod.ts";
import type { ImportedRoomKey, UndecryptableEvents } from "../megolm/mod.ts";
import { type MegolmSessionRef, readSessionRef } from "../../types/session_ref.ts";
import type { Transaction } from "../records/mod.ts";
import { Retries } from "../requests/mod.ts";
import type { RestoredKeys } from "./backup_protocol.ts";
import type { KeyBackup, UsedBackup } from "./key_backup.ts";
import { decryptSession } from "./session_data.ts";

/** The parts that it needs. */
export interface BackupRestoreOptions extends KeyReceivers {
  /** The backup that is in use. */
  readonly backup: KeyBackup;
  /** The events that wait for keys. */
  readonly undecryptable: Pick<UndecryptableEvents, "retry" | "missing">;
}

/** How long until a session is asked for again, in milliseconds. */
const AGAIN = { base: 600_000, cap: 86_400_000 };

/** How many sessions that were asked for are remembered. */
const MAX_ASKED = 10_000;

/** Asks for keys, and receives them. */
export class BackupRestore {
  readonly #options: BackupRestoreOptions;
  readonly #asked = new Retries<string>(AGAIN, MAX_ASKED);
  /** The version that was asked; another one may have what it did not. */
  #version: string | undefined;

  /** @param options The parts that it needs. */
  constructor(options: BackupRestoreOptions) {
    this.#options = options;
  }

  /** The backup in use, if it can be read. */
  get readable(): (UsedBackup & Required<Pick<UsedBackup, "privateKey">>) | undefined {
    const { used } = this.#options.backup;
    const { privateKey } = used ?? {};
    if (used === undefined || privateKey === undefined || used.phase !== "on") return undefined;
    if (used.version !== this.#version) this.#asked.clear();
    this.#version = used.version;
    return { ...used, privateKey };
  }

  /** A session that an event waits for, and that may be asked for. */
  next(now: number): MegolmSessionRef | undefined {
    if (this.readable === undefined) return undefined;
    for (const session of this.#options.undecryptable.missing()) {
      if (this.#mayAsk(session, now)) return session;
    }
    return undefined;
  }

  /** In how many milliseconds there is one, if nothing else changes; infinity: never. */
  nextIn(now: number): number {
    if (this.readable === undefined) return Infinity;
    let least = Infinity;
    for (const session of this.#options.undecryptable.missing()) {
      if (isUsable(session)) least = Math.min(least, this.#asked.wait(nameOf(session), now));
    }
    return least;
  }

  /** The version to ask for a session; undefined: it is not to be asked for now. */
  versionFor(session: MegolmSessionRef): string | undefined {
    const { version } = this.readable ?? {};
    return this.#mayAsk(session, this.#options.context.clock.now()) ? version : undefined;
  }

  /**
   * Receives keys; those of another version than the one in use are left out.
   *
   * @param restored The keys that were asked for, as the server shows them.
   */
  async receive(tx: Transaction, { version, keys }: RestoredKeys): Promise<KeysOutput> {
    const { context: { vodozemac, clock } } = this.#options;
    const used = this.readable;
    if (used?.version !== version) {
      return { added: 0, improved: 0, known: 0, refused: keys.length, recovered: [] };
    }
    const found: ImportedRoomKey[] = [];
    using key = vodozemac.pk.importDecryption(used.privateKey);
    for (const { roomId, sessionId, data } of keys) {
      const read = decryptSession(key, { roomId, sessionId }, data);
      if (read !== undefined) found.push(read);
    }
    tx.onCommit(() => keys.forEach((session) => this.#asked.failed(nameOf(session), clock.now())));
    tx.leadsToRequest = true;
    const output = await receiveKeys(tx, this.#options, found);
    return { ...output, refused: output.refused + keys.length - found.length };
  }

  #mayAsk(session: MegolmSessionRef, now: number): boolean {
    return isUsable(session) && this.#asked.isOver(nameOf(session), now);
  }
}

/** Whether a session can be in a backup: events may name anything. */
function isUsable({ roomId, sessionId }: MegolmSessionRef): boolean {
  return readSessionRef(roomId, sessionId) !== undefined;
}

function nameOf({ roomId, sessionId }: Pick<MegolmSessionRef, "roomId" | "sessionId">): string {
  return `${sessionId} ${roomId}`;
}

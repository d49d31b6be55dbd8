/**
 * The requests about the backup that the engine wants made, and their outcome: one at a time.
 *
 * Sessions that are due go first, then those that were there before. What is taken is noted as
 * backed up when the server has said that it has it: a crash before repeats it, which changes
 * nothing.
 *
 * @module
 */

import type { KeyBackupRooms } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import type { CryptoContext } from "../context/context.ts";
import type {
  AnswerOutput,
  DueSession,
  DueSessions,
  ExportedSession,
  InboundSessions,
  SessionPage,
} from "../megolm/mod.ts";
import type { Transaction } from "../records/mod.ts";
import { type FailureOutput, Retries } from "../requests/requests.ts";
import type { BackupRestore } from "./backup_restore.ts";
import type { KeyBackup, UsedBackup } from "./key_backup.ts";
import { type BackupRequest, encryptSession } from "./session_data.ts";

export { BackupRestore, RoomKeysReader } from "./backup_restore.ts";
export { KeyBackup } from "./key_backup.ts";
export {
  type AdoptInput,
  BACKUP_SECRET,
  type BackupRequest,
  backupSecret,
  type BackupState,
  type NewBackupInput,
  type RestoredKey,
  type RestoredKeys,
} from "./session_data.ts";

/** What goes into one request. */
interface Batch {
  readonly sessions: readonly ExportedSession[];
  /** Those of them that were due. */
  readonly due: readonly DueSession[];
  /** Up to where all are backed up then; absent: as far as before. */
  readonly scanned?: MegolmSessionRef | "all";
}

/** A request on its way. */
interface Underway {
  readonly id: string;
  readonly version: string;
  /** What is put into the backup; absent: the server is asked which version there is. */
  readonly batch?: Batch;
  /** What is read from the backup; absent: nothing is. */
  readonly session?: MegolmSessionRef;
}

/** How a request failed. */
interface Failure {
  readonly status: number;
  readonly errcode: string | undefined;
}

const NOTHING: AnswerOutput = { recovered: [], alarms: [] };

/** How many sessions go into one request: some 130 kB. */
const BATCH = 100;

/** The name of failures of anything, which no public key has. */
const ANY = "any";

/** How long after a failure, in milliseconds. */
const FAILED = { base: 5_000, cap: 900_000 };

/** Hands out requests about the backup. */
export class BackupRequests {
  readonly #options;
  /**
   * Failures of anything, and of uploads alone, by the backup's public key: the version is gone, as the
   * server says and does not show, or the keys. Not by version, which the server may invent; a key it can't.
   */
  readonly #failed = new Retries<string>(FAILED);
  #underway: Underway | undefined;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The backup that is in use. */
    readonly backup: KeyBackup;
    /** Room keys on their way out of it. */
    readonly restore: BackupRestore;
    /** The sessions that are to be backed up. */
    readonly due: DueSessions;
    readonly inbound: Pick<InboundSessions, "exportSession" | "export">;
  }) {
    this.#options = options;
  }

  /** Whether there may be a request now. */
  get isDue(): boolean {
    const now = this.#options.context.clock.now();
    return this.#underway === undefined && this.#failed.isOver(ANY, now) && this.#isWanted(now);
  }

  /** In how many milliseconds there may be a request because of time alone. */
  nextIn(now: number): number {
    if (this.#underway !== undefined) return Infinity;
    const { restore } = this.#options;
    const upload = this.#hasUpload ? this.#failed.wait(this.#backup, now) : Infinity;
    return Math.max(this.#failed.wait(ANY, now), Math.min(upload, restore.nextIn(now)));
  }

  /** The request that is to be made now, if {@link isDue}: what can't be read waits for no upload. */
  async take(tx: Transaction): Promise<BackupRequest[]> {
    const { backup, restore, context } = this.#options;
    const { used } = backup;
    if (used === undefined) return [];
    const id = context.uniqueId();
    const { version } = used;
    if (used.phase === "asking") {
      this.#begin(tx, { id, version });
      return [{ id, kind: "backupVersion" }];
    }
    const session = restore.next(context.clock.now());
    if (session !== undefined) {
      this.#begin(tx, { id, version, session });
      return [{ id, kind: "backupDownload", version, session }];
    }
    if (!this.#isUploadWanted(context.clock.now())) return [];
    const batch = await this.#dueBatch(tx) ?? await this.#scanBatch(tx, used);
    if (batch === undefined) return [];
    this.#begin(tx, { id, version, batch });
    return [{ id, kind: "backupUpload", version, keys: this.#encrypted(batch, used) }];
  }

  /** Receives an answer. */
  async answer(tx: Transaction, id: string, response: JsonObject): Promise<AnswerOutput> {
    const request = this.#underway;
    if (request?.id !== id) return NOTHING;
    this.#end(tx);
    tx.onCommit(() => {
      this.#failed.forget(ANY);
      this.#options.context.server.answers++;
    });
    if (request.version !== this.#options.backup.used?.version) return NOTHING; // another is used by now
    if (request.session !== undefined) return await this.#restored(tx, request, response);
    await this.#answered(tx, request, response);
    return NOTHING;
  }

  /**
   * Receives a failure. That a key is not in the backup is an answer: the next request follows, so that
   * events of sessions that were made up don't hold up the keys that are to be backed up.
   */
  async fail(tx: Transaction, id: string, { status, errcode }: Failure): Promise<Partial<FailureOutput>> {
    const request = this.#underway;
    if (request?.id !== id) return {};
    this.#end(tx);
    const { backup, context: { clock } } = this.#options;
    if (request.version !== backup.used?.version) return {};
    const isGone = status === 404 || (status === 403 && errcode === "M_WRONG_ROOM_KEYS_VERSION");
    if (isGone && request.session !== undefined) {
      await this.#restored(tx, request, undefined);
      return { settled: true };
    }
    if (isGone && request.batch !== undefined) backup.ask(tx);
    else if (isGone && errcode === "M_NOT_FOUND") await backup.follow(tx, undefined);
    else tx.onCommit(() => this.#failed.failed(ANY, clock.now()));
    return {};
  }

  async #answered(tx: Transaction, { batch }: Underway, response: JsonObject): Promise<void> {
    const { backup, due } = this.#options;
    if (batch === undefined) {
      const { version, algorithm, auth_data } = response;
      if (typeof version !== "string") return;
      await backup.follow(tx, { version, algorithm, auth_data });
      tx.onCommit(() => this.#shownThoughGone());
      return;
    }
    const { count } = response;
    if (typeof count === "number" && count < batch.sessions.length) {
      const { clock, log } = this.#options.context;
      log.warn("The server does not have the room keys that were backed up: they are uploaded again", {
        count,
      });
      tx.onCommit(() => this.#failed.failed(this.#backup, clock.now()));
      return;
    }
    await due.done(tx, batch.due);
    if (batch.scanned !== undefined) backup.scanned(tx, batch.scanned);
    // Not before the last one: the server may take the first of each version.
    tx.onCommit(() => {
      if (!this.#hasUpload) this.#failed.forget(this.#backup);
    });
  }

  async #restored(tx: Transaction, { version, session }: Underway, data: unknown): Promise<AnswerOutput> {
    const keys = session === undefined ? [] : [{ ...session, data }];
    const { recovered } = await this.#options.restore.receive(tx, { version, keys });
    return { recovered, alarms: [] };
  }

  /** The first time may be a coincidence. */
  #shownThoughGone(): void {
    this.#failed.failed(this.#backup, this.#options.context.clock.now());
    if (this.#failed.failures(this.#backup) === 1) this.#failed.endWait(this.#backup);
  }

  #isWanted(now: number): boolean {
    return this.#isUploadWanted(now) || this.#options.restore.next(now) !== undefined;
  }

  /** Returns whether there may be a request now but for what can't be read. */
  #isUploadWanted(now: number): boolean {
    return this.#hasUpload && this.#failed.isOver(this.#backup, now);
  }

  /** The public key of the backup in use. */
  get #backup(): string {
    return this.#options.backup.used?.publicKey ?? "";
  }

  /** Whether there may be one at any time. */
  get #hasUpload(): boolean {
    const { backup: { used }, due } = this.#options;
    return used?.phase === "asking" || (used?.phase === "on" && (due.isAny || used.scanned !== "all"));
  }

  #begin(tx: Transaction, request: Underway): void {
    tx.onCommit(() => this.#underway = request);
  }

  #end(tx: Transaction): void {
    tx.onCommit(() => this.#underway = undefined);
    tx.leadsToRequest = true;
  }

  /** Sessions that are due; the marks of those that can't be backed up are removed. */
  async #dueBatch(tx: Transaction): Promise<Batch | undefined> {
    const { due, inbound } = this.#options;
    if (!due.isAny) return undefined;
    const marked = await due.first(tx, BATCH);
    const found: { readonly session: ExportedSession; readonly mark: DueSession }[] = [];
    const useless: DueSession[] = [];
    for (const mark of marked) {
      const session = await inbound.exportSession(tx, mark);
      if (session === undefined || session.content.sender_key === "") useless.push(mark);
      else found.push({ session, mark });
    }
    await due.done(tx, useless);
    if (found.length === 0) return undefined;
    return { sessions: found.map(({ session }) => session), due: found.map(({ mark }) => mark) };
  }

  /** Sessions that were there before the backup was in use. */
  async #scanBatch(tx: Transaction, { scanned }: UsedBackup): Promise<Batch | undefined> {
    const { backup, inbound } = this.#options;
    let after = scanned;
    while (after !== "all") {
      const { sessions, last }: SessionPage = await inbound.export.page(tx, { after, limit: BATCH });
      after = last ?? "all";
      if (sessions.length > 0) return { sessions, due: [], scanned: after };
    }
    if (scanned !== "all") backup.scanned(tx, "all");
    return undefined;
  }

  #encrypted({ sessions }: Batch, { publicKey }: UsedBackup): KeyBackupRooms {
    const { vodozemac } = this.#options.context;
    const rooms: KeyBackupRooms["rooms"] = {};
    for (const session of sessions) {
      const { room_id, session_id } = session.content;
      const room = rooms[room_id] ??= { sessions: {} };
      room.sessions[session_id] = encryptSession(vodozemac, publicKey, session);
    }
    return { rooms };
  }
}

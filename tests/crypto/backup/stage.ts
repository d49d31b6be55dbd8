/** Engines with a backup of room keys, and the server that keeps it. */

import { assert, assertEquals } from "@std/assert";
import { decryptSession } from "../../../src/crypto/backup/session_data.ts";
import type { BackupRequest } from "../../../src/crypto/backup/backup.ts";
import { readKeySecret } from "../../../src/crypto/secrets/secrets.ts";
import type { ImportedRoomKey } from "../../../src/crypto/megolm/mod.ts";
import { type KeyBackup, KeyBackups } from "../../../src/testing/users/mod.ts";
import type { JsonObject, KeyBackupDefinition, RoomID, UserID } from "@greenroom/matrix/types";
import { aliceAndBob, type Bot, type BotOptions } from "../engine/bot.ts";
import { type Address, type EngineServer, Refusal, ROOM } from "../engine/homeserver.ts";
import { newEntries } from "../key_files/stage.ts";
import { testContext } from "../support/context.ts";

/** The backups of all users, and what was asked of them. */
export class BackupServer {
  readonly #backups = new KeyBackups();
  /** Requests so far, each with how many keys it had. */
  readonly log: [kind: BackupRequest["kind"], keys: number][] = [];
  /** Refuses requests while it is set. */
  refusal: Refusal | undefined;
  /** Changes what is shown of a key. */
  onDownload: (data: JsonObject) => JsonObject = (data) => data;
  /** Has the answers to requests get lost while it is set, after they took effect. */
  isDeaf = false;

  constructor(server: EngineServer) {
    server.onBackup = (from, request) => this.#answer(from, request);
  }

  /** Makes a version for a user. */
  create({ userId }: Address, { algorithm, auth_data }: KeyBackupDefinition): string {
    return this.#backups.create(userId, algorithm, auth_data).version;
  }

  /** The latest version of a user. */
  current({ userId }: Address): KeyBackup | undefined {
    return this.#backups.current(userId);
  }

  /** Deletes a version. */
  delete({ userId }: Address, version: string): void {
    this.#backups.delete(userId, version);
  }

  /** What a request about the latest version shows. */
  shown(of: Address): { version: string; algorithm: string; auth_data: JsonObject } {
    const backup = this.current(of);
    assert(backup);
    // As it was made.
    return { version: backup.version, algorithm: backup.algorithm, auth_data: backup.authData as JsonObject };
  }

  /** The session IDs in the latest version, in their order. */
  sessions(of: Address): string[] {
    const backup = this.current(of);
    return backup?.rooms().flatMap((room) => Object.keys(backup.sessionsOf(room))).sort() ?? [];
  }

  /** A key of the latest version, decrypted. */
  read(
    of: Address,
    session: { roomId: RoomID; sessionId: string },
    secret: string,
  ): ImportedRoomKey | undefined {
    using key = testContext().vodozemac.pk.importDecryption(readKeySecret(secret) ?? "");
    return decryptSession(key, session, this.current(of)?.get(session.roomId, session.sessionId));
  }

  #answer({ userId }: Address, request: BackupRequest): JsonObject {
    const count = request.kind === "backupUpload"
      ? Object.values(request.keys.rooms).flatMap(({ sessions }) => Object.keys(sessions)).length
      : 0;
    this.log.push([request.kind, count]);
    if (this.refusal !== undefined) throw this.refusal;
    const answer = this.#carriedOut(userId, request);
    if (this.isDeaf) throw new Refusal(0);
    return answer;
  }

  #carriedOut(userId: UserID, request: BackupRequest): JsonObject {
    const current = this.#backups.current(userId);
    if (current === undefined) throw new Refusal(404, "M_NOT_FOUND");
    const { version, algorithm, authData: auth_data } = current;
    if (request.kind === "backupVersion") return { version, algorithm, auth_data, count: 0, etag: "0" };
    if (request.kind === "backupDownload") {
      const { roomId, sessionId } = request.session;
      const data = this.#backups.find(userId, request.version)?.get(roomId, sessionId);
      if (data === undefined) throw new Refusal(404, "M_NOT_FOUND");
      return this.onDownload(data);
    }
    if (request.version !== version) throw new Refusal(403, "M_WRONG_ROOM_KEYS_VERSION");
    for (const [room, { sessions }] of Object.entries(request.keys.rooms)) {
      for (const [session, data] of Object.entries(sessions)) current.put(room, session, { ...data });
    }
    return { count: current.count, etag: String(current.etag) };
  }
}

/** Asks for a new backup. */
export const NEW = { latest: undefined, isNew: true } as const;

/** Alice and Bob in a room, and a server that keeps backups. */
export async function stage(options: Partial<BotOptions> = {}) {
  const { server, alice, bob } = await aliceAndBob(options);
  return { server, alice, bob, backups: new BackupServer(server) };
}

/** Makes a backup for a bot, and takes it into use; returns its secret. */
export async function backedUp(bot: Bot, backups: BackupServer): Promise<string> {
  const { definition, secret } = await bot.engine.steps.newBackup(NEW);
  backups.create(bot, definition);
  assertEquals(await bot.engine.steps.adoptBackup({ shown: backups.shown(bot), secret }), "adopted");
  await bot.flush();
  return secret;
}

/** Has a bot use the backup of another device of its user. */
export async function trusting(bot: Bot, backups: BackupServer, secret: string): Promise<void> {
  assertEquals(await bot.engine.steps.adoptBackup({ shown: backups.shown(bot), secret }), "adopted");
  await bot.flush();
}

/** Has a bot have sessions of somebody's, as from a key file. */
export async function withSessions(bot: Bot, count: number, change: JsonObject = {}): Promise<string[]> {
  const entries = newEntries(count, change);
  const keys = entries.map((entry): ImportedRoomKey => ({
    roomId: String(entry.room_id) as RoomID,
    sessionId: entry.session_id,
    sessionKey: entry.session_key,
    senderKey: String(entry.sender_key),
    senderEd25519: "",
    source: "export",
  }));
  await bot.engine.steps.importKeys(keys);
  return entries.map(({ session_id }) => session_id).sort();
}

/** A session of somebody's, whose key can be had from any index on. */
export function newSession(): { sessionId: string; from: (index: number) => ImportedRoomKey } {
  const [entry] = newEntries(1);
  assert(entry);
  const session = testContext().vodozemac.megolm.importInbound(entry.session_key);
  return {
    sessionId: entry.session_id,
    from: (index) => ({
      roomId: ROOM,
      sessionId: entry.session_id,
      sessionKey: session.exportAt(index) ?? "",
      senderKey: String(entry.sender_key),
      senderEd25519: "",
      source: "export",
    }),
  };
}

/**
 * Has a bot make its requests about the backup for a while, every 30 seconds,
 * on a server that answers as is given.
 *
 * @returns How many uploads there were.
 * @throws {AssertionError} If there are `most`, or other requests.
 */
export async function uploadsWithin(
  ms: number,
  { bot, most, shown, upload }: {
    readonly bot: Bot;
    readonly most: number;
    /** Which version the server shows, after so many uploads. */
    shown(uploads: number): JsonObject;
    /** How the server answers an upload: true takes it. */
    upload(): true | { readonly status: number; readonly errcode: string };
  },
): Promise<number> {
  const { clock } = bot.server;
  let uploads = 0;
  for (const end = clock.now() + ms; clock.now() < end; await clock.tick(30_000)) {
    for (let [request] = await bot.engine.requests(); request; [request] = await bot.engine.requests()) {
      const { id } = request;
      if (request.kind === "backupVersion") {
        await bot.engine.answer({ id, response: shown(uploads) });
        continue;
      }
      assert(request.kind === "backupUpload" && ++uploads < most, "there is no end");
      const answer = upload();
      if (answer === true) await bot.engine.answer({ id, response: { count: 100_000, etag: "x" } });
      else await bot.engine.fail({ id, failure: { ...answer, message: "" } });
    }
  }
  return uploads;
}

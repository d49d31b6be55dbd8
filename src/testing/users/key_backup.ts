/**
 * Backups of room keys.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#server-side-key-backups | Server-side key backups}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";

/** One version of a user's backup. */
export class KeyBackup {
  /** Its number. */
  readonly version: string;
  /** How the keys are encrypted. */
  readonly algorithm: string;
  /** What the algorithm needs. */
  authData: unknown;
  /** Changes whenever a key changes. */
  etag = 0;
  readonly #rooms = new Map<string, Map<string, JsonObject>>();

  /** Makes an empty backup. */
  constructor(version: string, algorithm: string, authData: unknown) {
    this.version = version;
    this.algorithm = algorithm;
    this.authData = authData;
  }

  /** How many keys it holds. */
  get count(): number {
    return [...this.#rooms.values()].reduce((sum, sessions) => sum + sessions.size, 0);
  }

  /** The rooms that it holds keys of. */
  rooms(): string[] {
    return [...this.#rooms.keys()];
  }

  /** The keys of a room by session. */
  sessionsOf(room: string): JsonObject {
    return Object.fromEntries(this.#rooms.get(room) ?? []);
  }

  /** One key. */
  get(room: string, session: string): JsonObject | undefined {
    return this.#rooms.get(room)?.get(session);
  }

  /** Stores a key, unless the one that is there is better. */
  put(room: string, session: string, key: JsonObject): void {
    const sessions = this.#rooms.get(room) ?? new Map<string, JsonObject>();
    const old = sessions.get(session);
    if (old !== undefined && !isBetter(key, old)) return;
    this.#rooms.set(room, sessions.set(session, key));
    this.etag++;
  }

  /** Removes a key, all of a room, or all. */
  remove(room: string | undefined, session: string | undefined): void {
    if (room === undefined) this.#rooms.clear();
    else if (session === undefined) this.#rooms.delete(room);
    else if (this.#rooms.get(room)?.delete(session) === true && this.#rooms.get(room)?.size === 0) {
      this.#rooms.delete(room);
    }
    this.etag++;
  }
}

/**
 * A key is better if it is verified, or reaches further back, or came on a shorter way: one of these
 * is enough for Synapse, while the specification weighs them in this order.
 */
function isBetter(key: JsonObject, old: JsonObject): boolean {
  const isLess = (name: string) => Number(key[name] ?? 0) < Number(old[name] ?? 0);
  if (key.is_verified === true && old.is_verified !== true) return true;
  return isLess("first_message_index") || isLess("forwarded_count");
}

/** The backups of all users. */
export class KeyBackups {
  readonly #backups = new Map<UserID, KeyBackup[]>();
  readonly #created = new Map<UserID, number>();

  /** Makes a new version. */
  create(user: UserID, algorithm: string, authData: unknown): KeyBackup {
    const number = (this.#created.get(user) ?? 0) + 1;
    this.#created.set(user, number);
    const backup = new KeyBackup(String(number), algorithm, authData);
    this.#backups.set(user, [...this.#backups.get(user) ?? [], backup]);
    return backup;
  }

  /** The latest version. */
  current(user: UserID): KeyBackup | undefined {
    return this.#backups.get(user)?.at(-1);
  }

  find(user: UserID, version: string): KeyBackup | undefined {
    return this.#backups.get(user)?.find((backup) => backup.version === version);
  }

  /** Deletes a version. */
  delete(user: UserID, version: string): void {
    this.#backups.set(user, (this.#backups.get(user) ?? []).filter((backup) => backup.version !== version));
  }
}

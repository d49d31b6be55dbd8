/**
 * A user of the in-process homeserver, with devices, account data, settings and backups of room keys.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-key-backups | Server-side key backups}
 *
 * Over 300 lines because a backup of room keys is something of a user.
 *
 * @module
 */

import type { DeviceID, EventID, RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { firstAfter, type RoomEvent } from "../rooms/mod.ts";
import { PushRules } from "./push_rules.ts";

/** Values by key, each with the position of its last change. */
class VersionedMap<Value> {
  readonly #entries = new Map<string, { value: Value; position: number }>();
  #latest = 0;

  /** The value under `key`. */
  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Stores a value that changed at `position`. */
  set(key: string, value: Value, position: number): void {
    this.#entries.set(key, { value, position });
    this.#latest = Math.max(this.#latest, position);
  }

  /** The entries that changed after `position`, in the order of their change. */
  since(position: number): [key: string, value: Value, position: number][] {
    if (this.#latest <= position) return [];
    const changed: [string, Value, number][] = [];
    for (const [key, entry] of this.#entries) {
      if (entry.position > position) changed.push([key, entry.value, entry.position]);
    }
    return changed.sort((a, b) => a[2] - b[2]);
  }
}

/** What others see of a user's presence. */
interface Presence {
  /** `online`, `offline` or `unavailable`. */
  readonly state: string;
  /** The status message. */
  readonly message: string | undefined;
  /** When the user was last online, in milliseconds since the epoch. */
  readonly lastActive: number | undefined;
  /** Where the last change lies in the stream. */
  readonly position: number;
}

/** A device that is nowhere but here. */
export interface KeptDehydratedDevice {
  /** The device, which is among those of the user too. */
  readonly deviceId: DeviceID;
  /** Its private keys, as they were uploaded. */
  readonly data: JsonObject;
}

export class User {
  /** The full ID. */
  readonly id: UserID;
  /** The password; a user without one cannot log in with a password. */
  password: string | undefined;
  /** Whether the account is deactivated. */
  deactivated = false;
  /** Whether the profile was deleted with the account. */
  isErased = false;
  /** The global profile: `displayname`, `avatar_url` and whatever else was set. */
  readonly profile: Map<string, unknown> = new Map();
  readonly devices: Map<DeviceID, Device> = new Map();
  /** Global account data by type. */
  readonly accountData: VersionedMap<JsonObject> = new VersionedMap();
  /** Account data of rooms by type. */
  readonly roomAccountData: Map<RoomID, VersionedMap<JsonObject>> = new Map();
  /** The tags of rooms, by room. */
  readonly tags: VersionedMap<JsonObject> = new VersionedMap();
  /** The current member event of the user in every room that has one. */
  readonly memberships: Map<RoomID, RoomEvent> = new Map();
  /** Rooms that the user has left and asked to forget. */
  readonly forgotten: Set<RoomID> = new Set();
  /** Uploaded filters; the index is the ID. */
  readonly filters: JsonObject[] = [];
  readonly pushRules: PushRules;
  /** The pushers by app ID and push key. */
  readonly pushers: Map<string, JsonObject> = new Map();
  /** Presence, once the user has shown any. */
  presence: Presence | undefined;
  /** The dehydrated device, if there is one. */
  dehydrated: KeptDehydratedDevice | undefined;
  /** Cross-signing keys: `master_key`, `self_signing_key`, `user_signing_key`. */
  readonly crossSigning: Map<string, JsonObject> = new Map();

  /** Makes a user without devices. */
  constructor(id: UserID, password: string | undefined) {
    this.id = id;
    this.password = password;
    this.pushRules = new PushRules(id);
  }

  /** The part of the ID between `@` and the colon. */
  get localpart(): string {
    return this.id.slice(1, this.id.indexOf(":"));
  }

  /** The display name, if it is set to a string. */
  get displayName(): string | undefined {
    const name = this.profile.get("displayname");
    return typeof name === "string" ? name : undefined;
  }

  /** Returns whether the user does not want to see what another sends. */
  ignores(other: UserID): boolean {
    const ignored = this.accountData.get("m.ignored_user_list")?.ignored_users;
    return isJsonObject(ignored) && Object.hasOwn(ignored, other);
  }

  /** Whether the user can't be invited. */
  get blocksInvites(): boolean {
    return this.accountData.get("m.invite_permission_config")?.default_action === "block";
  }

  /** The account data of one room, made on first use. */
  accountDataOf(room: RoomID): VersionedMap<JsonObject> {
    const data = this.roomAccountData.get(room) ?? new VersionedMap<JsonObject>();
    this.roomAccountData.set(room, data);
    return data;
  }

  /** The rooms in which the user's current membership is `membership`. */
  roomsWith(membership: string): RoomID[] {
    return [...this.memberships].filter(([, event]) => event.content.membership === membership).map((
      [room],
    ) => room);
  }
}

/** A message waiting for a device. */
interface ToDeviceMessage {
  /** Where it lies in the stream. */
  readonly position: number;
  /** What the device gets to see. */
  readonly event: JsonObject;
}

/** A fallback key and whether it was handed out. */
interface FallbackKey {
  /** `algorithm:key_id`. */
  readonly id: string;
  /** The key as it was uploaded. */
  readonly key: unknown;
  /** Whether someone has claimed it. */
  used: boolean;
}

/** A member event that was sent to a device, and the stream position that the response reached. */
interface KnownMember {
  /** The member event. */
  readonly event: EventID;
  /** The stream position. */
  readonly position: number;
}

/** State that a connection of sliding sync asks for; undefined: of any type, or with any key. */
export interface StatePattern {
  readonly type: string | undefined;
  readonly key: string | undefined;
}

/** Which state of rooms a connection of sliding sync asks for. */
export interface RequiredState {
  readonly include: readonly StatePattern[];
  readonly exclude: readonly StatePattern[];
  /** Whether the members come of whom the timeline has something. */
  readonly isLazy: boolean;
}

/** What a connection of sliding sync has shown of a room. */
export interface ShownRoom {
  /** Up to where. */
  readonly until: number;
  /** What was asked for of its state. */
  readonly state: RequiredState;
  /** The members that were shown since the timeline had something of them. */
  readonly members: ReadonlySet<string>;
}

/** What a connection of sliding sync has shown up to a position. */
export interface SlidingPosition {
  readonly rooms: ReadonlyMap<RoomID, ShownRoom>;
  /** What was said of the device's keys. */
  readonly keys: string;
}

/** The longest name of a device, in characters. */
export const MAX_DEVICE_NAME = 100;

const TRANSACTIONS_KEPT = 10_000;

export class Device {
  readonly id: DeviceID;
  /** The name that its user gave it. */
  displayName: string | undefined;
  /** When it was last used, in milliseconds since the epoch. */
  lastSeen: number | undefined;
  /** The signed identity keys it has uploaded. */
  keys: JsonObject | undefined;
  /** One-time keys by `algorithm:key_id`, in the order of upload. */
  readonly oneTimeKeys: Map<string, unknown> = new Map();
  /** The fallback key of each algorithm. */
  readonly fallbackKeys: Map<string, FallbackKey> = new Map();
  /** To-device messages that the device has not acknowledged, in the order of the stream. */
  inbox: ToDeviceMessage[] = [];
  /** The member event of each user that this device was last sent, of whatever room. */
  readonly knownMembers: Map<UserID, KnownMember> = new Map();
  /** By connection of sliding sync, the positions that it knows. */
  readonly connections: Map<string, Map<number, SlidingPosition>> = new Map();
  readonly #transactions = new Map<string, Promise<unknown>>();

  /** Makes a device without keys. */
  constructor(id: DeviceID, displayName: string | undefined) {
    this.id = id;
    this.displayName = displayName;
  }

  /**
   * Runs `action` once per `key`: a repeated request gets the answer of the first. A failed one may
   * be repeated.
   */
  once<Answer>(key: string, action: () => Promise<Answer>): Promise<Answer> {
    const known = this.#transactions.get(key) as Promise<Answer> | undefined;
    if (known !== undefined) return known;
    const answer = action();
    this.#transactions.set(key, answer);
    answer.catch(() => this.#transactions.delete(key));
    const [oldest] = this.#transactions.keys();
    if (this.#transactions.size > TRANSACTIONS_KEPT && oldest !== undefined) {
      this.#transactions.delete(oldest);
    }
    return answer;
  }

  /** Counts the one-time keys of each algorithm that are left. `signed_curve25519` is always listed. */
  oneTimeKeyCounts(): Map<string, number> {
    const counts = new Map([["signed_curve25519", 0]]);
    for (const id of this.oneTimeKeys.keys()) {
      const algorithm = id.split(":", 1)[0] ?? "";
      counts.set(algorithm, (counts.get(algorithm) ?? 0) + 1);
    }
    return counts;
  }

  /** The algorithms whose fallback key is unclaimed. */
  unusedFallbackAlgorithms(): string[] {
    return [...this.fallbackKeys].filter(([, key]) => !key.used).map(([algorithm]) => algorithm);
  }

  /** Describes it, as other users and the owner see it. */
  describe(user: UserID): JsonObject {
    return {
      device_id: this.id,
      display_name: this.displayName ?? null,
      last_seen_ip: this.lastSeen === undefined ? null : "127.0.0.1",
      last_seen_ts: this.lastSeen ?? null,
      user_id: user,
    };
  }
}

/** A change of a user's devices or keys. */
interface DeviceChange {
  /** Whose. */
  readonly user: User;
  /** The rooms that the user was in. */
  readonly rooms: readonly RoomID[];
  /** Where it lies in the stream. */
  readonly position: number;
}

/** The log of changed device lists. */
export class DeviceChanges {
  readonly #changes: DeviceChange[] = [];

  /** Notes a change. */
  add(change: DeviceChange): void {
    this.#changes.push(change);
  }

  /** Those whose devices changed after a position: `viewer`, and users in a room that `viewer` is in. */
  since(position: number, viewer: User): UserID[] {
    const joined = new Set(viewer.roomsWith("join"));
    return this.#changes.slice(firstAfter(this.#changes, position))
      .filter(({ user, rooms }) => user === viewer || rooms.some((room) => joined.has(room)))
      .map(({ user }) => user.id);
  }
}

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

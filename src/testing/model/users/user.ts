/**
 * A user of the in-process homeserver, with devices, account data and settings.
 *
 * @module
 */

import type { DeviceID, RoomID, UserID } from "../../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import type { Device } from "./device.ts";
import { PushRules } from "./push_rules.ts";
import type { RoomEvent } from "../events/room_event.ts";

/** Values by key, each with the position of its last change. */
export class VersionedMap<Value> {
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
export interface Presence {
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

/** A user. */
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
  /** The devices by ID. */
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
  /** The push rules. */
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

  /** Whether the user does not want to see what another sends. */
  ignores(other: UserID): boolean {
    const ignored = this.accountData.get("m.ignored_user_list")?.ignored_users;
    return isJsonObject(ignored) && Object.hasOwn(ignored, other);
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

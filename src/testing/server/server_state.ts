/**
 * Everything that the in-process homeserver remembers, uploaded media and presence too.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#presence | Presence}
 *
 * Over 300 lines because it is a list of what is remembered.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ContentURI, DeviceID, RoomAlias, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { HomeserverOptions, IdGenerator, RateLimits } from "../homeserver_options.ts";
import { Failure, notFound } from "../json/json.ts";
import { OAuthServer } from "../oauth/mod.ts";
import type { Room, RoomEvent } from "../rooms/mod.ts";
import {
  Device,
  DeviceChanges,
  KeyBackups,
  Pushers,
  Sessions,
  UiaSessions,
  Unread,
  User,
} from "../users/mod.ts";
import { Appservices } from "./appservices.ts";
import { DelayedEvents, Stream } from "./stream.ts";

/**
 * What can be set about a homeserver, with every default filled in; without the last two it sends nothing.
 */
type Settings =
  & Required<Omit<HomeserverOptions, "onError" | "requestLogSize" | "previewFetch" | "pushFetch">>
  & Pick<HomeserverOptions, "previewFetch" | "pushFetch">;

/** An alias of a room. */
interface Alias {
  /** The room that it leads to. */
  readonly room: RoomID;
  /** Who made it. */
  readonly creator: UserID;
}

/** The state of a homeserver. */
export class ServerState {
  /** What was set when it was made. */
  readonly settings: Settings;
  /** The stream of changes. */
  readonly stream: Stream;
  /** Access tokens. */
  readonly sessions: Sessions;
  /** The authorization server, if users log in there. */
  readonly oauth: OAuthServer | undefined;
  /** User-interactive authentications under way. */
  readonly uia: UiaSessions;
  readonly users: Map<UserID, User> = new Map();
  readonly rooms: Map<RoomID, Room> = new Map();
  /** Tokens that open a session once. */
  readonly loginTokens: Map<string, { readonly user: User; readonly expiresAt: number }> = new Map();
  readonly aliases: Map<RoomAlias, Alias> = new Map();
  /** Whose devices have changed. */
  readonly deviceChanges: DeviceChanges = new DeviceChanges();
  /** Uploaded media. */
  readonly media: MediaStore;
  /** Backups of room keys. */
  readonly backups: KeyBackups = new KeyBackups();
  /** Answers to syncs that are given again. */
  readonly syncCache: SyncCache = new SyncCache();
  /** Counts positions of sliding sync, so that they differ. */
  slidingPositions = 0;
  /** Events that are sent later. */
  readonly delayed: DelayedEvents = new DelayedEvents(this);
  /** Unread counters. */
  readonly unread: Unread = new Unread();
  /** The stream position of the latest change of anyone's presence. */
  latestPresence = 0;
  /** Application services. */
  readonly appservices: Appservices;
  /** Sends notifications. */
  readonly pushers: Pushers;
  /** Limits how often users do what. */
  readonly rateLimiter: RateLimiter;
  /** The base URL that clients find by discovery. */
  baseUrl: string;
  /** Set when the homeserver shuts down, which ends all waits. */
  closed = false;
  readonly #shutdown = new AbortController();

  /** Makes an empty homeserver. */
  constructor(settings: Settings, baseUrl: string) {
    this.settings = settings;
    this.baseUrl = baseUrl;
    this.stream = new Stream(settings.clock);
    this.sessions = new Sessions(settings.clock, settings.ids, settings.accessTokenLifetime);
    const { oauth } = settings;
    this.oauth = oauth === false ? undefined : new OAuthServer(this, oauth === true ? {} : oauth);
    this.uia = new UiaSessions(settings.ids);
    this.appservices = new Appservices(this);
    this.pushers = new Pushers(this);
    this.rateLimiter = new RateLimiter(settings.clock, settings.rateLimits);
    this.media = new MediaStore(settings.serverName, settings.ids);
  }

  /** The time, in whole milliseconds since the epoch: clients take no event with a fraction of one. */
  get now(): number {
    return Math.floor(this.settings.clock.now());
  }

  /** The user with this ID, or a 404. */
  user(id: string): User {
    const user = this.users.get(id as UserID);
    if (user === undefined) throw notFound("User not found");
    return user;
  }

  /** The room with this ID. */
  room(id: string): Room | undefined {
    return this.rooms.get(id as RoomID);
  }

  /** The event with this ID, in whatever room. */
  event(id: string): RoomEvent | undefined {
    for (const room of this.rooms.values()) {
      const event = room.event(id);
      if (event !== undefined) return event;
    }
    return undefined;
  }

  /** Adds a user, who must not exist. */
  addUser(
    localpart: string,
    password: string | undefined,
    serverName: string = this.settings.serverName,
  ): User {
    const user = new User(`@${localpart}:${serverName}`, password);
    user.profile.set("displayname", localpart);
    this.users.set(user.id, user);
    this.savePushRules(user);
    return user;
  }

  /** Returns whether a user can be reached: of this homeserver, or of another that is played. */
  reaches(userId: string): boolean {
    return userId.endsWith(`:${this.settings.serverName}`) || this.users.has(userId as UserID);
  }

  /** Makes the push rules of a user hold from now on, and tells their devices. */
  savePushRules(user: User): void {
    const position = this.stream.advance();
    user.pushRules.save(position);
    user.accountData.set("m.push_rules", { global: user.pushRules.toJson() }, position);
    this.stream.wake([user.id]);
  }

  /** The device of a user, made if the ID is unknown or absent. A known one keeps its name. */
  addDevice(user: User, id: DeviceID | undefined, displayName: string | undefined): Device {
    const known = id === undefined ? undefined : user.devices.get(id);
    if (known !== undefined) return known;
    const device = new Device(id ?? this.settings.ids.next("device", 10), displayName);
    user.devices.set(device.id, device);
    this.announceDevices(user);
    return device;
  }

  /**
   * The users who are notified of what `user` does: all who share a room with them, and they
   * themselves.
   */
  acquaintancesOf(user: User): Set<UserID> {
    const users = new Set([user.id]);
    for (const room of user.roomsWith("join")) {
      for (const member of this.rooms.get(room)?.membersWith("join") ?? []) users.add(member);
    }
    return users;
  }

  /** Removes a device with its keys and sessions. Users who share a room with them are notified. */
  deleteDevice(user: User, id: DeviceID): void {
    const device = user.devices.get(id);
    user.devices.delete(id);
    if (user.dehydrated?.deviceId === id) user.dehydrated = undefined;
    if (device !== undefined) this.sessions.close((session) => session.device === device);
    this.announceDevices(user); // also of one that was not there
  }

  /** Notifies all users who share a room with the user that their devices or keys have changed. */
  announceDevices(user: User): void {
    this.deviceChanges.add({ user, rooms: user.roomsWith("join"), position: this.stream.advance() });
    this.stream.wake(this.acquaintancesOf(user));
    this.appservices.devicesChanged(user.id, this.acquaintancesOf(user));
  }

  /** Does something later, by the clock, unless the homeserver shuts down before. */
  later(ms: number, action: () => void): void {
    const { signal } = this.#shutdown;
    this.settings.clock.delay(ms, { signal }).then(action, () => {});
  }

  /** Aborted when the homeserver shuts down. */
  get closing(): AbortSignal {
    return this.#shutdown.signal;
  }

  /** Ends everything that waits. */
  close(): void {
    this.closed = true;
    this.stream.wakeAll();
    this.#shutdown.abort();
  }

  /** Returns whether two users share a room. */
  shareRoom(a: User, b: UserID): boolean {
    return a.roomsWith("join").some((room) => this.rooms.get(room)?.membership(b) === "join");
  }
}

/** Keeps answers. */
class SyncCache {
  readonly #kept = new Map<string, { readonly answer: JsonObject; readonly until: number }>();

  /** The answer that a request got before, if it is still given at a time. */
  get(request: string, now: number): JsonObject | undefined {
    const kept = this.#kept.get(request);
    return kept !== undefined && now < kept.until ? kept.answer : undefined;
  }

  /** Keeps an answer until a time, and forgets those whose time is over. */
  keep(
    request: string,
    answer: JsonObject,
    { now, until: end }: { readonly now: number; readonly until: number },
  ): void {
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key);
    this.#kept.set(request, { answer, until: end });
  }
}

/** A leaky bucket per user and kind of request. */
class RateLimiter {
  readonly #clock: Clock;
  readonly #limits: RateLimits;
  readonly #buckets = new Map<string, { tokens: number; time: number }>();

  /** Makes a limiter; `limits` may change later. */
  constructor(clock: Clock, limits: RateLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Counts a request, or refuses it with 429 and the time to wait. */
  take(user: UserID, kind: keyof RateLimits): void {
    const limit = this.#limits[kind];
    if (limit === undefined) return;
    const { perSecond, burst } = limit;
    const key = `${kind} ${user}`;
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, time: now };
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.time) / 1000 * perSecond);
    bucket.time = now;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) {
      const wait = Math.ceil((1 - bucket.tokens) / perSecond * 1000);
      throw new Failure(429, "M_LIMIT_EXCEEDED", "Too Many Requests", {
        extra: { retry_after_ms: wait },
        headers: { "retry-after": String(Math.ceil(wait / 1000)) },
      });
    }
    bucket.tokens--;
  }
}

/** A file, or the promise of one. */
export interface Media {
  /** Its `mxc://` URI. */
  readonly uri: ContentURI;
  /** Who uploaded it. */
  readonly owner: UserID;
  /** The content; `undefined` between creation and upload. */
  bytes: Uint8Array<ArrayBuffer> | undefined;
  /** The content type that came with it. */
  type: string;
  /** The file name that came with it. */
  name: string | undefined;
}

/** The content repository. */
class MediaStore {
  readonly #serverName: string;
  readonly #ids: IdGenerator;
  readonly #media = new Map<string, Media>();

  /** Makes an empty repository. */
  constructor(serverName: string, ids: IdGenerator) {
    this.#serverName = serverName;
    this.#ids = ids;
  }

  /** Reserves a URI for a file. */
  create(owner: UserID): Media {
    const id = this.#ids.next("media", 24);
    const media: Media = {
      uri: `mxc://${this.#serverName}/${id}`,
      owner,
      bytes: undefined,
      type: "application/octet-stream",
      name: undefined,
    };
    this.#media.set(media.uri, media);
    return media;
  }

  /** The file of a server name and a media ID. */
  find(serverName: string, id: string): Media | undefined {
    return this.#media.get(`mxc://${serverName}/${id}`);
  }
}

/** The states that a user can be in. */
export const PRESENCE_STATES: readonly string[] = ["online", "offline", "unavailable"];

/** Sets the presence of a user, and notifies users who share a room with them. */
export function setPresence(
  server: ServerState,
  user: User,
  state: string,
  message: string | undefined,
): void {
  const old = user.presence;
  const changed = (old?.state ?? "offline") !== state || old?.message !== message;
  const position = changed ? server.stream.advance() : old?.position ?? 0;
  user.presence = { state, message, lastActive: state === "online" ? server.now : old?.lastActive, position };
  server.latestPresence = Math.max(server.latestPresence, position);
  if (changed) server.stream.wake(server.acquaintancesOf(user));
}

/** Activity that came sooner than this after other activity is nothing new, in milliseconds. */
const GRANULARITY = 60_000;

/** Notes that a user is active, though perhaps not online. */
export function bumpPresence(server: ServerState, user: User): void {
  const old = user.presence;
  const isNew = server.now - (old?.lastActive ?? 0) > GRANULARITY;
  const state = old?.state === "unavailable" ? "online" : old?.state ?? "offline";
  const changed = isNew || state !== old?.state;
  const position = changed ? server.stream.advance() : old.position;
  user.presence = { state, message: old?.message, lastActive: server.now, position };
  server.latestPresence = Math.max(server.latestPresence, position);
  if (changed) server.stream.wake(server.acquaintancesOf(user));
}

/** The body of `GET /presence/{userId}/status`. */
export function presenceContent(server: ServerState, user: User): JsonObject {
  const { presence } = user;
  if (presence === undefined) return { presence: "offline" };
  return {
    presence: presence.state,
    ...(presence.lastActive === undefined ? {} : { last_active_ago: server.now - presence.lastActive }),
    ...(presence.message === undefined || presence.message === "" ? {} : { status_msg: presence.message }),
    ...(presence.state === "online" ? { currently_active: true } : {}),
  };
}

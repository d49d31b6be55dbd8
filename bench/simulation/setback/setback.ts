/**
 * A homeserver that was set back, and what that makes unavoidable: judges excuse that, by a reason, and
 * nothing else.
 *
 * @module
 */

import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { Device } from "../world/device.ts";
import type { Forgotten, ShownEvent, WorldHomeserver } from "./restorable_homeserver.ts";

/** A message to a device, by who has sent it: with the keys of which sessions, as far as can be told. */
export interface KeyPost {
  readonly at: number;
  /** The user and the device that has sent it. */
  readonly from: string;
  /** The user and the device that it is for. */
  readonly to: string;
  /** The rooms and IDs of the sessions that its sender encrypted with at that time. */
  readonly sessions: readonly string[];
}

/** An event that a device may not be able to read. */
interface Event {
  readonly event_id: string;
  readonly origin_server_ts: number;
  readonly content: { readonly session_id?: unknown };
}

/** Who has said something to whom, by what they knew. */
interface Exchange {
  readonly room: RoomID;
  readonly author: Device;
  readonly reader: Device;
  /** Up to which moment the author knew the server's state. */
  readonly known: number;
}

/** What may have been on its way when a device was told where the server is, in milliseconds. */
const ON_ITS_WAY = 1_000;
/** How long it may take until the server is asked about a device that has sent something, in milliseconds. */
const ASKED = 10_000;

/** A homeserver that was set back, once in a world. */
export class Setback {
  /** The moment to which it was. */
  readonly to: number;
  /** When. */
  readonly at: number;
  readonly #homeserver: WorldHomeserver;
  readonly #forgotten: Forgotten;
  readonly #reach: (what: string) => void;
  /** When each device was first told something by the server as it is. */
  readonly #caughtUp = new Map<Device, number>();
  /** The same, by the IDs of the user and of the device. */
  readonly #told = new Map<string, number>();
  /** Devices whose keys or signature the server has forgotten; with when it got them again. */
  readonly #bare = new Map<Device, number>();
  /** The rooms and IDs of sessions that were put into backups, which the server has forgotten. */
  readonly #unbacked = new Set<string>();
  /** By device, the sessions whose keys may have been deleted before it was told. */
  readonly #keys = new Map<string, Set<string>>();
  /**
   * By device that has sent something and by that which was told where the server is, when it was sent first.
   */
  readonly #heard = new Map<string, number>();

  /** @param options.reach Counts what was excused, by its reason. */
  constructor(
    { to, at, homeserver, forgotten, reach }: {
      readonly to: number;
      readonly at: number;
      readonly homeserver: WorldHomeserver;
      readonly forgotten: Forgotten;
      readonly reach: (what: string) => void;
    },
  ) {
    this.to = to;
    this.at = at;
    this.#homeserver = homeserver;
    this.#forgotten = forgotten;
    this.#reach = reach;
  }

  /** Notes that a device has committed what the server told at some moment. */
  caughtUp(device: Device, at: number): void {
    this.#caughtUp.getOrInsert(device, at + ON_ITS_WAY);
    this.#told.getOrInsert(`${device.userId} ${device.deviceId}`, at + ON_ITS_WAY);
  }

  /** Notes that the server has no keys of a device, or not the signature that it had. */
  isBare(device: Device): void {
    this.#bare.set(device, Infinity);
  }

  /** Notes that it has them again. */
  published(device: Device, at: number): void {
    if (this.#bare.get(device) === Infinity) this.#bare.set(device, at);
  }

  /** Whether the server shows no keys of a device, or not the signature that it had. */
  lacksKeysOf(device: Device): boolean {
    return this.#bare.get(device) === Infinity;
  }

  /** Whether the server has told a device where it is. */
  hasTold(device: Device): boolean {
    return this.#caughtUp.has(device);
  }

  /** How a device is stuck; undefined: it is not. */
  problemOf(device: Device): string | undefined {
    if (!this.hasTold(device)) return "it has told nothing to";
    return this.lacksKeysOf(device) ? "it does not have the keys of" : undefined;
  }

  /** Notes that a message to a device was taken by the server. */
  posted({ at, from, to, sessions }: KeyPost): void {
    if (at <= this.to) return;
    if (at > (this.#told.get(to) ?? Infinity)) {
      this.#heard.getOrInsert(`${from} ${to}`, at);
      return;
    }
    const lost = this.#keys.getOrInsertComputed(to, () => new Set());
    for (const session of sessions) lost.add(session);
  }

  /** Events of a room that the server has forgotten. */
  events(room: RoomID): readonly ShownEvent[] {
    return this.#forgotten.events.get(room) ?? [];
  }

  /** Whether the server has forgotten an event. */
  isForgotten(id: string): boolean {
    return this.#excuse(
      "the event was forgotten",
      this.#forgotten.events.values().some((events) => events.some(({ event_id }) => event_id === id)),
    );
  }

  /** Whether a device may not have been shown an event of a room, or told its key. */
  mayMiss(room: RoomID, reader: Device, { event_id: id, origin_server_ts: at, content }: Event): boolean {
    const until = Math.max(this.#caughtUp.get(reader) ?? Infinity, this.#bare.get(reader) ?? 0);
    const keys = this.#keys.get(`${reader.userId} ${reader.deviceId}`);
    return this.#excuse("said before the device was told where the server is", at > this.to && at <= until) ||
      this.#excuse("its key was deleted on its way", keys?.has(`${room} ${content.session_id}`) === true) ||
      this.#excuse("its redaction was forgotten", this.#forgotten.unredacted.has(id));
  }

  /** Whether a message to a device at some moment may have been deleted before it was delivered. */
  mayMissMemo(device: Device, at: number): boolean {
    return this.#excuse(
      "the message to the device was deleted",
      at > this.to && at <= (this.#caughtUp.get(device) ?? Infinity),
    );
  }

  /**
   * Whether an author may take a reader for somebody else than the server does: a membership was
   * forgotten, or it changed before the author was told where the server is, and it did not change since; or
   * the reader's device came before that, and has sent the author's nothing since.
   */
  isMistaken({ room, author, reader, known }: Exchange): boolean {
    const told = this.#caughtUp.get(author) ?? Infinity;
    const isIn = (at: number) => at > this.to && at <= told;
    const now = this.#memberEvents(room, reader.userId);
    const isTaken = this.isUndone(room, reader.userId) || now.some(isIn);
    return this.#excuse(
      "the author could not be told of a membership, or of a device",
      (isTaken || (isIn(reader.keysAt) && !this.#hasHeard(author, reader, known))) &&
        !now.some((at) => at > told && at <= known),
    );
  }

  /** Whether nothing shows who vouches for a device, since the identity of its user was forgotten. */
  isUnvouched({ account }: Device): boolean {
    return this.#excuse("the identity of its author was forgotten", account.isForgotten);
  }

  /** Whether the server has forgotten a membership of a user. */
  isUndone(room: RoomID, user: UserID): boolean {
    return this.events(room).some(({ type, state_key }) => type === "m.room.member" && state_key === user);
  }

  /** Whether an invitation may not have been shown to the devices of a user. */
  mayMissInvitation(room: RoomID, user: UserID, devices: readonly Device[]): boolean {
    const told = Math.max(...devices.map((device) => this.#caughtUp.get(device) ?? Infinity));
    const isHidden = this.#memberEvents(room, user).some((at) => at > this.to && at <= told);
    return this.#excuse("the invitation was not shown", isHidden || this.isUndone(room, user));
  }

  /** Notes the sessions that were put into backups and are not there any more. */
  noteUnbacked(sessions: readonly string[]): void {
    for (const session of sessions) this.#unbacked.add(session);
  }

  /** Whether the backup that the server has may lack a session. */
  isUnbacked(session: string): boolean {
    return this.#excuse("a key in the backup was forgotten", this.#unbacked.has(session));
  }

  /** When a user's memberships of a room changed, as far as the server knows. */
  #memberEvents(room: RoomID, user: UserID): number[] {
    return this.#homeserver.room(room).events
      .filter(({ type, state_key }) => type === "m.room.member" && state_key === user)
      .map(({ origin_server_ts: at }) => at);
  }

  /** Whether a device was sent something by another in time to ask the server about it. */
  #hasHeard(author: Device, other: Device, known: number): boolean {
    const [from, to] = [other, author].map(({ userId, deviceId }) => `${userId} ${deviceId}`);
    return (this.#heard.get(`${from} ${to}`) ?? Infinity) + ASKED <= known;
  }

  #excuse(reason: string, holds: boolean): boolean {
    if (holds) this.#reach(`excused, since the server was set back: ${reason}`);
    return holds;
  }
}

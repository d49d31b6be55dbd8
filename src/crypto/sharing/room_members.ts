/**
 * The members of encrypted rooms, as far as this process has received them.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { HistoryVisibility, RoomDescription } from "./outbound_record.ts";

/** The membership of a member. */
export type MemberKind = "join" | "invite";

/** Members whose membership has changed; undefined: they are none any more. */
export type MemberChanges = ReadonlyMap<UserID, MemberKind | undefined>;

interface KnownRoom {
  readonly members: Map<UserID, MemberKind>;
  /** When the question was put that this is the answer to, in milliseconds since the epoch. */
  readonly askedAt: number;
  version: number;
  /** Whether it is too old to go by. */
  isOutdated?: boolean;
  recipients?: { readonly visibility: HistoryVisibility | undefined; readonly users: ReadonlySet<UserID> };
}

/**
 * Changes of a room's members between the request for them and the response, which may be from
 * before or after.
 */
interface Meanwhile {
  readonly askedAt: number;
  readonly changes: Map<UserID, MemberKind | undefined>;
  visibility?: { readonly value: HistoryVisibility | undefined };
  lost: boolean;
}

/** How many members all rooms together may have in memory. */
const MAX_MEMBERS = 1_000_000;

/**
 * How many changes are kept while a response is awaited; with more, the members have to be
 * requested again.
 */
const MAX_CHANGES = 10_000;

/** Keeps the complete member lists of rooms; a list that may be incomplete is dropped. */
export class RoomMembers {
  readonly #rooms = new RecentMap<RoomID, KnownRoom>(MAX_MEMBERS);
  readonly #asked = new Map<RoomID, Meanwhile>();
  #versions = 0;

  /**
   * The recipients of what is sent: members, and invited users unless history is for members only.
   */
  recipients(roomId: RoomID, visibility: HistoryVisibility | undefined): ReadonlySet<UserID> | undefined {
    const room = this.#current(roomId);
    if (room === undefined) return undefined;
    if (room.recipients?.visibility !== visibility) delete room.recipients;
    room.recipients ??= { visibility, users: recipientsOf(room.members, visibility) };
    return room.recipients.users;
  }

  /** Returns whether a user is known to have joined a room, also while its members are requested. */
  hasJoined(roomId: RoomID, userId: UserID): boolean {
    const { changes } = this.#asked.get(roomId) ?? {};
    const kind = changes?.has(userId) ? changes.get(userId) : this.#rooms.get(roomId)?.members.get(userId);
    return kind === "join";
  }

  /** Changes whenever the recipients of a room may; undefined if they are not known. */
  version(roomId: RoomID): number | undefined {
    return this.#current(roomId)?.version;
  }

  /**
   * Makes members out of date that were requested before a time; returns the time of the request.
   */
  outdate(roomId: RoomID, { since, now }: { since: number; now: number }): number {
    const room = this.#rooms.get(roomId);
    if (room === undefined) return now;
    if (room.askedAt < since || room.askedAt > now) room.isOutdated = true;
    return room.askedAt;
  }

  /** Notes that the members are being requested: later changes are applied to the response. */
  ask(roomId: RoomID, now: number): void {
    if (!this.#asked.has(roomId)) this.#asked.set(roomId, { askedAt: now, changes: new Map(), lost: false });
  }

  /**
   * Former members who are not in a new list; members that have changed since the request don't
   * count.
   */
  missing(roomId: RoomID, members: RoomDescription["members"]): UserID[] {
    const before = this.#rooms.get(roomId)?.members;
    if (before === undefined) return [];
    const there = new Set(members.map(({ userId }) => userId));
    const changed = this.#asked.get(roomId)?.changes;
    return [...before.keys()].filter((userId) => !there.has(userId) && changed?.has(userId) !== true);
  }

  /** Returns what the history visibility became while the question was open. */
  visibilitySince(roomId: RoomID): { readonly value: HistoryVisibility | undefined } | undefined {
    return this.#asked.get(roomId)?.visibility;
  }

  /** Receives the members. */
  put(roomId: RoomID, members: RoomDescription["members"]): void {
    const meanwhile = this.#asked.get(roomId);
    this.#asked.delete(roomId);
    if (meanwhile?.lost) return this.forget(roomId); // a listed user may have left: request them again
    const known = new Map(members.map(({ userId, membership }) => [userId, membership]));
    this.#keep(roomId, { members: known, askedAt: meanwhile?.askedAt ?? -Infinity, version: 0 });
    this.change(roomId, meanwhile?.changes ?? new Map());
  }

  /** Receives changes of members. */
  change(roomId: RoomID, changes: MemberChanges): void {
    const room = this.#rooms.get(roomId);
    const meanwhile = this.#asked.get(roomId);
    let changed = false;
    for (const [userId, kind] of changes) {
      meanwhile?.changes.set(userId, kind);
      if (room === undefined || room.members.get(userId) === kind) continue;
      if (kind === undefined) room.members.delete(userId);
      else room.members.set(userId, kind);
      changed = true;
    }
    if (changed && room !== undefined) this.#keep(roomId, room);
    if (meanwhile === undefined || meanwhile.changes.size <= MAX_CHANGES) return;
    meanwhile.changes.clear();
    meanwhile.lost = true;
  }

  /** Receives a change of the history visibility. */
  visibilityChanged(roomId: RoomID, value: HistoryVisibility | undefined): void {
    const meanwhile = this.#asked.get(roomId);
    if (meanwhile !== undefined) meanwhile.visibility = { value };
    const room = this.#rooms.get(roomId);
    if (room !== undefined) this.#keep(roomId, room);
  }

  /** Drops the members of a room: there may have been unknown changes. */
  forget(roomId: RoomID): void {
    this.#rooms.remove(roomId);
    const meanwhile = this.#asked.get(roomId);
    if (meanwhile !== undefined) meanwhile.lost = true;
  }

  /** Drops the members of all rooms. */
  clear(): void {
    this.#rooms.clear();
    for (const meanwhile of this.#asked.values()) meanwhile.lost = true;
  }

  #current(roomId: RoomID): KnownRoom | undefined {
    const room = this.#rooms.get(roomId);
    return room?.isOutdated === true ? undefined : room;
  }

  #keep(roomId: RoomID, room: KnownRoom): void {
    delete room.recipients;
    room.version = ++this.#versions;
    this.#rooms.set(roomId, room, room.members.size + 1);
  }
}

function recipientsOf(
  members: ReadonlyMap<UserID, MemberKind>,
  visibility: HistoryVisibility | undefined,
): Set<UserID> {
  const users = new Set<UserID>();
  for (const [userId, kind] of members) {
    if (kind === "join" || visibility !== "joined") users.add(userId);
  }
  return users;
}

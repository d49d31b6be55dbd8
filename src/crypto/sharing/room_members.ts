/**
 * Who is in the encrypted rooms, as far as this process has been told.
 *
 * @module
 */

import { WeighedCache } from "../../base/weighed_cache.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { RoomDescription } from "../engine/engine_protocol.ts";
import type { HistoryVisibility } from "./room_settings.ts";

/** What a member is to a room. */
export type MemberKind = "join" | "invite";

/** Members who change: what they are now; undefined: nothing any more. */
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

/** What happened to a room's members between the question who they are and the answer, which may be of before or after. */
interface Meanwhile {
  readonly askedAt: number;
  readonly changes: Map<UserID, MemberKind | undefined>;
  visibility?: { readonly value: HistoryVisibility | undefined };
  lost: boolean;
}

/** How many members all rooms together may have in memory. */
const MAX_MEMBERS = 1_000_000;

/** How many changes are kept for an answer that is a long time coming; after more, the question has to be asked again. */
const MAX_CHANGES = 10_000;

/** Keeps the complete member lists of rooms; a list that can't be complete any more is forgotten. */
export class RoomMembers {
  readonly #rooms = new WeighedCache<RoomID, KnownRoom>(MAX_MEMBERS);
  readonly #asked = new Map<RoomID, Meanwhile>();
  #versions = 0;

  /** Who gets what is said in a room: members, and those invited unless history is for members only. */
  recipients(roomId: RoomID, visibility: HistoryVisibility | undefined): ReadonlySet<UserID> | undefined {
    const room = this.#current(roomId);
    if (room === undefined) return undefined;
    if (room.recipients?.visibility !== visibility) delete room.recipients;
    room.recipients ??= { visibility, users: recipientsOf(room.members, visibility) };
    return room.recipients.users;
  }

  /** Changes whenever the recipients of a room may; undefined if they are not known. */
  version(roomId: RoomID): number | undefined {
    return this.#current(roomId)?.version;
  }

  /** Has the members asked for anew if that was done before a time; gives the time at which it was done. */
  outdate(roomId: RoomID, { since, now }: { since: number; now: number }): number {
    const room = this.#rooms.get(roomId);
    if (room === undefined) return now;
    if (room.askedAt < since || room.askedAt > now) room.isOutdated = true;
    return room.askedAt;
  }

  /** Says that somebody is being asked who the members are: what changes from now on is applied to the answer. */
  ask(roomId: RoomID, now: number): void {
    if (!this.#asked.has(roomId)) this.#asked.set(roomId, { askedAt: now, changes: new Map(), lost: false });
  }

  /** Who was a member by the last answer, and is not by another one; those who have changed since the question don't count. */
  missing(roomId: RoomID, members: RoomDescription["members"]): UserID[] {
    const before = this.#rooms.get(roomId)?.members;
    if (before === undefined) return [];
    const there = new Set(members.map(({ userId }) => userId));
    const changed = this.#asked.get(roomId)?.changes;
    return [...before.keys()].filter((userId) => !there.has(userId) && changed?.has(userId) !== true);
  }

  /** What the history visibility became while the question was open. */
  visibilitySince(roomId: RoomID): { readonly value: HistoryVisibility | undefined } | undefined {
    return this.#asked.get(roomId)?.visibility;
  }

  /** Takes in who the members are. */
  put(roomId: RoomID, members: RoomDescription["members"]): void {
    const meanwhile = this.#asked.get(roomId);
    this.#asked.delete(roomId);
    if (meanwhile?.lost) return this.forget(roomId); // somebody may have gone whom the answer still names: ask again
    const known = new Map(members.map(({ userId, membership }) => [userId, membership]));
    this.#keep(roomId, { members: known, askedAt: meanwhile?.askedAt ?? -Infinity, version: 0 });
    this.change(roomId, meanwhile?.changes ?? new Map());
  }

  /** Takes in that members changed. */
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

  /** Takes in that the history visibility changed. */
  visibilityChanged(roomId: RoomID, value: HistoryVisibility | undefined): void {
    const meanwhile = this.#asked.get(roomId);
    if (meanwhile !== undefined) meanwhile.visibility = { value };
    const room = this.#rooms.get(roomId);
    if (room !== undefined) this.#keep(roomId, room);
  }

  /** Forgets who the members are: there may have been changes that nobody told of. */
  forget(roomId: RoomID): void {
    this.#rooms.delete(roomId);
    const meanwhile = this.#asked.get(roomId);
    if (meanwhile !== undefined) meanwhile.lost = true;
  }

  /** Forgets who the members of all rooms are. */
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

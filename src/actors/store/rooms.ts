/**
 * The Store's records of rooms and their state.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { StoreMutation } from "../../store/base/mod.ts";
import type { RoomRecord, StoredState } from "../../store/device/mod.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import { isSameJson } from "../../types/json.ts";
import type { RoomState } from "./room_state.ts";
import type {
  FormerRoom,
  FormerRooms,
  MembersChange,
  PruneStep,
  RememberedRoom,
  RoomChange,
  StateChange,
  StateQuery,
  SyncChange,
} from "./store_protocol.ts";
import { ReadsUnderWay, RedactableState } from "./redactable_state.ts";
import {
  changesState,
  factsOf,
  formerRoom,
  isLeft,
  nextRecord,
  type RoomFacts,
  RoomRecords,
} from "./room_records.ts";
import type { ShownLog } from "./shown_events.ts";
import { set, type StoreWriter } from "./writer.ts";

/** The changes of a sync response, to be committed. */
export interface RoomMutations {
  /** The changes. */
  readonly mutations: readonly StoreMutation[];
  /** What was known of the rooms before. */
  readonly former: FormerRooms;
  /** The records among the changes. */
  readonly records: readonly RoomRecord[];
  readonly changed: readonly RoomID[];
  /** The events by which rooms have become encrypted. */
  readonly began: readonly EventID[];
}

/** A change of a room, and what of it matters. */
type Change = { readonly room: RoomChange; readonly facts: RoomFacts };

/**
 * How many rooms a step reads that removes state, and when so many records are removed, no more are at once.
 */
const MAX_REMOVALS = 500;

/** Stores what is known of rooms. */
export class StoreRooms {
  readonly #writer: StoreWriter;
  readonly #state: RedactableState;
  readonly #clock: Clock;
  readonly #shown: ShownLog;
  readonly #records: RoomRecords;
  /** The requests under way that read or send state. */
  readonly reads: ReadsUnderWay = new ReadsUnderWay();
  /** Rooms that change with what is being committed. */
  readonly #changing = new Set<RoomID>();

  /**
   * @param writer Reads and writes.
   * @param state Stores their state.
   * @param clock Says when a room was left.
   * @param shown Stores which events have been handled.
   */
  constructor(writer: StoreWriter, state: RoomState, clock: Clock, shown: ShownLog) {
    this.#writer = writer;
    this.#shown = shown;
    this.#state = new RedactableState(state);
    this.#clock = clock;
    this.#records = new RoomRecords(writer);
  }

  /** Returns what is known of a room beside its state. */
  async room(roomId: RoomID): Promise<RoomRecord | undefined> {
    return await this.#records.get(roomId);
  }

  /** Returns what the Syncer remembers of rooms. */
  async remembered(roomIds: readonly RoomID[]): Promise<RememberedRoom[]> {
    if (roomIds.some((roomId) => this.#changing.has(roomId))) await this.#writer.settled;
    const records = await this.#records.getMany(roomIds);
    const rooms = roomIds.map((roomId) => ({ roomId, first: "", ...records.get(roomId) }));
    const shown = await this.#shown.of(rooms);
    return rooms.map(({ roomId }, index) => {
      const { membership, entries = [] } = records.get(roomId) ?? {};
      return { isJoined: membership === "join", shown: shown[index] ?? "", entries };
    });
  }

  /** Every room that is known. */
  async rooms(): Promise<RoomRecord[]> {
    return await this.#writer.list<RoomRecord>(this.#writer.keys.rooms());
  }

  /** One piece of a room's state. */
  async getState(query: StateQuery): Promise<StoredState | undefined> {
    return (await this.#state.stored.getMany([query]))[0];
  }

  /** A room's state, all of it or all of a type. */
  async listState(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return await this.#state.stored.list(roomId, type);
  }

  /**
   * The changes of a sync response to rooms, as they are when all earlier changes are committed.
   *
   * @param change The response.
   * @param unhandled The events by which rooms became encrypted that may come again unhandled. Default: none.
   */
  async changes(
    { rooms, dropTimeline }: Pick<SyncChange, "rooms" | "dropTimeline">,
    unhandled: readonly EventID[] = [],
  ): Promise<RoomMutations> {
    if (this.#changing.size > 0 && this.#mustWait(rooms)) await this.#writer.settled;
    const { keys } = this.#writer;
    const [changes, concerned]: [Change[], RoomID[]] = [[], []];
    for (const room of rooms) {
      const facts = factsOf(room.state, dropTimeline);
      changes.push({ room, facts });
      concerned.push(room.roomId);
      if (facts.predecessor !== undefined) concerned.push(facts.predecessor);
    }
    const known = await this.#records.getMany(concerned);
    const members = await this.#members(changes, known);
    const [mutations, former]: [StoreMutation[], (FormerRoom | undefined)[]] = [[], []];
    const [records, changed, began]: [RoomRecord[], RoomID[], EventID[]] = [[], [], []];
    for (const { room, facts } of changes) {
      const { roomId, membership, state } = room;
      const record = known.get(roomId);
      former.push(record && formerRoom(record, members.get(roomId), unhandled));
      let redacted: readonly StoredState[] | undefined;
      // The stored state of a room that the user comes into is old: it is sent again with the join.
      if (membership === "join" && record?.membership !== "join") {
        redacted = await this.#state.enter(room, record !== undefined, mutations);
      } else {
        if (room.gone !== undefined) await this.#state.stored.remove(roomId, room.gone, mutations);
        if (state.length > 0) this.#state.set(roomId, state, mutations);
        const which = record?.membership === "join" ? "stored" : "new";
        redacted = room.redactions && await this.#state.redact(room, which, mutations);
      }
      const isChanged = changesState(room);
      if (isChanged || (room.lossy && this.reads.areUnderWay)) this.reads.overtake(room, redacted ?? []);
      const predecessor = facts.predecessor && known.get(facts.predecessor);
      const next = nextRecord(room, { record, facts, predecessor, clock: this.#clock });
      if (next !== record || isChanged) changed.push(roomId);
      if (next === record) continue;
      mutations.push(set(keys.room(roomId), next));
      records.push(next);
      known.set(roomId, next);
      if (next.encryptedBy !== undefined && record?.encryptedBy === undefined) began.push(next.encryptedBy);
    }
    return { mutations, former, records, changed, began };
  }

  /** Marks the rooms of changes that are about to be committed. */
  committing({ mutations, changed }: Pick<RoomMutations, "mutations" | "changed">): void {
    if (mutations.length > 0) this.#state.stored.changed(mutations);
    for (const roomId of changed) this.#changing.add(roomId);
  }

  /** Remembers the records of changes that have been committed. */
  committed({ mutations, records, changed }: Pick<RoomMutations, "mutations" | "records" | "changed">): void {
    if (mutations.length > 0) this.#state.stored.changed(mutations);
    for (const record of records) this.#records.remember(record);
    for (const roomId of changed) this.#changing.delete(roomId);
  }

  /** Applies state that did not come with sync. That a room is encrypted counts, however late it comes. */
  async putState({ roomId, events, read }: StateChange): Promise<void> {
    const { encryption } = factsOf(events);
    const record = await this.#changed(roomId, encryption && { encryption });
    const mutations: StoreMutation[] = [];
    this.#state.set(roomId, this.reads.current(events, read), mutations);
    await this.#commit(mutations, record);
  }

  /** Applies a content that was sent or read, unless the whole event is known: redactions name that. */
  async putContent(event: StoredState, read?: number): Promise<void> {
    const { room_id: roomId, type, state_key: stateKey, event_id, content } = event;
    const known = await this.getState({ roomId, type, stateKey });
    const isKnown = event_id === undefined
      ? isSameJson(known?.content, content)
      : event_id === known?.event_id;
    if (!isKnown) await this.putState({ roomId, events: [event], read });
  }

  /** Replaces the members of a room, those of one membership or all. */
  async replaceMembers({ roomId, events, only, complete, read }: MembersChange): Promise<void> {
    const old = await this.listState(roomId, "m.room.member");
    const allMembers = complete && !this.reads.isLossy(read);
    const record = await this.#changed(roomId, allMembers ? { allMembers } : undefined);
    const mutations: StoreMutation[] = [];
    const gone = old.filter((event) => only === undefined || event.content.membership === only);
    await this.#state.stored.remove(roomId, this.reads.current(gone, read), mutations);
    this.#state.set(roomId, this.reads.current(events, read), mutations);
    await this.#commit(mutations, record);
  }

  /** Records that the server says a room has no encryption. */
  async noEncryption(roomId: RoomID): Promise<void> {
    await this.#commit([], await this.#changed(roomId, { encryption: false }));
  }

  /**
   * Removes state of rooms that were left before a time: a limited number, so that others need not
   * wait long. Records stay.
   */
  async prune(leftBefore: number, after?: RoomID): Promise<PruneStep> {
    const [mutations, records]: [StoreMutation[], RoomRecord[]] = [[], []];
    const [{ keys }, now] = [this.#writer, this.#clock.now()];
    let [removed, last] = [0, after];
    const page = { after: after && keys.room(after), limit: MAX_REMOVALS };
    const rooms = await this.#writer.list<RoomRecord>(keys.rooms(), page);
    for (const room of rooms) {
      const { leftAt, first: _, entries: __, ...record } = room;
      // If the clock was set back since then, the room counts as left now.
      if (leftAt !== undefined && leftAt > now) records.push({ ...room, leftAt: now });
      if (leftAt !== undefined && leftAt < leftBefore) {
        if (mutations.length >= MAX_REMOVALS) break; // the next call goes on: the record still has `leftAt`
        const cleared = await this.#state.clear(room.roomId, MAX_REMOVALS - mutations.length, mutations);
        removed += cleared.removed;
        if (!cleared.isDone) break;
        this.#shown.forget(record.roomId, mutations);
        records.push({ ...record, allMembers: false });
      }
      last = room.roomId;
    }
    await this.#commit(mutations, ...records);
    const isDone = rooms.length < MAX_REMOVALS && last === (rooms.at(-1)?.roomId ?? after);
    return { removed, isDone, ...(!isDone && { after: last }) };
  }

  async #commit(mutations: StoreMutation[], ...records: (RoomRecord | undefined)[]): Promise<void> {
    const changed = records.filter((record) => record !== undefined);
    for (const record of changed) mutations.push(set(this.#writer.keys.room(record.roomId), record));
    this.committing({ mutations, changed: [] });
    await this.#writer.commit(mutations);
    this.committed({ mutations, records: changed, changed: [] });
  }

  /**
   * Returns whether a response has to wait for the commit under way, since it may depend on it. State
   * always waits, so that no commit grows by the state of several responses: it may be more than a
   * store accepts at once.
   */
  #mustWait(rooms: readonly RoomChange[]): boolean {
    return rooms.some((room) => changesState(room) || this.#changing.has(room.roomId));
  }

  /**
   * The record of a room after a change; undefined if it stays the same. State of a room that was
   * left is removed some day: the record says when it was left, even if nothing else changes.
   */
  async #changed(roomId: RoomID, change?: Partial<RoomRecord>): Promise<RoomRecord | undefined> {
    const known = await this.room(roomId);
    const record = known ?? { roomId, membership: "leave", allMembers: false };
    const isDated = !isLeft(record) || record.leftAt !== undefined;
    if (change === undefined && (known === undefined || isDated)) return undefined;
    const encryption = record.encryption || (change ?? record).encryption;
    const leftAt = isDated ? undefined : { leftAt: this.#clock.now() };
    return { ...record, ...change, encryption, ...leftAt };
  }

  /** By known room, the stored member events of users of whom the change does not say what they were. */
  async #members(
    changes: readonly Change[],
    known: ReadonlyMap<RoomID, RoomRecord>,
  ): Promise<Map<RoomID, Map<string, StoredState>>> {
    const found = new Map<RoomID, Map<string, StoredState>>();
    const queries: StateQuery[] = [];
    const rooms: Map<string, StoredState>[] = [];
    for (const { room: { roomId }, facts } of changes) {
      if (facts.members.length === 0 || !known.has(roomId)) continue;
      const members = found.get(roomId) ?? new Map<string, StoredState>();
      found.set(roomId, members);
      for (const user of facts.members) {
        queries.push({ roomId, type: "m.room.member", stateKey: user });
        rooms.push(members);
      }
    }
    const events = queries.length === 0 ? [] : await this.#state.stored.getMany(queries);
    for (const [index, event] of events.entries()) {
      if (event !== undefined) rooms[index]?.set(event.state_key, event);
    }
    return found;
  }
}

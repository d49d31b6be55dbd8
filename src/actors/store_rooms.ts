/**
 * Rooms and their state, as the Store actor keeps them.
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import type { KvMutation } from "../store/kv_store.ts";
import type { RoomRecord, StoredState } from "../store/records.ts";
import type { Membership } from "../types/enums.ts";
import type { RoomID } from "../types/ids.ts";
import { isJsonObject } from "../types/json.ts";
import type { FormerRoom, FormerRooms, PrunedRooms, RoomChange, StateQuery } from "./store_protocol.ts";
import { encryptionIn, inherited, isLeft, nextRecord, predecessorIn } from "./store_room_record.ts";
import { set, type StoreWriter } from "./store_writer.ts";

/** What a sync response changes, to be committed. */
export interface RoomMutations {
  /** The changes. */
  readonly mutations: KvMutation[];
  /** What was known before. */
  readonly former: FormerRooms;
}

/** How many pieces of state are removed at once. */
const MAX_REMOVALS = 500;

/** Keeps what is known of rooms. */
export class StoreRooms {
  readonly #writer: StoreWriter;
  readonly #clock: Clock;

  /**
   * @param writer Reads and writes.
   * @param clock Says when a room was left.
   */
  constructor(writer: StoreWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** What is known of a room beside its state. */
  async room(roomId: RoomID): Promise<RoomRecord | undefined> {
    return await this.#writer.get<RoomRecord>(this.#writer.keys.room(roomId));
  }

  /** Every room that is known. */
  async rooms(): Promise<RoomRecord[]> {
    return await this.#writer.list<RoomRecord>(this.#writer.keys.rooms());
  }

  /** One piece of a room's state. */
  async getState({ roomId, type, stateKey }: StateQuery): Promise<StoredState | undefined> {
    return await this.#writer.get<StoredState>(this.#writer.keys.state(roomId, type, stateKey));
  }

  /** A room's state, all of it or all of a type. */
  async listState(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return await this.#writer.list<StoredState>(this.#writer.keys.states(roomId, type));
  }

  /** What a sync response changes of rooms. */
  async changes(rooms: readonly RoomChange[]): Promise<RoomMutations> {
    const { keys } = this.#writer;
    const mutations: KvMutation[] = [];
    const former: (FormerRoom | undefined)[] = [];
    const ids = [...new Set(rooms.flatMap((room) => [room.roomId, ...predecessorIn(room.state)]))];
    const stored = await this.#writer.getMany<RoomRecord>(ids.map((roomId) => keys.room(roomId)));
    const records = new Map(ids.map((roomId, index) => [roomId, stored[index]]));
    for (const room of rooms) {
      const record = records.get(room.roomId);
      former.push(
        record && {
          membership: record.membership,
          members: await this.#members(room),
          encrypted: isJsonObject(record.encryption),
        },
      );
      if (record !== undefined && record.membership !== "join" && room.membership === "join") {
        mutations.push(...await this.#removals(room.roomId));
      }
      mutations.push(...this.#stateMutations(room.roomId, room.state));
      const next = nextRecord(room, record, inherited(room.state, records), this.#clock.now());
      if (next !== record) mutations.push(set(keys.room(room.roomId), next));
      records.set(room.roomId, next);
    }
    return { mutations, former };
  }

  /** Applies state that is known from elsewhere than sync. */
  async putState(roomId: RoomID, events: readonly StoredState[]): Promise<void> {
    const mutations = this.#stateMutations(roomId, events);
    const encryption = encryptionIn(events);
    mutations.push(...await this.#roomMutations(roomId, encryption && { encryption }));
    await this.#writer.commit(mutations);
  }

  /** Replaces the members of a room, those of one membership or all. */
  async replaceMembers(
    roomId: RoomID,
    events: readonly StoredState[],
    only: Membership | undefined,
    complete: boolean,
  ): Promise<void> {
    const old = await this.listState(roomId, "m.room.member");
    const removals = old
      .filter((event) => only === undefined || event.content.membership === only)
      .map((event) => this.#removal(roomId, event));
    const record = await this.#roomMutations(roomId, complete ? { allMembers: true } : undefined);
    await this.#writer.commit([...removals, ...this.#stateMutations(roomId, events), ...record]);
  }

  /** Notes that the server says a room has no encryption. */
  async noEncryption(roomId: RoomID): Promise<void> {
    await this.#writer.commit(await this.#roomMutations(roomId, { encryption: false }));
  }

  /** Removes state of rooms that were left before a time: so much that others need not wait long. What is known beside it stays. */
  async prune(leftBefore: number): Promise<PrunedRooms> {
    const mutations: KvMutation[] = [];
    let removed = 0;
    for (const { leftAt, ...record } of await this.rooms()) {
      if (leftAt === undefined || leftAt >= leftBefore) continue;
      const left = MAX_REMOVALS - removed;
      const state = await this.#writer.keysBelow(this.#writer.keys.states(record.roomId), left + 1);
      for (const key of state.slice(0, left)) mutations.push({ type: "delete", key });
      removed += Math.min(state.length, left);
      if (state.length > left) break; // the rest comes next, since the room still says when it was left
      mutations.push(set(this.#writer.keys.room(record.roomId), { ...record, allMembers: false }));
    }
    await this.#writer.commit(mutations);
    return { removed, isDone: removed < MAX_REMOVALS };
  }

  #stateMutations(roomId: RoomID, events: readonly StoredState[]): KvMutation[] {
    const { keys } = this.#writer;
    return events.map((event) => set(keys.state(roomId, event.type, event.state_key), event));
  }

  /** State that is put into a room that was left has to go again some time: the room says so, also if nothing else changes. */
  async #roomMutations(roomId: RoomID, change?: Partial<RoomRecord>): Promise<KvMutation[]> {
    const known = await this.room(roomId);
    const record = known ?? { roomId, membership: "leave", allMembers: false };
    const isDated = !isLeft(record) || record.leftAt !== undefined;
    if (change === undefined && (known === undefined || isDated)) return [];
    const encryption = record.encryption || (change ?? record).encryption;
    const leftAt = isDated ? undefined : { leftAt: this.#clock.now() };
    return [set(this.#writer.keys.room(roomId), { ...record, ...change, encryption, ...leftAt })];
  }

  /** State of a room that the user was not in may miss what has happened since, and is given anew at the join. */
  async #removals(roomId: RoomID): Promise<KvMutation[]> {
    return (await this.listState(roomId)).map((event) => this.#removal(roomId, event));
  }

  #removal(roomId: RoomID, { type, state_key }: StoredState): KvMutation {
    return { type: "delete", key: this.#writer.keys.state(roomId, type, state_key) };
  }

  /** The kept member events of those whose membership a change is about. */
  async #members({ roomId, state }: RoomChange): Promise<Map<string, StoredState>> {
    const users = new Set(
      state.filter(({ type }) => type === "m.room.member").map((event) => event.state_key),
    );
    const events = await this.#writer.getMany<StoredState>(
      [...users].map((user) => this.#writer.keys.state(roomId, "m.room.member", user)),
    );
    return new Map(events.filter((event) => event !== undefined).map((event) => [event.state_key, event]));
  }
}

/**
 * The Store: the single writer of what is kept.
 *
 * @module
 */

import { ValueError } from "../errors/value_error.ts";
import type { Logger } from "../log.ts";
import { StoreKeys } from "../store/keys.ts";
import type { KvKey, KvMutation, KvStore } from "../store/kv_store.ts";
import type { RoomRecord, StoredState, SyncRecord } from "../store/records.ts";
import type { Membership } from "../types/enums.ts";
import type { RoomID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { Actor } from "./actor.ts";
import { fatal } from "./actor_error.ts";
import { spawn } from "./spawn.ts";
import type { FormerMemberships, RoomChange, StoreProtocol, SyncChange } from "./store_protocol.ts";

/** What the Store is made of. */
export interface StoreOptions {
  /** Where everything is kept. */
  readonly kv: KvStore;
  /** Whether to close it in the end: who opened it closes it. */
  readonly close: boolean;
  /** Where failures are told. */
  readonly log?: Logger;
}

/** Starts the Store. */
export function spawnStore({ kv, close, log }: StoreOptions): Actor<StoreProtocol> {
  const store = new Store(kv);
  return spawn<StoreProtocol>({
    name: "store",
    log,
    handlers: {
      open: (prefix) => store.open(prefix),
      position: () => store.position(),
      move: (nextBatch) => store.savePosition({ nextBatch, handled: nextBatch }),
      commitSync: (change) => orFatal(store.commitSync(change)),
      handled: (handled) => orFatal(store.savePosition({ handled })),
      saveFilter: (filter) => store.savePosition({ filter }),
      getState: ({ roomId, type, stateKey }) =>
        store.get<StoredState>((keys) => keys.state(roomId, type, stateKey)),
      listState: ({ roomId, type }) => store.list<StoredState>((keys) => keys.states(roomId, type)),
      putState: ({ roomId, events }) => store.putState(roomId, events),
      replaceMembers: ({ roomId, events, only, complete }) =>
        store.replaceMembers(roomId, events, only, complete),
      room: (roomId) => store.room(roomId),
      rooms: () => store.list<RoomRecord>((keys) => keys.rooms()),
      setMembership: ({ roomId, membership }) => store.changeRoom(roomId, { membership }),
      setEncryption: ({ roomId, encryption }) => store.setEncryption(roomId, encryption),
    },
    onStop: () => close ? kv.close() : undefined,
  });
}

/** A commit of the sync stream that fails leaves memory ahead of what is kept: nothing may go on. */
async function orFatal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw fatal(error);
  }
}

class Store {
  readonly #kv: KvStore;
  #prefix: KvKey | undefined;
  #keys: StoreKeys | undefined;
  #position: SyncRecord | undefined;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  open(prefix: KvKey): void {
    if (this.#prefix !== undefined && this.#prefix.join("\0") !== prefix.join("\0")) {
      throw new ValueError(
        `Cannot open the store for ${prefix.join(" ")}: it is open for ${
          this.#prefix.join(" ")
        }; make a new Client`,
      );
    }
    this.#prefix = prefix;
    this.#keys = new StoreKeys(prefix);
  }

  async position(): Promise<SyncRecord> {
    return this.#position ??= await this.get<SyncRecord>((keys) => keys.sync()) ?? {};
  }

  async savePosition(change: Partial<SyncRecord>): Promise<void> {
    const position = { ...await this.position(), ...change };
    await this.#commit([set(this.#open.sync(), position)]);
    this.#position = position;
  }

  async commitSync({ nextBatch, rooms }: SyncChange): Promise<FormerMemberships> {
    const position = { ...await this.position(), nextBatch };
    const mutations: KvMutation[] = [];
    const former = new Map<RoomID, Map<number, Membership>>();
    const records = await this.#getMany<RoomRecord>(rooms.map(({ roomId }) => this.#open.room(roomId)));
    for (const [index, room] of rooms.entries()) {
      const record = records[index];
      if (record !== undefined) former.set(room.roomId, await this.#formerMemberships(room));
      if (record !== undefined && record.membership !== "join" && room.membership === "join") {
        mutations.push(...await this.#removals(room.roomId));
      }
      mutations.push(...this.#stateMutations(room.roomId, room.state));
      const next = nextRecord(room, record);
      if (next !== record) mutations.push(set(this.#open.room(room.roomId), next));
    }
    mutations.push(set(this.#open.sync(), position));
    await this.#commit(mutations);
    this.#position = position;
    return former;
  }

  async putState(roomId: RoomID, events: readonly StoredState[]): Promise<void> {
    const mutations = this.#stateMutations(roomId, events);
    const encryption = encryptionIn(events);
    if (encryption !== undefined) mutations.push(...await this.#roomMutations(roomId, { encryption }));
    await this.#commit(mutations);
  }

  async replaceMembers(
    roomId: RoomID,
    events: readonly StoredState[],
    only: Membership | undefined,
    complete: boolean,
  ): Promise<void> {
    const old = await this.list<StoredState>((keys) => keys.states(roomId, "m.room.member"));
    const removals = old
      .filter((event) => only === undefined || event.content.membership === only)
      .map((event): KvMutation => ({
        type: "delete",
        key: this.#open.state(roomId, event.type, event.state_key),
      }));
    const record = complete ? await this.#roomMutations(roomId, { allMembers: true }) : [];
    await this.#commit([...removals, ...this.#stateMutations(roomId, events), ...record]);
  }

  async room(roomId: RoomID): Promise<RoomRecord | undefined> {
    return await this.get<RoomRecord>((keys) => keys.room(roomId));
  }

  async changeRoom(roomId: RoomID, change: Partial<RoomRecord>): Promise<void> {
    await this.#commit(await this.#roomMutations(roomId, change));
  }

  async setEncryption(roomId: RoomID, encryption: JsonObject | false): Promise<void> {
    await this.changeRoom(roomId, { encryption });
  }

  async get<T>(key: (keys: StoreKeys) => KvKey): Promise<T | undefined> {
    const [value] = await this.#getMany<T>([key(this.#open)]);
    return value;
  }

  async list<T>(prefix: (keys: StoreKeys) => KvKey): Promise<T[]> {
    const found: T[] = [];
    for await (const { value } of this.#kv.list(prefix(this.#open))) found.push(value as T);
    return found;
  }

  get #open(): StoreKeys {
    if (this.#keys !== undefined) return this.#keys;
    throw new ValueError("Cannot use the store: it has not been opened for an account yet");
  }

  /** Values are ours, written by this class: what is read is what was written. */
  async #getMany<T>(keys: readonly KvKey[]): Promise<(T | undefined)[]> {
    if (keys.length === 0) return [];
    const entries = await this.#kv.getMany(keys);
    return entries.map((entry) => entry?.value as T | undefined);
  }

  async #commit(mutations: readonly KvMutation[]): Promise<void> {
    if (mutations.length > 0) await this.#kv.commit(mutations);
  }

  #stateMutations(roomId: RoomID, events: readonly StoredState[]): KvMutation[] {
    const keys = this.#open;
    return events.map((event) => set(keys.state(roomId, event.type, event.state_key), event));
  }

  async #roomMutations(roomId: RoomID, change: Partial<RoomRecord>): Promise<KvMutation[]> {
    const record = await this.room(roomId) ?? { roomId, membership: "leave", allMembers: false };
    const encryption = record.encryption || change.encryption;
    return [set(this.#open.room(roomId), { ...record, ...change, encryption })];
  }

  /** State of a room that the user was not in may miss what has happened since, and is given anew at the join. */
  async #removals(roomId: RoomID): Promise<KvMutation[]> {
    const old = await this.list<StoredState>((keys) => keys.states(roomId));
    return old.map((event) => ({
      type: "delete",
      key: this.#open.state(roomId, event.type, event.state_key),
    }));
  }

  async #formerMemberships({ roomId, state }: RoomChange): Promise<Map<number, Membership>> {
    const members = [...state.entries()].filter(([, event]) => event.type === "m.room.member");
    const stored = await this.#getMany<StoredState>(
      members.map(([, event]) => this.#open.state(roomId, event.type, event.state_key)),
    );
    const current = new Map<string, unknown>();
    members.forEach(([, event], at) => current.set(event.state_key, stored[at]?.content.membership));
    const former = new Map<number, Membership>();
    for (const [index, event] of members) {
      const membership = current.get(event.state_key);
      if (typeof membership === "string") former.set(index, membership as Membership);
      current.set(event.state_key, event.content.membership);
    }
    return former;
  }
}

function set(key: KvKey, value: unknown): KvMutation {
  return { type: "set", key, value };
}

/** The content of an `m.room.encryption` that counts: the first, in the state key that counts. */
function encryptionIn(events: readonly StoredState[]): JsonObject | undefined {
  const event = events.find(({ type, state_key }) => type === "m.room.encryption" && state_key === "");
  return isJsonObject(event?.content) ? event.content : undefined;
}

function nextRecord(
  { roomId, membership, state, complete, lossy }: RoomChange,
  record?: RoomRecord,
): RoomRecord {
  const entered = membership === "join" && record?.membership !== "join";
  const allMembers = entered ? complete : record?.allMembers === true && !lossy;
  const encryption = record?.encryption || encryptionIn(state) || record?.encryption;
  const same = record?.membership === membership && record.allMembers === allMembers &&
    record.encryption === encryption;
  return same ? record : { roomId, membership, allMembers, encryption };
}

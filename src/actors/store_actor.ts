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
import type { RoomID, SyncToken } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { Actor } from "./actor.ts";
import { fatal } from "./actor_error.ts";
import { spawn } from "./spawn.ts";
import type {
  FormerRoom,
  FormerRooms,
  KeptRecord,
  RoomChange,
  StoreProtocol,
  SyncChange,
} from "./store_protocol.ts";

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
      move: (nextBatch) => store.move(nextBatch),
      commitSync: (change) => store.commitSync(change),
      handled: (token) => store.handled(token),
      saveFilter: (filter) => store.savePosition({ filter }),
      getState: ({ roomId, type, stateKey }) =>
        store.get<StoredState>((keys) => keys.state(roomId, type, stateKey)),
      listState: ({ roomId, type }) => store.list<StoredState>((keys) => keys.states(roomId, type)),
      putState: ({ roomId, events }) => store.putState(roomId, events),
      replaceMembers: ({ roomId, events, only, complete }) =>
        store.replaceMembers(roomId, events, only, complete),
      room: (roomId) => store.room(roomId),
      rooms: () => store.list<RoomRecord>((keys) => keys.rooms()),
      noEncryption: (roomId) => store.noEncryption(roomId),
      readRecords: (keys) => store.readRecords(keys),
      listRecords: (prefix) => store.listRecords(prefix),
      commitRecords: (mutations) => store.commitRecords(mutations),
    },
    onStop: () => close ? kv.close() : undefined,
  });
}

/** How long a room's ID may be, in UTF-16 units. */
const MAX_ROOM_ID = 255;

class Store {
  readonly #kv: KvStore;
  #keys: StoreKeys | undefined;
  #position: SyncRecord | undefined;
  /** Tokens that were committed and not handled yet, from old to new. */
  readonly #unhandled = new Set<SyncToken>();

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  open(prefix: KvKey): void {
    this.#keys = new StoreKeys(prefix);
  }

  async position(): Promise<SyncRecord> {
    return this.#position ??= await this.get<SyncRecord>((keys) => keys.sync()) ?? {};
  }

  async savePosition(change: Partial<SyncRecord>): Promise<void> {
    const { first, ...before } = await this.position();
    const isNew = first !== undefined && !("handled" in change);
    const position = { ...before, ...(isNew && { first }), ...change };
    await this.#commit([set(this.#open.sync(), position)]);
    this.#position = position;
  }

  async move(nextBatch: SyncToken | undefined): Promise<void> {
    this.#unhandled.clear(); // what was on its way belongs to the position that is left
    await this.savePosition({ nextBatch, handled: nextBatch });
  }

  async handled(token: SyncToken): Promise<void> {
    if (!this.#unhandled.has(token)) return;
    for (const older of this.#unhandled) {
      this.#unhandled.delete(older);
      if (older === token) break;
    }
    await this.savePosition({ handled: token });
  }

  async commitSync({ nextBatch, rooms }: SyncChange): Promise<FormerRooms> {
    const before = await this.position();
    const first = before.handled === undefined && { first: before.first ?? nextBatch };
    const position = { ...before, nextBatch, ...first };
    const mutations: KvMutation[] = [];
    const former: (FormerRoom | undefined)[] = [];
    const ids = [...new Set(rooms.flatMap((room) => [room.roomId, ...predecessorIn(room.state)]))];
    const stored = await this.#getMany<RoomRecord>(ids.map((roomId) => this.#open.room(roomId)));
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
      const next = nextRecord(room, record, inherited(room.state, records));
      if (next !== record) mutations.push(set(this.#open.room(room.roomId), next));
      records.set(room.roomId, next);
    }
    mutations.push(set(this.#open.sync(), position));
    await this.#commit(mutations);
    this.#position = position;
    this.#unhandled.add(nextBatch);
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

  async noEncryption(roomId: RoomID): Promise<void> {
    await this.#commit(await this.#roomMutations(roomId, { encryption: false }));
  }

  async readRecords(keys: readonly KvKey[]): Promise<unknown[]> {
    return await this.#getMany(keys.map((key) => this.#open.record(key)));
  }

  async listRecords(prefix: KvKey): Promise<KeptRecord[]> {
    const found: KeptRecord[] = [];
    const from = this.#open.record([]).length;
    for await (const { key, value } of this.#kv.list(this.#open.record(prefix))) {
      found.push({ key: key.slice(from), value });
    }
    return found;
  }

  async commitRecords(mutations: readonly KvMutation[]): Promise<void> {
    await this.#commit(mutations.map((mutation) => ({ ...mutation, key: this.#open.record(mutation.key) })));
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

  /** Whether a commit that fails took effect is not known: nothing may go on from there. */
  async #commit(mutations: readonly KvMutation[]): Promise<void> {
    try {
      if (mutations.length > 0) await this.#kv.commit(mutations);
    } catch (error) {
      throw fatal(error);
    }
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

  /** The kept member events of those whose membership a change is about. */
  async #members({ roomId, state }: RoomChange): Promise<Map<string, StoredState>> {
    const users = new Set(
      state.filter(({ type }) => type === "m.room.member").map((event) => event.state_key),
    );
    const events = await this.#getMany<StoredState>(
      [...users].map((user) => this.#open.state(roomId, "m.room.member", user)),
    );
    return new Map(events.filter((event) => event !== undefined).map((event) => [event.state_key, event]));
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

/** The room that a room was made in the place of. */
function predecessorIn(events: readonly StoredState[]): RoomID[] {
  const create = events.find(({ type, state_key }) => type === "m.room.create" && state_key === "");
  const predecessor = create?.content.predecessor;
  const roomId = isJsonObject(predecessor) ? predecessor.room_id : undefined;
  return typeof roomId === "string" && roomId.startsWith("!") && roomId.length <= MAX_ROOM_ID
    ? [roomId as RoomID]
    : [];
}

/** The encryption of the room before: who upgrades an encrypted room must not end in one that is not. */
function inherited(
  events: readonly StoredState[],
  records: ReadonlyMap<RoomID, RoomRecord | undefined>,
): JsonObject | undefined {
  const [roomId] = predecessorIn(events);
  return (roomId && records.get(roomId)?.encryption) || undefined;
}

function nextRecord(
  { roomId, membership, state, complete, lossy }: RoomChange,
  record: RoomRecord | undefined,
  carriedOver: JsonObject | undefined,
): RoomRecord {
  const entered = membership === "join" && record?.membership !== "join";
  const allMembers = entered ? complete : record?.allMembers === true && !lossy;
  const encryption = record?.encryption || encryptionIn(state) || carriedOver || record?.encryption;
  const same = record?.membership === membership && record.allMembers === allMembers &&
    record.encryption === encryption;
  return same ? record : { roomId, membership, allMembers, encryption };
}

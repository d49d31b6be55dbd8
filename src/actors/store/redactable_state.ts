/**
 * The state of rooms, as redactions leave it.
 *
 * @module
 */

import { WeighedCache } from "../../base/weighed_cache.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { KvMutation } from "../../store/base/mod.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import { redactedId, redactedState, versionOf } from "./redaction.ts";
import type { PrunedRooms, RoomChange, StateQuery } from "./store_protocol.ts";
import type { RoomState } from "./stored_room_state.ts";

/** How many IDs are remembered: some 10 MB. */
const REMEMBERED = 50_000;
/** How many IDs of state that was replaced may be among those of a room, beside as many as it had at first. */
const MAX_REPLACED = 1_000;

/** The events that have set the state of a room, and some before them. */
interface Known {
  readonly ids: Map<EventID, StateQuery>;
  /** With more than so many, they are read again when they are needed. */
  readonly limit: number;
}

/**
 * The state of rooms, of which pieces can be redacted. A redaction names an event: to find it, the state of a
 * room in which something is redacted is read once, and its IDs are remembered; nothing more is written.
 */
export class RedactableState implements RoomState {
  readonly #state: RoomState;
  readonly #rooms = new WeighedCache<RoomID, Known>(REMEMBERED);

  /** @param state The state. */
  constructor(state: RoomState) {
    this.#state = state;
  }

  /**
   * Redacts state, by the rules of the room's version.
   *
   * @param change What a response changes of a room, after its state was set.
   * @param which Whether the stored state, too, or only that of the change.
   * @param mutations Where to add what changes.
   */
  async redact(
    { roomId, state, redactions }: Pick<RoomChange, "roomId" | "state" | "redactions">,
    which: "stored" | "new",
    mutations: KvMutation[],
  ): Promise<void> {
    if (redactions === undefined) return;
    const changed = new Map(state.map((event) => [nameOf(event), event]));
    const create = { roomId, type: "m.room.create", stateKey: "" };
    const version = versionOf(changed.get(CREATE) ?? (await this.getMany([create]))[0]);
    const byId = new Map<EventID | undefined, MessageEvent>();
    for (const redaction of redactions) byId.set(redactedId(redaction, version), redaction);
    byId.delete(undefined);
    const stored = which === "new" ? [] : await this.#find(roomId, new Set(byId.keys()));
    const events = [...changed.values(), ...stored.filter((event) => !changed.has(nameOf(event)))];
    const redacted = events.flatMap((event) => {
      const redaction = byId.get(event.event_id);
      return redaction === undefined ? [] : [redactedState(event, redaction, version)];
    });
    if (redacted.length > 0) this.set(roomId, redacted, mutations);
  }

  /** The pieces of a room's state that events with these IDs have set. */
  async #find(roomId: RoomID, ids: ReadonlySet<EventID | undefined>): Promise<StoredState[]> {
    if (ids.size === 0) return [];
    let known = this.#rooms.get(roomId);
    if (known === undefined) {
      const state = await this.#state.list(roomId);
      known = { ids: new Map(), limit: 2 * state.length + MAX_REPLACED };
      this.#note(known, roomId, state);
    }
    const queries = [...ids].map((id) => id && known.ids.get(id)).filter((query) => query !== undefined);
    if (queries.length === 0) return [];
    const found = await this.#state.getMany(queries as StateQuery[]);
    return found.filter((event) => event !== undefined && ids.has(event.event_id)) as StoredState[];
  }

  async getMany(queries: readonly StateQuery[]): Promise<(StoredState | undefined)[]> {
    return await this.#state.getMany(queries);
  }

  async list(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return await this.#state.list(roomId, type);
  }

  set(roomId: RoomID, events: readonly StoredState[], mutations: KvMutation[]): void {
    const known = this.#rooms.get(roomId);
    if (known !== undefined) this.#note(known, roomId, events);
    this.#state.set(roomId, events, mutations);
  }

  remove(roomId: RoomID, events: readonly StoredState[], mutations: KvMutation[]): void {
    this.#state.remove(roomId, events, mutations);
  }

  async clear(roomId: RoomID, limit: number, mutations: KvMutation[]): Promise<PrunedRooms> {
    this.#rooms.delete(roomId);
    return await this.#state.clear(roomId, limit, mutations);
  }

  #note(known: Known, roomId: RoomID, events: readonly StoredState[]): void {
    for (const { event_id, type, state_key } of events) {
      if (event_id !== undefined) known.ids.set(event_id, { roomId, type, stateKey: state_key });
    }
    if (known.ids.size > known.limit) this.#rooms.delete(roomId);
    else this.#rooms.set(roomId, known, known.ids.size);
  }
}

const CREATE = nameOf({ type: "m.room.create", state_key: "" });

/** Names a piece of state. */
function nameOf({ type, state_key }: Pick<StoredState, "type" | "state_key">): string {
  return JSON.stringify([type, state_key]);
}

/**
 * What changes the stored state of rooms beside syncs: redactions, and requests that read or send state.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { StoreMutation } from "../../store/base/mod.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import type { PrunedRooms, RoomChange, StateQuery, StateRead } from "./store_protocol.ts";
import { nameOf, type RoomState } from "./room_state.ts";
import { redactedId, redactedState, versionOf } from "./redaction.ts";

/** How many IDs are remembered: some 10 MB. */
const REMEMBERED = 50_000;
/** How many IDs of replaced state may be among those of a room, beside as many as it had at first. */
const MAX_REPLACED = 1_000;

/** The events that have set the state of a room, and some before them. */
interface Known {
  readonly ids: Map<EventID, StateQuery>;
  /** With more than so many, they are read again when they are needed. */
  readonly limit: number;
}

/** What a response changes of the state of a room. */
type RedactedChange = Pick<RoomChange, "roomId" | "state" | "gone" | "redactions">;

/** The redactions in a response. */
interface Redactions {
  /** The events that they name. */
  readonly ids: ReadonlySet<EventID | undefined>;
  /** Returns what is left of an event; undefined if it is not redacted. */
  from(event: StoredState): StoredState | undefined;
}

/**
 * The state of rooms, of which pieces can be redacted. A redaction names an event: to find it, the state of a
 * room in which something is redacted is read once, and its IDs are remembered; nothing more is written.
 */
export class RedactableState {
  /** The state itself, to read it. */
  readonly stored: RoomState;
  readonly #rooms = new RecentMap<RoomID, Known>(REMEMBERED);

  /** @param state The state. */
  constructor(state: RoomState) {
    this.stored = state;
  }

  /**
   * Sets the state of a room that the user comes into, after the redactions of the same response.
   *
   * @param change What the response changes of the room.
   * @param isKnown Whether the room was known.
   * @param mutations Where to add what changes.
   * @returns What was redacted.
   */
  async enter(
    change: RedactedChange,
    isKnown: boolean,
    mutations: StoreMutation[],
  ): Promise<StoredState[]> {
    const { roomId, state } = change;
    const redacts = await this.#redactionsOf(change);
    this.#rooms.remove(roomId);
    const left = redacts === undefined ? state : state.map((event) => redacts.from(event) ?? event);
    await this.stored.begin(roomId, left, isKnown, mutations);
    return redacts === undefined ? [] : left.filter((event, index) => event !== state[index]);
  }

  /**
   * Redacts state, by the rules of the room's version.
   *
   * @param change What a response changes of a room, after its state was set.
   * @param which Whether the stored state, too, or only that of the change.
   * @param mutations Where to add what changes.
   * @returns What was redacted.
   */
  async redact(
    change: RedactedChange,
    which: "stored" | "new",
    mutations: StoreMutation[],
  ): Promise<StoredState[]> {
    const { roomId, state, gone = [] } = change;
    const redacts = await this.#redactionsOf(change);
    if (redacts === undefined) return [];
    const changed = new Map(state.map((event) => [nameOf(event), event]));
    const stored = which === "new" ? [] : await this.#find(roomId, redacts.ids, state);
    const removed = gone.filter((piece) => !changed.has(nameOf(piece)));
    const others = new Set([...changed.keys(), ...removed.map(nameOf)]);
    const events = [...changed.values(), ...stored.filter((event) => !others.has(nameOf(event)))];
    const redacted = events.flatMap((event) => redacts.from(event) ?? []);
    if (which === "stored" || redacted.length > 0) {
      const own = new Set(state.map(({ event_id }) => event_id));
      const ids = which === "stored" ? redacts.ids : redacts.ids.intersection(own);
      await this.stored.remove(roomId, removed, mutations, ids);
      this.set(roomId, redacted, mutations);
    }
    return redacted;
  }

  /** Returns what a response redacts of a room; undefined if nothing. */
  async #redactionsOf({ roomId, state, redactions }: RedactedChange): Promise<Redactions | undefined> {
    if (redactions === undefined) return undefined;
    const create = state.findLast((event) => nameOf(event) === CREATE) ??
      (await this.stored.getMany([{ roomId, type: "m.room.create", stateKey: "" }]))[0];
    const version = versionOf(create);
    const byId = new Map<EventID | undefined, MessageEvent>();
    for (const redaction of redactions) byId.set(redactedId(redaction, version), redaction);
    byId.delete(undefined);
    return {
      ids: new Set(byId.keys()),
      from(event) {
        const redaction = byId.get(event.event_id);
        return redaction && redactedState(event, redaction, version);
      },
    };
  }

  /**
   * The pieces of a room's state that events with these IDs have set.
   *
   * @param news What the same commit sets, which a list does not have yet.
   */
  async #find(
    roomId: RoomID,
    ids: ReadonlySet<EventID | undefined>,
    news: readonly StoredState[],
  ): Promise<StoredState[]> {
    if (ids.size === 0) return [];
    let known = this.#rooms.get(roomId);
    if (known === undefined) {
      const state = [...await this.stored.list(roomId), ...news];
      known = { ids: new Map(), limit: 2 * state.length + MAX_REPLACED };
      this.#note(known, roomId, state);
    }
    const queries = [...ids].map((id) => id && known.ids.get(id)).filter((query) => query !== undefined);
    if (queries.length === 0) return [];
    const found = await this.stored.getMany(queries as StateQuery[]);
    return found.filter((event) => event !== undefined && ids.has(event.event_id)) as StoredState[];
  }

  /** Sets pieces of a room's state: of each the last of the events. */
  set(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void {
    const known = this.#rooms.get(roomId);
    if (known !== undefined) this.#note(known, roomId, events);
    this.stored.set(roomId, events, mutations);
  }

  /** Removes some of a room's state, as {@link RoomState.clear} does. */
  async clear(roomId: RoomID, limit: number, mutations: StoreMutation[]): Promise<PrunedRooms> {
    this.#rooms.remove(roomId);
    return await this.stored.clear(roomId, limit, mutations);
  }

  #note(known: Known, roomId: RoomID, events: readonly StoredState[]): void {
    for (const { event_id, type, state_key } of events) {
      if (event_id !== undefined) known.ids.set(event_id, { roomId, type, stateKey: state_key });
    }
    if (known.ids.size > known.limit) this.#rooms.remove(roomId);
    else this.#rooms.set(roomId, known, known.ids.size);
  }
}

/** Names the event that has created a room. */
export const CREATE = nameOf({ type: "m.room.create", state_key: "" });

interface Overtaken {
  readonly roomId: RoomID;
  /** The pieces of state that syncs have changed since the request began. */
  readonly pieces: Set<string>;
  /** Whether members may have changed, too, of whom the syncs did not tell. */
  lossy: boolean;
}

/**
 * The requests under way that read or send state of a room: what a sync has changed since one of them began
 * is newer than its answer.
 */
export class ReadsUnderWay {
  readonly #reads = new Map<StateRead["read"], Overtaken>();
  /** Whether there are any: a field, which each transaction of an application service asks for. */
  areUnderWay = false;

  /** Counts a request as under way, until it ends. */
  begin({ read, roomId }: StateRead): void {
    this.#reads.set(read, { roomId, pieces: new Set(), lossy: false });
    this.areUnderWay = true;
  }

  /** Forgets a request. */
  end(read: number): void {
    this.#reads.delete(read);
    this.areUnderWay = this.#reads.size > 0;
  }

  /** Notes what a sync response changes of a room, and which stored state it redacts. */
  overtake({ roomId, state, gone = [], lossy }: RoomChange, redacted: readonly StoredState[]): void {
    for (const read of this.#reads.values()) {
      if (read.roomId !== roomId) continue;
      for (const event of state) read.pieces.add(nameOf(event));
      for (const piece of gone) read.pieces.add(nameOf(piece));
      for (const event of redacted) read.pieces.add(nameOf(event));
      read.lossy ||= lossy;
    }
  }

  /** Those of a room's events that no sync has changed since a request began. Without a request: all. */
  current(events: readonly StoredState[], read: number | undefined): readonly StoredState[] {
    const overtaken = read === undefined ? undefined : this.#reads.get(read);
    if (overtaken === undefined || overtaken.pieces.size === 0) return events; // the usual case
    return events.filter((event) => !overtaken.pieces.has(nameOf(event)));
  }

  /** Returns whether members may have changed since a request began, without being told. */
  isLossy(read: number | undefined): boolean {
    return read !== undefined && this.#reads.get(read)?.lossy === true;
  }
}

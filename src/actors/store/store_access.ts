/**
 * The Store as a client uses it: opened for the account that acts,
 * and given the state that the client has sent and read.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { ValueError } from "../../errors/matrix_error.ts";
import type { StoreKey } from "../../store/base/mod.ts";
import type { RoomPower, RoomRecord, StoredState } from "../../store/device/mod.ts";
import { Misfit, UNNOTED } from "../../types/checks/shape.ts";
import { roomMember } from "../../types/checks/state_shapes.ts";
import type { RoomMemberContent } from "../../types/content/room_state_content.ts";
import { Membership } from "../../types/enums.ts";
import { SyncStream } from "../../types/events/event.ts";
import type { DeviceID, EventID, RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { StoreHandlers } from "./store_actor.ts";
import type { StateRead } from "./store_protocol.ts";

/** A Store that is opened before it is asked. */
export interface OpenableStore {
  /** The Store; another, if that takes its place. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens it, the first time. */
  readonly ready: OpenStore;
}

/** The Store, once it is open. */
export async function openedStore(actors: OpenableStore): Promise<ActorRef<StoreHandlers>> {
  await actors.ready();
  return actors.store;
}

/** The record of a room; undefined: it is not known. */
export async function roomIn(actors: OpenableStore, roomId: RoomID): Promise<RoomRecord | undefined> {
  return await (await openedStore(actors)).room(roomId);
}

/** The state that says who may do what in a room; undefined: it is not known. */
export async function powerIn(actors: OpenableStore, roomId: RoomID): Promise<RoomPower | undefined> {
  const store = await openedStore(actors);
  const [powerLevels, create, room] = await Promise.all([
    store.getState({ roomId, type: "m.room.power_levels", stateKey: "" }),
    store.getState({ roomId, type: "m.room.create", stateKey: "" }),
    store.room(roomId),
  ]);
  // An invitation does not show the levels; the state of a joined room is complete.
  if (powerLevels === undefined && room?.membership !== Membership.JOIN) return undefined;
  const content = isJsonObject(powerLevels?.content) ? powerLevels.content : undefined;
  return create && { powerLevels: content, create }; // creators may stand above all levels
}

/** The content of a member event; undefined if it does not fit. */
export function memberContent({ content }: StoredState): RoomMemberContent | undefined {
  const fitting = roomMember(content, UNNOTED);
  return fitting instanceof Misfit ? undefined : fitting;
}

/** Who acts. */
export interface Account {
  /** The user; empty until known. */
  readonly mxid: UserID | "";
  /** The device; undefined until known, and after a logout. */
  readonly deviceId: DeviceID | undefined;
  /** Finds out who acts. */
  account(options: { readonly signal: AbortSignal }): Promise<StoreKey>;
}

/**
 * Opens the Store.
 *
 * @param signal Ends the wait. If nothing waits any more before it is open, the opening is
 *   cancelled.
 */
export type OpenStore = (signal?: AbortSignal) => Promise<void>;

/**
 * Makes a function that opens the Store the first time, and later checks that the same user and
 * device act.
 *
 * @param shared Whether the store may have records of other accounts, so that it matters who acts.
 * @returns Rejects with a `ValueError` if the account is another than before.
 */
export function storeOpener(store: ActorRef<StoreHandlers>, session: Account, shared: boolean): OpenStore {
  const opening = new Opening(async (signal) => {
    await store.open(shared ? await session.account({ signal }) : [], { signal });
  });
  let owner: Pick<Account, "mxid" | "deviceId"> = { mxid: "", deviceId: undefined };
  return async (signal) => {
    if (!opening.isOpen) await opening.join(signal);
    const mxid = session.mxid || owner.mxid;
    const deviceId = session.deviceId ?? owner.deviceId;
    const isOther = (owner.mxid !== "" && mxid !== owner.mxid) ||
      (owner.deviceId !== undefined && deviceId !== owner.deviceId);
    if (isOther) {
      throw new ValueError(
        `Cannot use the store for ${mxid} ${deviceId}: it is open for ${owner.mxid} ${owner.deviceId}; make a new Client`,
      );
    }
    owner = { mxid, deviceId };
  };
}

/**
 * Work that is done once for all who wait for it, and cancelled when none of them waits any more.
 */
class Opening {
  readonly #work: (signal: AbortSignal) => Promise<void>;
  /** Whether it is done. */
  isOpen = false;
  #attempt: { readonly done: Promise<void>; readonly abort: AbortController; waiting: number } | undefined;

  constructor(work: (signal: AbortSignal) => Promise<void>) {
    this.#work = work;
  }

  async join(signal: AbortSignal | undefined): Promise<void> {
    const attempt = this.#attempt ??= this.#begin();
    attempt.waiting++;
    try {
      await (signal === undefined ? attempt.done : abortable(attempt.done, signal));
      this.isOpen = true;
    } finally {
      if (--attempt.waiting === 0) {
        attempt.abort.abort(signal?.reason); // no effect if it is open or has failed
        if (this.#attempt === attempt) this.#attempt = undefined;
      }
    }
  }

  #begin() {
    const abort = new AbortController();
    const done = this.#work(abort.signal);
    done.catch(() => {}); // `join()` rejects with it
    return { done, abort, waiting: 0 };
  }
}

/** Reads the members of a room that are stored. */
interface KnownMembers {
  getMembers(roomId: RoomID, memberships: readonly Membership[]): Promise<Map<UserID, RoomMemberContent>>;
}

/** Stores state that the server has sent or accepted, in between syncs. */
export class StateUpdates {
  readonly #actors: OpenableStore;
  readonly #state: KnownMembers;
  /** The request whose answer is stored; undefined outside of `during()`. */
  readonly #read: number | undefined;
  #reads = 0;

  /**
   * @param actors Have the Store.
   * @param state What is stored.
   * @param read The request whose answer is stored.
   */
  constructor(actors: OpenableStore, state: KnownMembers, read?: number) {
    this.#actors = actors;
    this.#state = state;
    this.#read = read;
  }

  /**
   * Makes a request that reads or sends state. Of its answer, what syncs have changed since it began is left
   * out.
   *
   * @param roomId The room.
   * @param request Makes it, and stores the answer by the updates that it is given.
   */
  async during<Answer>(roomId: RoomID, request: (updates: StateUpdates) => Promise<Answer>): Promise<Answer> {
    const read = this.#reads++;
    const updates = new StateUpdates(this.#actors, this.#state, read);
    return await whileReading(this.#actors, { read, roomId }, () => request(updates));
  }

  /**
   * Replaces the known members of a room.
   *
   * @param roomId The room.
   * @param members Their member events.
   * @param options.only Replace only users who are this to the room. Default: all.
   * @param options.complete Whether these are all members there are. Default: whether `only` is
   *   absent.
   */
  async setMembers(
    roomId: RoomID,
    members: readonly StoredState[],
    { only, complete = only === undefined }: { only?: Membership; complete?: boolean } = {},
  ): Promise<void> {
    await (await openedStore(this.#actors)).replaceMembers({
      roomId,
      events: members,
      only,
      complete,
      read: this.#read,
    });
  }

  /**
   * Stores who is in a room: other users who counted as joined have left. Invitations stay as they
   * were.
   *
   * @param roomId The room.
   * @param joined All who are in it, with their profiles there.
   */
  async setJoinedMembers(roomId: RoomID, joined: ReadonlyMap<UserID, RoomMemberContent>): Promise<void> {
    const known = await this.#state.getMembers(roomId, [Membership.JOIN]);
    const gone = [...known].filter(([userId]) => !joined.has(userId));
    const events = [
      ...[...joined].filter(([userId]) => !known.has(userId)),
      ...gone.map(([userId, content]) => [userId, { ...content, membership: Membership.LEAVE }] as const),
    ];
    await this.updateState(
      roomId,
      events.map(([userId, content]) => synthetic(roomId, "m.room.member", userId, content)),
    );
  }

  /** Stores state that the server sent or accepted. */
  async updateState(roomId: RoomID, events: readonly StoredState[]): Promise<void> {
    await (await openedStore(this.#actors)).putState({ roomId, events, read: this.#read });
  }

  /** Stores a content that was sent or read, and its event's ID, unless that event is known as a whole. */
  async updateContent(
    roomId: RoomID,
    type: string,
    stateKey: string,
    content: object,
    { eventId }: { eventId?: EventID } = {},
  ): Promise<void> {
    const event = { ...synthetic(roomId, type, stateKey, content), ...(eventId && { event_id: eventId }) };
    await (await openedStore(this.#actors)).putContent({ event, read: this.#read });
  }

  /**
   * Stores that the server says a room has no encryption; an encryption that was seen once stays.
   */
  async setUnencrypted(roomId: RoomID): Promise<void> {
    await (await openedStore(this.#actors)).noEncryption(roomId);
  }
}

/** A state event of which only the content is known. */
function synthetic(roomId: RoomID, type: string, stateKey: string, content: object): StoredState {
  return {
    type,
    room_id: roomId,
    state_key: stateKey,
    content: content as JsonObject,
    sender: "@:",
    source: SyncStream.INTERNAL,
  };
}

/**
 * Makes a request, which the Store counts as under way while it lasts. The request does not wait for the
 * Store: one that is not open yet commits no sync before it hears of the request.
 *
 * @param actors Have the Store.
 * @param read Names the request, and the room.
 * @param request Makes it, and stores its answer.
 */
async function whileReading<Answer>(
  actors: OpenableStore,
  read: StateRead,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const ends = new AbortController();
  const begin = async () => {
    await actors.ready(ends.signal);
    const { store } = actors;
    await store.beginRead(read);
    return store;
  };
  const begun = begin().catch(() => undefined); // a store that fails says so elsewhere
  try {
    return await request();
  } finally {
    ends.abort();
    begun.then((store) => store?.endRead(read)).catch(() => {}); // with the Store, its reads have ended
  }
}

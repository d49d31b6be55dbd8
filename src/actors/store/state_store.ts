/**
 * The room state that a client stores, as applications read it.
 *
 * Over 300 lines because half of it is the documentation of what applications read.
 *
 * @module
 */

import {
  hasPower,
  type PowerAction,
  powerLevelOf,
  type RoomPower,
  type RoomRecord,
  type StoredState,
} from "../../store/device/mod.ts";
import { Membership } from "../../types/enums.ts";
import type { RoomMemberContent } from "../../types/content/room_state_content.ts";
import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { OpenableStore } from "./opener.ts";
import type { StoreHandlers } from "./store_actor.ts";
import { Misfit, UNNOTED } from "../../types/checks/shape.ts";
import { roomMember } from "../../types/checks/state_shapes.ts";
import { SyncStream } from "../../types/events/event.ts";
import type { StateRead } from "./store_protocol.ts";

/** Makes a request whose answer is stored; for the client alone. */
export const DURING: unique symbol = Symbol("during");

const PRESENT: readonly Membership[] = [Membership.JOIN, Membership.INVITE];

/**
 * Room state as it was committed with the latest sync, and corrected by what this client sends and
 * reads.
 *
 * Handlers see the state that their event's sync response led to. Events are shared, not copied: do
 * not change them.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken, userId } = await homeserver.createUser("alice");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * const room = await client.createRoom({ name: "Green room" });
 * await client.syncOnce();
 * console.assert(await client.stateStore.isJoined(room, userId));
 * console.assert(await client.stateStore.hasPowerLevel(room, userId, "kick"));
 * ```
 */
export class StateStore {
  readonly #actors: OpenableStore;
  /** The request whose answer is stored; undefined outside of `[DURING]()`. */
  readonly #read: number | undefined;
  #reads = 0;

  /**
   * Made by the client.
   *
   * @internal
   * @param actors Have the Store.
   * @param read The request whose answer is stored.
   */
  constructor(actors: OpenableStore, read?: number) {
    this.#actors = actors;
    this.#read = read;
  }

  /**
   * Makes a request that reads or sends state. Of its answer, what syncs have changed since it began is left
   * out.
   *
   * @internal
   * @param roomId The room.
   * @param request Makes it, and stores the answer in the store that it is given.
   */
  async [DURING]<Answer>(roomId: RoomID, request: (store: StateStore) => Promise<Answer>): Promise<Answer> {
    const read = this.#reads++;
    const store = new StateStore(this.#actors, read);
    return await whileReading(this.#actors, { read, roomId }, () => request(store));
  }

  /**
   * One piece of a room's state.
   *
   * @param roomId The room.
   * @param type The type of state.
   * @param stateKey Which piece of it. Default: the empty key.
   * @returns The event, stripped in a room the user is not in; undefined if it is not known.
   */
  async getState(roomId: RoomID, type: string, stateKey: string = ""): Promise<StoredState | undefined> {
    return await (await this.#store()).getState({ roomId, type, stateKey });
  }

  /**
   * A room's state, as far as it is known.
   *
   * @param roomId The room.
   * @param type Only this type. Default: all.
   */
  async listState(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return await (await this.#store()).listState({ roomId, type });
  }

  /** The content of a user's member event in a room; undefined if it is not known. */
  async getMember(roomId: RoomID, userId: UserID): Promise<RoomMemberContent | undefined> {
    const event = await this.getState(roomId, "m.room.member", userId);
    return event && memberContent(event);
  }

  /**
   * The known members of a room.
   *
   * @param roomId The room.
   * @param memberships Only users who are this to the room. Default: joined and invited.
   */
  async getMembers(
    roomId: RoomID,
    memberships: readonly Membership[] = PRESENT,
  ): Promise<Map<UserID, RoomMemberContent>> {
    const events = await this.listState(roomId, "m.room.member");
    const members = new Map<UserID, RoomMemberContent>();
    for (const event of events) {
      const content = memberContent(event);
      if (content && memberships.includes(content.membership)) {
        members.set(event.state_key as UserID, content);
      }
    }
    return members;
  }

  /** Whether the known members are all there are. */
  async hasFullMemberList(roomId: RoomID): Promise<boolean> {
    return (await this.#room(roomId))?.allMembers ?? false;
  }

  /** What a user is to a room; `leave` if nothing is known. */
  async getMembership(roomId: RoomID, userId: UserID): Promise<Membership> {
    return (await this.getMember(roomId, userId))?.membership ?? Membership.LEAVE;
  }

  /** Whether a user is in a room, as far as is known. */
  async isJoined(roomId: RoomID, userId: UserID): Promise<boolean> {
    return await this.getMembership(roomId, userId) === Membership.JOIN;
  }

  /** The rooms the acting user is in. */
  async getJoinedRooms(): Promise<RoomID[]> {
    const rooms = await (await this.#store()).rooms();
    return rooms.filter(({ membership }) => membership === Membership.JOIN).map(({ roomId }) => roomId);
  }

  /** The rooms the acting user and another are both in, or invited to. */
  async findSharedRooms(userId: UserID): Promise<RoomID[]> {
    const rooms = await this.getJoinedRooms();
    const memberships = await Promise.all(rooms.map((roomId) => this.getMembership(roomId, userId)));
    return rooms.filter((_, index) => PRESENT.includes(memberships[index] ?? Membership.LEAVE));
  }

  /**
   * Whether a room is encrypted. Once true it stays true.
   *
   * @returns Undefined if it is not known.
   */
  async isEncrypted(roomId: RoomID): Promise<boolean | undefined> {
    const encryption = (await this.#room(roomId))?.encryption;
    return encryption === undefined ? undefined : encryption !== false;
  }

  /**
   * The content of the `m.room.encryption` that counts; undefined if the room has none, or it is
   * not known.
   */
  async getEncryptionInfo(roomId: RoomID): Promise<JsonObject | undefined> {
    return (await this.#room(roomId))?.encryption || undefined;
  }

  /** The content of `m.room.power_levels`; undefined if it is not known. */
  async getPowerLevels(roomId: RoomID): Promise<JsonObject | undefined> {
    const content = (await this.getState(roomId, "m.room.power_levels"))?.content;
    return isJsonObject(content) ? content : undefined;
  }

  /** The `m.room.create` event; undefined if it is not known. */
  async getCreate(roomId: RoomID): Promise<StoredState | undefined> {
    return await this.getState(roomId, "m.room.create");
  }

  /**
   * A user's power level: `Infinity` for a creator of a room of version 12 or later; undefined if
   * it is not known, since the room's create event is not, or its `m.room.power_levels`. Only of a
   * room that the user is in it is known that there are none.
   */
  async getPowerLevel(roomId: RoomID, userId: UserID): Promise<number | undefined> {
    const power = await this.#power(roomId);
    return power && powerLevelOf(userId, power);
  }

  /**
   * Whether a user's power level is known to be enough.
   *
   * @param roomId The room.
   * @param userId The user.
   * @param action What the user wants to do; any event type as `{ event: type }`, state as `{
   *   event: type, state: true }`.
   * @returns False, too, if the level is not known (`getPowerLevel()` gives undefined then).
   */
  async hasPowerLevel(roomId: RoomID, userId: UserID, action: PowerAction): Promise<boolean> {
    const power = await this.#power(roomId);
    return power !== undefined && hasPower(userId, action, power);
  }

  /** Stores a user's member event, as the server sent or accepted it. */
  async setMember(roomId: RoomID, userId: UserID, content: RoomMemberContent): Promise<void> {
    await this.updateState(roomId, [synthetic(roomId, "m.room.member", userId, content)]);
  }

  /** Stores what a user is to a room, and keeps the user's profile there. */
  async setMembership(roomId: RoomID, userId: UserID, membership: Membership): Promise<void> {
    await this.setMember(roomId, userId, { ...await this.getMember(roomId, userId), membership });
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
    await (await this.#store()).replaceMembers({ roomId, events: members, only, complete, read: this.#read });
  }

  /**
   * Stores who is in a room: other users who counted as joined have left. Invitations stay as they
   * were.
   *
   * @param roomId The room.
   * @param joined All who are in it, with their profiles there.
   */
  async setJoinedMembers(roomId: RoomID, joined: ReadonlyMap<UserID, RoomMemberContent>): Promise<void> {
    const known = await this.getMembers(roomId, [Membership.JOIN]);
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
    await (await this.#store()).putState({ roomId, events, read: this.#read });
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
    await (await this.#store()).putContent({ event, read: this.#read });
  }

  /**
   * Stores that the server says a room has no encryption; an encryption that was seen once stays.
   */
  async setUnencrypted(roomId: RoomID): Promise<void> {
    await (await this.#store()).noEncryption(roomId);
  }

  async #room(roomId: RoomID): Promise<RoomRecord | undefined> {
    return await (await this.#store()).room(roomId);
  }

  async #power(roomId: RoomID): Promise<RoomPower | undefined> {
    const [powerLevels, create, room] = await Promise.all([
      this.getPowerLevels(roomId),
      this.getCreate(roomId),
      this.#room(roomId),
    ]);
    // An invitation does not show the levels; the state of a joined room is complete.
    if (powerLevels === undefined && room?.membership !== Membership.JOIN) return undefined;
    return create && { powerLevels, create }; // creators may stand above all levels
  }

  async #store(): Promise<ActorRef<StoreHandlers>> {
    await this.#actors.ready();
    return this.#actors.store;
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

/** The content of a member event; undefined if it does not fit. */
function memberContent({ content }: StoredState): RoomMemberContent | undefined {
  const fitting = roomMember(content, UNNOTED);
  return fitting instanceof Misfit ? undefined : fitting;
}

/**
 * Makes a request, which the Store counts as under way meanwhile. The request does not wait for the Store: one
 * that is not open yet commits no sync before it hears of the request.
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

/**
 * The room state that a client stores, as applications read it.
 *
 * Over 300 lines because half of it is the documentation of what applications read.
 *
 * @module
 */

import { RecentSet } from "../../base/recent_map.ts";
import { hasPower, type PowerAction, powerLevelOf, type StoredState } from "../../store/device/mod.ts";
import { Membership } from "../../types/enums.ts";
import type { RoomMemberContent } from "../../types/content/room_state_content.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import {
  memberContent,
  type OpenableStore,
  openedStore,
  powerIn,
  roomIn,
  StateUpdates,
} from "./store_access.ts";

/** Stores what was sent and read; for the client alone. */
export const UPDATES: unique symbol = Symbol("updates");

/** Of how many rooms it is remembered that they are encrypted. */
const MAX_ENCRYPTED = 10_000;

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
  /** Rooms that are encrypted, which each send asks. */
  readonly #encrypted = new RecentSet<RoomID>(MAX_ENCRYPTED);
  /** @internal Stores what was sent and read. */
  readonly [UPDATES]: StateUpdates;

  /**
   * Made by the client.
   *
   * @internal
   * @param actors Have the Store.
   */
  constructor(actors: OpenableStore) {
    this.#actors = actors;
    this[UPDATES] = new StateUpdates(actors, this);
  }

  /**
   * Returns a state event of a room.
   *
   * @param roomId The room.
   * @param type The type of the state.
   * @param stateKey The state key. Default: the empty one.
   * @returns The event, stripped in rooms that the user is not in; undefined if it is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function nameOf(client: Client, roomId: RoomID): Promise<unknown> {
   *   const event = await client.stateStore.getState(roomId, "m.room.name");
   *   return event?.content.name;
   * }
   * ```
   */
  async getState(roomId: RoomID, type: string, stateKey: string = ""): Promise<StoredState | undefined> {
    return await (await openedStore(this.#actors)).getState({ roomId, type, stateKey });
  }

  /**
   * Lists the state events of a room that are known.
   *
   * @param roomId The room.
   * @param type Only state of this type. Default: all types.
   * @returns The events, in no particular order.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function childrenOf(client: Client, spaceId: RoomID): Promise<string[]> {
   *   const links = await client.stateStore.listState(spaceId, "m.space.child");
   *   return links.map(({ state_key }) => state_key);
   * }
   * ```
   */
  async listState(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return await (await openedStore(this.#actors)).listState({ roomId, type });
  }

  /**
   * Returns the content of a user's `m.room.member` event: membership, display name and avatar in
   * the room.
   *
   * @param roomId The room.
   * @param userId The user.
   * @returns The content; undefined if it is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function nameIn(client: Client, roomId: RoomID, userId: UserID): Promise<string> {
   *   return (await client.stateStore.getMember(roomId, userId))?.displayname ?? userId;
   * }
   * ```
   */
  async getMember(roomId: RoomID, userId: UserID): Promise<RoomMemberContent | undefined> {
    const event = await this.getState(roomId, "m.room.member", userId);
    return event && memberContent(event);
  }

  /**
   * Returns the members of a room that are known: all of them after `client.getMembers()`.
   *
   * @param roomId The room.
   * @param memberships Only users with these memberships. Default: joined and invited.
   * @returns The contents of their member events, by user ID.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function invited(client: Client, roomId: RoomID): Promise<UserID[]> {
   *   const members = await client.stateStore.getMembers(roomId, ["invite"]);
   *   return [...members.keys()];
   * }
   * ```
   */
  async getMembers(
    roomId: RoomID,
    memberships: readonly Membership[] = PRESENT,
  ): Promise<Map<UserID, RoomMemberContent>> {
    const members = new Map<UserID, RoomMemberContent>();
    for (const event of await this.listState(roomId, "m.room.member")) {
      const content = memberContent(event);
      if (content && memberships.includes(content.membership)) {
        members.set(event.state_key as UserID, content);
      }
    }
    return members;
  }

  /**
   * Returns whether the members that are known are all members of a room. Without, the server has
   * sent only those that its events needed.
   *
   * @param roomId The room.
   * @returns Whether they are all.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function countMembers(client: Client, roomId: RoomID): Promise<number> {
   *   if (!await client.stateStore.hasFullMemberList(roomId)) await client.getMembers(roomId);
   *   return (await client.stateStore.getMembers(roomId)).size;
   * }
   * ```
   */
  async hasFullMemberList(roomId: RoomID): Promise<boolean> {
    return (await roomIn(this.#actors, roomId))?.allMembers ?? false;
  }

  /**
   * Returns the membership of a user in a room.
   *
   * @param roomId The room.
   * @param userId The user.
   * @returns The membership; `leave` if it is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function isBanned(client: Client, roomId: RoomID, userId: UserID): Promise<boolean> {
   *   return await client.stateStore.getMembership(roomId, userId) === "ban";
   * }
   * ```
   */
  async getMembership(roomId: RoomID, userId: UserID): Promise<Membership> {
    return (await this.getMember(roomId, userId))?.membership ?? Membership.LEAVE;
  }

  /**
   * Returns whether a user is in a room.
   *
   * @param roomId The room.
   * @param userId The user.
   * @returns Whether the user has joined; false if that is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function isHere(client: Client, roomId: RoomID, userId: UserID): Promise<boolean> {
   *   return await client.stateStore.isJoined(roomId, userId);
   * }
   * ```
   */
  async isJoined(roomId: RoomID, userId: UserID): Promise<boolean> {
    return await this.getMembership(roomId, userId) === Membership.JOIN;
  }

  /**
   * Lists the rooms that the client's own user is in.
   *
   * @returns The IDs of the rooms, in no particular order.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function announce(client: Client, text: string): Promise<void> {
   *   for (const roomId of await client.stateStore.getJoinedRooms()) await client.sendText(roomId, text);
   * }
   * ```
   */
  async getJoinedRooms(): Promise<RoomID[]> {
    const rooms = await (await openedStore(this.#actors)).rooms();
    return rooms.filter(({ membership }) => membership === Membership.JOIN).map(({ roomId }) => roomId);
  }

  /**
   * Lists the rooms that the client's own user is in, and another user is in or invited to.
   *
   * @param userId The other user.
   * @returns The IDs of the rooms, in no particular order.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isStranger(client: Client, userId: UserID): Promise<boolean> {
   *   return (await client.stateStore.getSharedRooms(userId)).length === 0;
   * }
   * ```
   */
  async getSharedRooms(userId: UserID): Promise<RoomID[]> {
    const rooms = await this.getJoinedRooms();
    const memberships = await Promise.all(rooms.map((roomId) => this.getMembership(roomId, userId)));
    return rooms.filter((_, index) => PRESENT.includes(memberships[index] ?? Membership.LEAVE));
  }

  /**
   * Returns whether a room is encrypted. A room that is encrypted stays so for good.
   *
   * @param roomId The room.
   * @returns Whether it is; undefined if that is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function mayBeClear(client: Client, roomId: RoomID): Promise<boolean> {
   *   return await client.stateStore.isEncrypted(roomId) !== true;
   * }
   * ```
   */
  async isEncrypted(roomId: RoomID): Promise<boolean | undefined> {
    const store = await openedStore(this.#actors);
    if (this.#encrypted.has(roomId)) return true;
    const encryption = (await store.room(roomId))?.encryption;
    if (encryption === undefined || encryption === false) return encryption;
    this.#encrypted.add(roomId);
    return true;
  }

  /**
   * Returns the content of the
   * [`m.room.encryption`](https://spec.matrix.org/v1.19/client-server-api/#mroomencryption) event
   * that counts.
   *
   * @param roomId The room.
   * @returns The content; undefined if the room is not encrypted, or that is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function algorithmOf(client: Client, roomId: RoomID): Promise<unknown> {
   *   return (await client.stateStore.getEncryptionInfo(roomId))?.algorithm;
   * }
   * ```
   */
  async getEncryptionInfo(roomId: RoomID): Promise<JsonObject | undefined> {
    return (await roomIn(this.#actors, roomId))?.encryption || undefined;
  }

  /**
   * Returns the content of
   * [`m.room.power_levels`](https://spec.matrix.org/v1.19/client-server-api/#mroompower_levels).
   *
   * @param roomId The room.
   * @returns The content; undefined if it is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function levelToInvite(client: Client, roomId: RoomID): Promise<unknown> {
   *   return (await client.stateStore.getPowerLevels(roomId))?.invite ?? 0;
   * }
   * ```
   */
  async getPowerLevels(roomId: RoomID): Promise<JsonObject | undefined> {
    const content = (await this.getState(roomId, "m.room.power_levels"))?.content;
    return isJsonObject(content) ? content : undefined;
  }

  /**
   * Returns the [`m.room.create`](https://spec.matrix.org/v1.19/client-server-api/#mroomcreate)
   * event.
   *
   * @param roomId The room.
   * @returns The event; undefined if it is not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function versionOf(client: Client, roomId: RoomID): Promise<unknown> {
   *   return (await client.stateStore.getCreate(roomId))?.content.room_version ?? "1";
   * }
   * ```
   */
  async getCreate(roomId: RoomID): Promise<StoredState | undefined> {
    return await this.getState(roomId, "m.room.create");
  }

  /**
   * Returns the power level of a user.
   *
   * @param roomId The room.
   * @param userId The user.
   * @returns The level; `Infinity` for creators of rooms of version 12 or later; undefined if not known.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function isModerator(client: Client, roomId: RoomID, userId: UserID): Promise<boolean> {
   *   return (await client.stateStore.getPowerLevel(roomId, userId) ?? 0) >= 50;
   * }
   * ```
   */
  async getPowerLevel(roomId: RoomID, userId: UserID): Promise<number | undefined> {
    const power = await powerIn(this.#actors, roomId);
    return power && powerLevelOf(userId, power);
  }

  /**
   * Returns whether the power level of a user is enough for an action.
   *
   * @param roomId The room.
   * @param userId The user.
   * @param action The action; for an event `{ event: type }`, for state `{ event: type, state: true }`.
   * @returns Whether it is enough; false if it is not known, where `getPowerLevel()` returns undefined.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function canRename(client: Client, roomId: RoomID, userId: UserID): Promise<boolean> {
   *   return await client.stateStore.hasPowerLevel(roomId, userId, { event: "m.room.name", state: true });
   * }
   * ```
   */
  async hasPowerLevel(roomId: RoomID, userId: UserID, action: PowerAction): Promise<boolean> {
    const power = await powerIn(this.#actors, roomId);
    return power !== undefined && hasPower(userId, action, power);
  }
}

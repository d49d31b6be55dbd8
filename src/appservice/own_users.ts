/**
 * The users of an application service, and its rooms:
 * where they are, which all of them have left, and what can't be read there.
 *
 * @module
 */

import type { Logger } from "../base/log.ts";
import { RecentSet } from "../base/recent_map.ts";
import type { Client } from "../client/mod.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { Membership } from "../types/enums.ts";
import { parseUserId } from "../types/identifiers.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import { isJsonObject } from "../types/json.ts";
import type { Registration } from "./registration.ts";
import { isMemberEvent, type ReceivedMember } from "./transaction.ts";

/** Says whose users they are. */
export class OwnUsers {
  /** The application service's own user. */
  readonly bot: UserID;
  /** Who it is for the homeserver where nobody is named. */
  readonly sender: UserID;
  readonly #server: string;
  readonly #exclusive: readonly RegExp[];
  readonly #all: readonly RegExp[];
  /** What localparts of this application service begin with, mostly. */
  readonly #prefixes: readonly string[];
  readonly #namespaces: string;

  /**
   * @param registration Has the namespaces.
   * @param serverName The part behind the colon of the users' IDs.
   */
  constructor(registration: Registration, serverName: string) {
    const { sender_localpart, "greenroom.bot": bot = sender_localpart, namespaces: { users = [] } } =
      registration;
    this.sender = `@${sender_localpart}:${serverName}`;
    this.bot = `@${bot}:${serverName}`;
    for (const userId of [this.sender, this.bot]) parseUserId(userId);
    this.#server = `:${serverName}`;
    this.#exclusive = users.filter(({ exclusive }) => exclusive).map(expression);
    this.#all = users.map(expression);
    this.#prefixes = ["_", `_${registration.id}_`];
    this.#namespaces = users.map(({ regex }) => regex).join(", ") || "none";
  }

  /** Returns whether a user is one that the application service alone can have made. */
  isOwn(userId: string): boolean {
    return userId === this.bot || userId === this.sender || this.#isAmong(userId, this.#exclusive);
  }

  /** Returns whether a user is one of them, and not what the application service acts as by itself. */
  isGhost(userId: string): boolean {
    return userId !== this.bot && userId !== this.sender && this.isOwn(userId);
  }

  /**
   * The ID of a user that the application service may act as.
   *
   * @param user The ID, or what stands before its colon.
   * @throws {ValueError} If it may not.
   */
  actable(user: string): UserID {
    const userId = user.startsWith("@") ? user : `@${user}${this.#server}`;
    parseUserId(userId);
    if (userId === this.bot || this.#isAmong(userId, this.#all)) return userId as UserID;
    const localpart = userId.endsWith(this.#server) ? userId.slice(1, -this.#server.length) : "";
    const meant = this.#prefixes.map((prefix) => `${prefix}${localpart}`)
      .find((each) => localpart !== "" && this.#isAmong(`@${each}${this.#server}`, this.#all));
    const mend = meant === undefined ? "name a user of these" : `did you mean ${meant}?`;
    throw new ValueError(
      `Cannot act as ${userId}: the registration's namespaces of users are ${this.#namespaces}, on ${
        this.#server.slice(1)
      }; ${mend}`,
    );
  }

  #isAmong(userId: string, expressions: readonly RegExp[]): boolean {
    return userId.endsWith(this.#server) && expressions.some((each) => each.test(userId));
  }
}

/** Homeservers match from the beginning, and not to the end. */
function expression({ regex }: { readonly regex: string }): RegExp {
  return new RegExp(`^(?:${regex})`);
}

/** Says which rooms the users of an application service are in. */
export class OwnRooms {
  /** The client of the own user; set before anything is asked. */
  bot!: Client;
  /** The own user. */
  readonly userId: UserID;
  /** Logs rooms that can't be read. */
  readonly log: Logger;
  readonly #users: OwnUsers;

  /**
   * @param users Of the application service.
   * @param log Logs rooms that can't be read.
   */
  constructor(users: OwnUsers, log: Logger) {
    this.userId = users.bot;
    this.log = log;
    this.#users = users;
  }

  /** Returns whether a user is one of the application service's. */
  isOwn(userId: string): boolean {
    return this.#users.isOwn(userId);
  }

  /** Returns whether any of them is in a room, or invited, as far as the store knows. */
  async hasOwnMember(roomId: RoomID): Promise<boolean> {
    return (await this.bot.stateStore.getMembers(roomId)).keys().some((userId) => this.isOwn(userId));
  }

  /** Returns whether the store has it that the own user is in a room. */
  async isThere(roomId: RoomID): Promise<boolean> {
    return (await this.bot.stateStore.getMember(roomId, this.userId))?.membership === Membership.JOIN;
  }

  /** The rooms that the own user is in, as the homeserver has it. */
  joinedRooms(): Promise<readonly string[]> {
    return this.bot.getJoinedRooms();
  }
}

/** How often it is looked at a room before the state of which its last member leaves is there. */
const LOOKS = 10;
/** How many rooms are looked at. */
const MAX_ROOMS = 1_000;

/** Who is in a room, of the users of the application service. */
type OwnMembers = Pick<OwnRooms, "isOwn" | "hasOwnMember">;

/** Finds them. */
export class LeftRooms {
  readonly #own: OwnMembers;
  /** The rooms that somebody has left, and how often they may be looked at. */
  readonly #rooms = new Map<RoomID, number>();

  /** @param own Says who is in a room. */
  constructor(own: OwnMembers) {
    this.#own = own;
  }

  /** Notes who leaves. */
  note(members: readonly ReceivedMember[]): void {
    for (const event of members) {
      const { room_id: roomId, state_key: userId, content: { membership } } = event;
      if (typeof roomId !== "string" || typeof userId !== "string" || !this.#own.isOwn(userId)) continue;
      const isGone = membership === Membership.LEAVE || membership === Membership.BAN;
      if (!isGone) this.#rooms.delete(roomId as RoomID);
      else if (this.#rooms.size < MAX_ROOMS) this.#rooms.set(roomId as RoomID, LOOKS);
    }
  }

  /** The rooms that nobody of them is in any more; each is named once. */
  async find(): Promise<RoomID[]> {
    const left: RoomID[] = [];
    for (const [roomId, looks] of this.#rooms) {
      const isLeft = !await this.#own.hasOwnMember(roomId);
      if (isLeft) left.push(roomId);
      if (isLeft || looks === 1) this.#rooms.delete(roomId);
      else this.#rooms.set(roomId, looks - 1);
    }
    return left;
  }
}

/** How many rooms are remembered. */
const MAX_LOOKED_AT = 10_000;

/** Where the own user is, and who need not be read. */
type Own = Pick<OwnRooms, "userId" | "isOwn" | "isThere" | "joinedRooms" | "log">;

/** Finds such rooms, each once. */
export class UnreadRooms {
  readonly #own: Own;
  /** The rooms that were looked at. */
  readonly #known = new RecentSet<string>(MAX_LOOKED_AT);

  /** @param own Says where the own user is. */
  constructor(own: Own) {
    this.#own = own;
  }

  /** Looks at events that have come: in which rooms something encrypted is said. */
  async look(events: readonly unknown[]): Promise<void> {
    const { userId, log } = this.#own;
    const rooms = new Set<RoomID>();
    const joined = new Set<unknown>();
    for (const event of events) {
      if (!isJsonObject(event) || typeof event.room_id !== "string") continue;
      const { type, room_id: roomId, sender } = event;
      const isSaid = type === "m.room.encrypted" && !this.#own.isOwn(String(sender));
      if (isSaid && !this.#known.has(roomId)) rooms.add(roomId as RoomID);
      const isOfOwn = isMemberEvent(event) && event.state_key === userId;
      if (isOfOwn && event.content.membership === Membership.JOIN) joined.add(roomId);
    }
    const doubtful: RoomID[] = [];
    for (const roomId of rooms) {
      if (joined.has(roomId) || await this.#own.isThere(roomId)) this.#known.add(roomId);
      else doubtful.push(roomId);
    }
    if (doubtful.length === 0) return;
    // A store that is new does not have rooms that were joined before.
    const there = await this.#own.joinedRooms().catch(() => undefined);
    if (there === undefined) return; // the next time
    for (const roomId of doubtful) {
      this.#known.add(roomId);
      if (there.includes(roomId)) continue;
      log.warn(
        "What is said in an encrypted room can't be read, since the own user is not in it, and other users " +
          "do not read; have one of them invite it, and let it join",
        { roomId, userId },
      );
    }
  }
}

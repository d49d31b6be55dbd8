/**
 * Users of the in-process homeserver, logged in, and what they do.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { hintAt, type Hints } from "../errors/hints.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { DeviceID, EventID, RoomAlias, RoomID, UserID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import {
  ExpectationError,
  messagesOf,
  type RoomView,
  type TestedMessage,
  type ViewedEvent,
} from "./views.ts";
import { TEST_USER_HINTS } from "./testing_hints.ts";

/** @internal What a user's homeserver does for it. */
export interface TestHome {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  /** The homeserver's time, in milliseconds since the epoch. */
  now(): number;
  /** Looks at a room. */
  room(roomId: RoomID): RoomView;
  /** Waits until there may be something for a user, or a time is over, in milliseconds. */
  wait(userId: UserID, ms: number): Promise<void>;
}

/** How long a user waits for a message, in milliseconds. */
const PATIENCE = 5_000;

/** How a client or a bot of a user is made. */
export interface TestUserOptions {
  /** The homeserver's address. */
  readonly baseUrl: string;
  /** The way to it, in the process. */
  readonly fetch: typeof fetch;
  /** The access token of the user and the device. */
  readonly accessToken: string;
  /** Whose it is. */
  readonly mxid: UserID;
  /** The device of the access token. */
  readonly deviceId: DeviceID;
}

/** Options of {@linkcode TestUser.createRoom}. */
export interface CreateTestRoomOptions {
  /** The room's name. Default: none. */
  readonly name?: string;
  /** The room's topic. Default: none. */
  readonly topic?: string;
  /** Users to invite. Default: none. */
  readonly invite?: readonly UserID[];
  /** Whether the invitations are to a direct chat. Default: false. */
  readonly isDirect?: boolean;
  /** Whether everybody may join. Default: false, by invitation only. */
  readonly isPublic?: boolean;
}

/** What is known of the user's place in a room. */
interface Place {
  /** How many of its events the user has been given. */
  given: number;
}

/** A user made by {@link Homeserver.createUser}, logged in, who acts as a person does: without encryption. */
export class TestUser {
  /** The localpart with the server's name. */
  readonly userId: UserID;
  /** The device of the access token. */
  readonly deviceId: DeviceID;
  /** The access token of the user and the device. */
  readonly accessToken: string;
  /** The password of the user, for `login()`. */
  readonly password: string;
  readonly #home: TestHome;
  readonly #places = new Map<RoomID, Place>();

  /** @internal Users are made by {@linkcode Homeserver.createUser}. */
  constructor(home: TestHome, made: Pick<TestUser, "userId" | "deviceId" | "accessToken" | "password">) {
    this.#home = home;
    this.userId = made.userId;
    this.deviceId = made.deviceId;
    this.accessToken = made.accessToken;
    this.password = made.password;
  }

  /**
   * How a client or a bot of this user is made, which encrypts too.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * await using alice = new Client({ ...homeserver.createUser("alice").clientOptions, encryption: true });
   * await alice.createRoom({ encrypted: true });
   * ```
   */
  get clientOptions(): TestUserOptions {
    const { baseUrl, fetch } = this.#home;
    return { baseUrl, fetch, accessToken: this.accessToken, mxid: this.userId, deviceId: this.deviceId };
  }

  /**
   * Creates a room, and joins it.
   *
   * @param options What it is called, and who is invited.
   * @returns The room's ID.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ name: "Stage", invite: [bob.userId] });
   * await bob.joinRoom(room);
   * ```
   */
  async createRoom(options: CreateTestRoomOptions = {}): Promise<RoomID> {
    checkOptions(options, ROOM, "create a room");
    const { name, topic, invite = [], isDirect = false, isPublic = false } = options;
    const body = {
      name,
      topic,
      invite,
      is_direct: isDirect,
      preset: isPublic ? "public_chat" : "private_chat",
    };
    return (await this.request("POST", "/createRoom", body as JsonObject)).room_id as RoomID;
  }

  /**
   * Joins a room: one that is public, or that the user is invited into.
   *
   * @param room The room's ID, or its alias.
   * @returns The room's ID.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ isPublic: true });
   * await bob.joinRoom(room);
   * ```
   */
  async joinRoom(room: RoomID | RoomAlias): Promise<RoomID> {
    return (await this.request("POST", `/join/${encodeURIComponent(room)}`, {})).room_id as RoomID;
  }

  /**
   * Leaves a room, or refuses an invitation.
   *
   * @param roomId The room.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ invite: [bob.userId] });
   * await bob.leaveRoom(room);
   * ```
   */
  async leaveRoom(roomId: RoomID): Promise<void> {
    await this.request("POST", `/rooms/${encodeURIComponent(roomId)}/leave`, {});
  }

  /**
   * Invites a user into a room.
   *
   * @param roomId The room.
   * @param userId The user.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom();
   * await alice.inviteUser(room, bob.userId);
   * ```
   */
  async inviteUser(roomId: RoomID, userId: UserID): Promise<void> {
    await this.request("POST", `/rooms/${encodeURIComponent(roomId)}/invite`, { user_id: userId });
  }

  /**
   * Sends a text message, or one of any other content.
   *
   * @param roomId The room.
   * @param message The text, or the content of the `m.room.message`.
   * @returns The ID of the event.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ invite: [bob.userId] });
   * await alice.sendMessage(room, "Hello!");
   * await alice.sendMessage(room, { msgtype: "m.emote", body: "waves" });
   * ```
   */
  async sendMessage(roomId: RoomID, message: string | JsonObject): Promise<EventID> {
    const content = typeof message === "string" ? { msgtype: "m.text", body: message } : message;
    return await this.sendEvent(roomId, "m.room.message", content);
  }

  /**
   * Sends an event of any type.
   *
   * @param roomId The room.
   * @param type The type of the event.
   * @param content The content.
   * @returns The ID of the event.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ invite: [bob.userId] });
   * await alice.sendEvent(room, "org.example.move", { to: "e4" });
   * ```
   */
  async sendEvent(roomId: RoomID, type: string, content: JsonObject): Promise<EventID> {
    const path = `/rooms/${encodeURIComponent(roomId)}/send/${type}/${crypto.randomUUID()}`;
    return (await this.request("PUT", path, content)).event_id as EventID;
  }

  /**
   * Reacts to an event.
   *
   * @param roomId The room.
   * @param eventId The ID of the event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ invite: [bob.userId] });
   * await alice.react(room, await alice.sendMessage(room, "Hello!"), "👍");
   * ```
   */
  async react(roomId: RoomID, eventId: EventID, key: string): Promise<EventID> {
    const relation = { rel_type: "m.annotation", event_id: eventId, key };
    return await this.sendEvent(roomId, "m.reaction", { "m.relates_to": relation });
  }

  /**
   * Waits until a user is in a room: a bot does not answer what was said before it joined.
   *
   * @param roomId The room.
   * @param userId The user who is to join.
   * @throws {ExpectationError} If that does not happen within five seconds of the homeserver's clock.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ invite: [bob.userId] });
   * const joining = bob.joinRoom(room);
   * await alice.waitForJoin(room, bob.userId);
   * await joining;
   * ```
   */
  async waitForJoin(roomId: RoomID, userId: UserID): Promise<void> {
    const end = this.#home.now() + PATIENCE;
    while (this.#home.room(roomId).membership(userId) !== "join") {
      const left = end - this.#home.now();
      if (left <= 0) throw new ExpectationError(`${userId} was to join ${roomId}, and has not`);
      await this.#home.wait(this.userId, left);
    }
  }

  /**
   * Waits for the next message of others in a room that this user is in:
   * after what this user has sent last, but for reactions, and after those that this user was given by this.
   *
   * @param roomId The room.
   * @returns The message, with the edits that there are.
   * @throws {ExpectationError} If none comes within five seconds of the homeserver's clock,
   *   or it is encrypted; if the user is not in the room.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const room = await alice.createRoom({ invite: [bob.userId] });
   * await bob.joinRoom(room);
   * await bob.sendMessage(room, "Hello, Alice!");
   * console.assert((await alice.nextMessage(room)).text === "Hello, Alice!");
   * ```
   */
  async nextMessage(roomId: RoomID): Promise<TestedMessage> {
    const place = this.#places.get(roomId) ?? { given: 0 };
    this.#places.set(roomId, place);
    const end = this.#home.now() + PATIENCE;
    for (;;) {
      const room = this.#home.room(roomId);
      const events = this.#seen(room);
      const own = events.findLastIndex(({ sender, type }) => sender === this.userId && type !== "m.reaction");
      place.given = Math.max(place.given, own + 1);
      const found = events.findIndex((event, at) => at >= place.given && isNews(event));
      const next = events[found];
      if (next !== undefined) {
        place.given = found + 1;
        return this.#read(events.slice(found), next);
      }
      const left = end - this.#home.now();
      if (left <= 0 && room.membership(this.userId) !== "join") {
        throw new ExpectationError(
          `${this.userId} was to get a message in ${roomId}, and is not in the room: joinRoom(roomId) first`,
        );
      }
      if (left <= 0) {
        throw new ExpectationError(
          `${this.userId} was to get a message in ${roomId}, and none has come; was who answers in the room when it was asked? ` +
            "waitForJoin(roomId, userId) waits for that",
        );
      }
      await this.#home.wait(this.userId, left);
    }
  }

  /**
   * Sends a request of the client-server API.
   *
   * @param method The HTTP method.
   * @param path The path below `/_matrix/client/v3`.
   * @param body The body, sent as JSON. Default: none.
   * @returns The body of the response.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
   * const path = `/profile/${bob.userId}/displayname`;
   * await bob.request("PUT", path, { displayname: "Bob" });
   * console.assert((await alice.request("GET", path)).displayname === "Bob");
   * ```
   */
  async request(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const { baseUrl, fetch } = this.#home;
    const response = await fetch(`${baseUrl}/_matrix/client/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${this.accessToken}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (!response.ok || !isJsonObject(answer)) {
      throw new ValueError(`Cannot ${method} ${path} as ${this.userId}: ${JSON.stringify(answer)}`);
    }
    return answer;
  }

  /** The events of a room that the user is in, or was in until it left. */
  #seen(room: RoomView): readonly ViewedEvent[] {
    const { events } = room;
    if (room.membership(this.userId) === "join") return events;
    const isOwn = ({ type, state_key }: ViewedEvent) => type === "m.room.member" && state_key === this.userId;
    const joined = events.findLastIndex((event) => isOwn(event) && event.content.membership === "join");
    return events.slice(0, joined < 0 ? 0 : events.findIndex((event, at) => at > joined && isOwn(event)));
  }

  #read(events: readonly ViewedEvent[], { event_id, type }: ViewedEvent): TestedMessage {
    const message = messagesOf(events).find(({ eventId }) => eventId === event_id);
    if (message !== undefined) return message;
    throw new ExpectationError(
      `${this.userId} got a message of the type ${type}, which only a client with encryption can read; make one: ` +
        "new Client({ ...user.clientOptions, encryption: true })",
    );
  }
}

/** Returns whether an event is a message that stands by itself. */
function isNews({ type, content }: ViewedEvent): boolean {
  const relation = isJsonObject(content["m.relates_to"]) ? content["m.relates_to"] : {};
  return (type === "m.room.message" || type === "m.room.encrypted") && relation.rel_type !== "m.replace";
}

hintAt(TestUser.prototype, "a user of the homeserver for tests", TEST_USER_HINTS);
/** @internal What clients of a user do, for the compiler. */
export interface TestUserHints extends Hints<typeof TEST_USER_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface TestUser extends TestUserHints {}

const ROOM: OptionNames<CreateTestRoomOptions> = {
  ...{ name: true, topic: true, invite: true, isDirect: true, isPublic: true },
};

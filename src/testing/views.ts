/**
 * What a test sees of the homeserver: the requests that have come, what is in a room, messages as a test
 * reads them, and the error of a test to which no message comes.
 *
 * Over 300 lines because each view is documented for those who write tests.
 *
 * @module
 */

import { MatrixError } from "../errors/matrix_error.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { Room, RoomEvent } from "./rooms/mod.ts";

/** The largest body that is kept, in bytes: enough for every JSON body, and no media. */
const LARGEST_BODY = 65_536;

/** A request that arrived. */
export class LoggedRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path on the wire, with its escapes. */
  readonly path: string;
  /** The query parameters. */
  readonly query: URLSearchParams;
  /** The request headers. */
  readonly headers: Headers;
  /** Who sent it; `undefined` without a valid access token. */
  readonly user: UserID | undefined;
  /** When it arrived, in milliseconds since the epoch. */
  readonly time: number;
  /**
   * The HTTP status of the answer; `undefined` as long as there is none, and if the connection was
   * cut.
   */
  status: number | undefined;
  readonly #body: Uint8Array<ArrayBuffer> | undefined;

  /** @internal Notes a request. */
  constructor(
    request: { method: string; url: URL; headers: Headers; body: Uint8Array<ArrayBuffer> },
    user: UserID | undefined,
    time: number,
  ) {
    this.method = request.method;
    this.path = request.url.pathname;
    this.query = request.url.searchParams;
    this.headers = request.headers;
    this.user = user;
    this.time = time;
    this.#body = request.body.byteLength <= LARGEST_BODY ? request.body : undefined;
  }

  /** The body as JSON; `undefined` if it is none, or larger than 64 KiB. */
  get json(): unknown {
    if (this.#body === undefined || this.#body.byteLength === 0) return undefined;
    try {
      return JSON.parse(new TextDecoder().decode(this.#body));
    } catch {
      return undefined;
    }
  }
}

/** The latest requests, oldest first. */
export class RequestLog implements Iterable<LoggedRequest> {
  readonly #capacity: number;
  #requests: LoggedRequest[] = [];

  /** Makes an empty log that keeps the latest `capacity` requests. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many requests are kept. */
  get length(): number {
    return this.#requests.length;
  }

  /** The latest request. */
  get last(): LoggedRequest | undefined {
    return this.#requests.at(-1);
  }

  /**
   * Returns the requests that fit a method and a path.
   *
   * @param method The HTTP method, in capitals.
   * @param path A part of the path, or a regular expression for it.
   * @returns The requests, oldest first.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
   * assertEquals(homeserver.requests.filter("GET", "/versions").length, 1);
   * ```
   */
  filter(method: string, path: string | RegExp): LoggedRequest[] {
    return this.#requests.filter((request) =>
      request.method === method &&
      (typeof path === "string" ? request.path.includes(path) : request.path.search(path) >= 0)
    );
  }

  /**
   * Forgets all requests.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
   * homeserver.requests.clear();
   * assertEquals(homeserver.requests.length, 0);
   * ```
   */
  clear(): void {
    this.#requests = [];
  }

  /** Notes a request; the homeserver calls this. */
  add(request: LoggedRequest): void {
    this.#requests.push(request);
    // Trimming rarely, by half, keeps adding cheap.
    if (this.#requests.length > 2 * this.#capacity) this.#requests = this.#requests.slice(-this.#capacity);
  }

  /** Goes through the requests, oldest first. */
  [Symbol.iterator](): Iterator<LoggedRequest> {
    return this.#requests.values();
  }
}

/** An event as {@link RoomView} shows it. */
export interface ViewedEvent {
  /** Identifies it among the room's events. */
  readonly event_id: EventID;
  /** The type of the event, like `m.room.message`. */
  readonly type: string;
  /** The user ID of the event's sender. */
  readonly sender: UserID;
  /** When, in milliseconds since the epoch. */
  readonly origin_server_ts: number;
  /** Its state key, if it is state. */
  readonly state_key?: string;
  /** Its content; what is left of it if it was redacted. */
  readonly content: JsonObject;
}

/** A room from the outside: everything is as it is at the moment of the call. */
export class RoomView {
  readonly #room: Room;

  /** @internal Looks at a room. */
  constructor(room: Room) {
    this.#room = room;
  }

  /** What clients call the room. */
  get id(): RoomID {
    return this.#room.id;
  }

  /** All events, oldest first. */
  get events(): ViewedEvent[] {
    return this.#room.events.map(view);
  }

  /** The events that are not state, oldest first: messages, reactions, redactions and the like. */
  get messages(): ViewedEvent[] {
    return this.#room.events.filter(({ stateKey }) => stateKey === undefined).map(view);
  }

  /** The users who are typing. */
  get typing(): UserID[] {
    return [...this.#room.typing.keys()];
  }

  /**
   * Returns the content of a state event.
   *
   * @param type The type of the state.
   * @param stateKey The state key. Default: the empty one.
   * @returns The content; undefined if there is no such state.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { Client } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * const { baseUrl, fetch } = homeserver;
   * await using alice = new Client({ baseUrl, fetch, accessToken });
   * const roomId = await alice.createRoom({ name: "Green room" });
   * assertEquals(homeserver.room(roomId).state("m.room.name"), { name: "Green room" });
   * ```
   */
  state(type: string, stateKey = ""): JsonObject | undefined {
    return this.#room.state(type, stateKey)?.content;
  }

  /**
   * Returns the membership of a user.
   *
   * @param user The ID of the user.
   * @returns The membership; `leave` for users who never had one.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { Client } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * const { baseUrl, fetch } = homeserver;
   * await using alice = new Client({ baseUrl, fetch, accessToken });
   * const roomId = await alice.createRoom({ name: "Green room" });
   * assertEquals(homeserver.room(roomId).membership("@bob:localhost"), "leave");
   * ```
   */
  membership(user: UserID): string {
    return this.#room.membership(user);
  }

  /**
   * Lists the users who have a membership.
   *
   * @param membership The membership. Default: `join`.
   * @returns The IDs of the users.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { Client } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * const { baseUrl, fetch } = homeserver;
   * await using alice = new Client({ baseUrl, fetch, accessToken });
   * const roomId = await alice.createRoom({ name: "Green room" });
   * assertEquals(homeserver.room(roomId).members(), ["@alice:localhost"]);
   * ```
   */
  members(membership = "join"): UserID[] {
    return this.#room.membersWith(membership);
  }

  /**
   * Returns the event up to which a user has read.
   *
   * @param user The ID of the user.
   * @param type The type of the receipt. Default: `m.read`.
   * @returns The ID of the event; undefined without a receipt.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { Client } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * const { baseUrl, fetch } = homeserver;
   * await using alice = new Client({ baseUrl, fetch, accessToken });
   * const roomId = await alice.createRoom({ name: "Green room" });
   * const eventId = await alice.sendText(roomId, "Hello");
   * await alice.sendReceipt(roomId, eventId);
   * assertEquals(homeserver.room(roomId).readBy("@alice:localhost"), eventId);
   * ```
   */
  readBy(user: UserID, type = "m.read"): EventID | undefined {
    return this.#room.receipts.of(user).filter((receipt) => receipt.type === type).at(-1)?.event;
  }
}

function view(event: RoomEvent): ViewedEvent {
  return {
    event_id: event.id,
    type: event.type,
    sender: event.sender,
    origin_server_ts: event.timestamp,
    ...(event.stateKey === undefined ? {} : { state_key: event.stateKey }),
    content: event.content,
  };
}

/** A message, as it reads now. */
export interface TestedMessage {
  /** The event that it began with. */
  readonly eventId: EventID;
  /** The user ID of the message's sender. */
  readonly sender: UserID;
  /** Its plain text, after all edits. */
  readonly text: string;
  /** Its text with formatting; undefined: it has none. */
  readonly html: string | undefined;
  /** Its content, after all edits. */
  readonly content: JsonObject;
  /** The event that it is a reply to; undefined: it is none. */
  readonly replyTo: EventID | undefined;
  /** The first event of its thread; undefined: it is in none. */
  readonly thread: EventID | undefined;
}

/**
 * A bot did not do what a test expects of it.
 *
 * Mend: Read what the message says the bot did and logged, and correct the bot or the test.
 */
export class ExpectationError extends MatrixError {
  /** What went wrong, for programs. */
  override readonly code: string = "EXPECTATION";
}

/** The messages among events of a room, oldest first, each with its edits applied. */
export function messagesOf(events: readonly ViewedEvent[]): TestedMessage[] {
  const byId = new Map<string, TestedMessage>();
  for (const { type, event_id, sender, content } of events) {
    if (type !== "m.room.message") continue;
    const relation = isJsonObject(content["m.relates_to"]) ? content["m.relates_to"] : {};
    if (relation.rel_type === "m.replace") {
      const old = byId.get(String(relation.event_id));
      const replacement = content["m.new_content"];
      if (old !== undefined && isJsonObject(replacement)) {
        byId.set(old.eventId, { ...old, ...readAs(replacement) });
      }
      continue;
    }
    const reply = isJsonObject(relation["m.in_reply_to"]) ? relation["m.in_reply_to"].event_id : undefined;
    const thread = relation.rel_type === "m.thread" ? relation.event_id as EventID : undefined;
    const replyTo = relation.is_falling_back === true ? undefined : reply as EventID | undefined;
    byId.set(event_id, { eventId: event_id, sender, replyTo, thread, ...readAs(content) });
  }
  return [...byId.values()];
}

function readAs(content: JsonObject): Pick<TestedMessage, "text" | "html" | "content"> {
  const { body, formatted_body: html } = content;
  return {
    text: typeof body === "string" ? body : "",
    html: typeof html === "string" ? html : undefined,
    content,
  };
}

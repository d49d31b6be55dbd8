/**
 * What the tests of the in-process homeserver share: a way to talk to it in plain requests.
 *
 * @module
 */

import { Homeserver, type HomeserverOptions, TestClock, type TestUser } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";

/** JSON of any shape: tests look into it without ceremony. */
// deno-lint-ignore no-explicit-any -- what a test reads from it is what it asserts
export type Json = any;

/** An answer: the status and the body. */
export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

/** A user who sends plain requests. */
export class Caller {
  readonly homeserver: Homeserver;
  readonly id: string;
  readonly deviceId: string;
  /** The access token; none is sent if it is empty. */
  token: string;
  #transaction = 0;

  constructor(homeserver: Homeserver, user: TestUser) {
    this.homeserver = homeserver;
    this.id = user.userId;
    this.deviceId = user.deviceId;
    this.token = user.accessToken;
  }

  /**
   * Sends a request; `path` is relative to `/_matrix/client/v3` unless it begins with `/_matrix`.
   */
  async send(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Answer> {
    const url = `${this.homeserver.baseUrl}${path.startsWith("/_matrix") ? "" : "/_matrix/client/v3"}${path}`;
    const response = await this.homeserver.fetch(url, {
      method,
      headers: { ...(this.token === "" ? {} : { authorization: `Bearer ${this.token}` }), ...init.headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: init.signal,
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : JSON.parse(text),
      headers: response.headers,
    };
  }

  /** The body of a successful request. */
  async ok(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.send(method, path, body);
    if (answer.status !== 200) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  /** Status and errcode of a refused request. */
  async refusal(method: string, path: string, body?: unknown): Promise<unknown[]> {
    const answer = await this.send(method, path, body);
    return [answer.status, answer.body?.errcode];
  }

  async createRoom(options: Json = {}): Promise<RoomID> {
    return (await this.ok("POST", "/createRoom", options)).room_id;
  }

  async join(room: string): Promise<void> {
    await this.ok("POST", `/join/${encodeURIComponent(room)}`, {});
  }

  async say(room: string, text: string): Promise<string> {
    return await this.sendEvent(room, "m.room.message", { msgtype: "m.text", body: text });
  }

  async sendEvent(room: string, type: string, content: Json): Promise<string> {
    return (await this.ok("PUT", `/rooms/${room}/send/${type}/t${++this.#transaction}`, content)).event_id;
  }

  async putState(room: string, type: string, content: Json, key = ""): Promise<string> {
    return (await this.ok("PUT", `/rooms/${room}/state/${type}/${key}`, content)).event_id;
  }

  /** A sync, with the query parameters given as JSON. */
  async sync(parameters: Record<string, string | number | boolean | Json> = {}): Promise<Json> {
    const query = Object.entries(parameters).map(([key, value]) => {
      const text = typeof value === "object" ? JSON.stringify(value) : String(value);
      return `${key}=${encodeURIComponent(text)}`;
    });
    return await this.ok("GET", `/sync?${query.join("&")}`);
  }
}

/** A homeserver with a clock that stands still, and users who send requests. */
export interface Stage<Name extends string> extends AsyncDisposable {
  readonly homeserver: Homeserver;
  readonly clock: TestClock;
  readonly users: Record<Name, Caller>;
}

/** Sets up a homeserver with users. Whatever goes wrong inside it fails the test. */
export function stage<Name extends string>(
  names: readonly Name[],
  options: HomeserverOptions = {},
): Stage<Name> {
  const clock = new TestClock();
  const errors: unknown[] = [];
  const homeserver = new Homeserver({ clock, onError: (error) => errors.push(error), ...options });
  const users = Object.fromEntries(
    names.map((name) => [name, new Caller(homeserver, homeserver.createUser(name))]),
  );
  return {
    homeserver,
    clock,
    users: users as Record<Name, Caller>,
    async [Symbol.asyncDispose]() {
      await homeserver[Symbol.asyncDispose]();
      if (errors.length > 0) {
        throw new AggregateError(errors, "Cannot pass the test: the homeserver failed inside");
      }
    },
  };
}

/** The bodies of the messages among events. */
export function bodies(events: readonly Json[]): string[] {
  return events.filter((event) => event.type === "m.room.message").map((event) => event.content.body);
}

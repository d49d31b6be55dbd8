/**
 * Tries a bot as its users would: they say something, and it answers.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import type { KvStore } from "../../mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { checkOptions } from "../errors/known_names.ts";
import { MatrixError } from "../errors/matrix_error.ts";
import { ValueError } from "../errors/value_error.ts";
import { MemoryStore } from "../store/base/mod.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { Homeserver, type TestUser } from "./homeserver.ts";
import { TestClock } from "./test_clock.ts";

/** What a bot is made with, to be tried: options of `Bot`, or of `Client`. */
export interface TestedBotOptions {
  /** The homeserver's address. */
  readonly baseUrl: string;
  /** The way to it, in the process. */
  readonly fetch: typeof fetch;
  /** The bot's access token. */
  readonly accessToken: string;
  /** The bot's user ID. */
  readonly mxid: UserID;
  /** The clock, which stands still until the test moves it. */
  readonly clock: Clock;
  /** Where the bot keeps everything, from one process to the next. */
  readonly store: KvStore;
  /** Collects what is logged. */
  readonly log: Logger;
}

/** What of a bot is used. */
export interface TestedBot {
  /** Begins; resolves when the bot was stopped. */
  start(options?: { signals?: boolean }): Promise<void>;
  /** Ends it for good. */
  close(): Promise<void>;
}

/** A message of the bot's, as it reads now. */
export interface TestedMessage {
  /** The event that it began with. */
  readonly eventId: EventID;
  /** Who has sent it. */
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

/** How somebody says something. */
export interface SayOptions {
  /** The first event of a thread. Default: none. */
  thread?: EventID;
  /** The event to reply to. Default: none. */
  replyTo?: EventID;
  /** More members of the content. Default: none. */
  content?: JsonObject;
}

/** How long to wait for a bot at least, in rounds of what is ready. */
const ROUNDS = 400;
/** How long besides, in milliseconds of real time: cryptography and other work in threads takes some. */
const PATIENCE = 5_000;
const BOT = "bot";

/**
 * Tries a bot on a homeserver in the process, without any permission, in a time that the test moves.
 *
 * @example
 * ```ts
 * import { Bot } from "@greenroom/matrix/bot";
 * import { BotTester } from "@greenroom/matrix/testing";
 *
 * await using tester = new BotTester((options) => {
 *   const bot = new Bot(options);
 *   bot.command("ping", (c) => c.reply("pong"));
 *   return bot;
 * });
 * const room = await tester.room("alice");
 * await room.say("!ping");
 * await room.expect("pong");
 * ```
 */
export class BotTester {
  /** Everything that the bot talks to. */
  readonly homeserver: Homeserver;
  /** The time. */
  readonly clock: TestClock;
  /** Where the bot keeps everything. */
  readonly store: KvStore = new MemoryStore();
  /** What the bot has logged, but for debugging. */
  readonly logged: string[] = [];
  readonly #make: (options: TestedBotOptions) => TestedBot;
  readonly #users = new Map<string, TestUser>();
  #bot: TestedBot | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  /**
   * Makes a homeserver; the bot begins with the first room.
   *
   * @param make Makes the bot, with its functions; again for each {@linkcode BotTester.restart}.
   */
  constructor(make: (options: TestedBotOptions) => TestedBot) {
    if (typeof make !== "function") {
      throw new ValueError("Cannot try a bot: it takes a function that makes the bot of its options");
    }
    this.#make = make;
    this.clock = new TestClock();
    this.homeserver = new Homeserver({ clock: this.clock });
  }

  /** The bot's user ID. */
  get mxid(): UserID {
    return this.#user(BOT).userId;
  }

  /** Begins, if the bot does not run. */
  async start(): Promise<void> {
    if (this.#bot !== undefined) return;
    const { homeserver, clock, store } = this;
    const { accessToken, userId: mxid } = this.#user(BOT);
    const note = (message: string, data?: Record<string, unknown>) => {
      this.logged.push(data === undefined ? message : `${message} ${Deno.inspect(data)}`);
    };
    const log = { debug() {}, info: note, warn: note, error: note };
    const { baseUrl, fetch } = homeserver;
    const bot = this.#bot = this.#make({ baseUrl, fetch, accessToken, mxid, clock, store, log });
    const syncs = () => homeserver.requests.filter("GET", "/sync").filter(({ user }) => user === mxid).length;
    const before = syncs();
    this.#running = bot.start({ signals: false }).catch((error) => this.#failure = error);
    await this.until(() => syncs() > before, "The bot was to sync, and does not");
    await this.settle();
  }

  /** Ends the bot, as a deployment does, and begins again with what it has stored. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Ends the bot, as a deployment does: users go on, and it begins again with `start()`. */
  async stop(): Promise<void> {
    await this.#end();
  }

  /**
   * Makes a room with a user and the bot, who is invited.
   *
   * @param name The user's name, like `alice`.
   * @param others More users in it. Default: none.
   * @returns The room, as the user sees it.
   */
  async room(name: string, ...others: readonly string[]): Promise<TestRoom> {
    await this.start();
    const invite = [this.mxid, ...others.map((each) => this.#user(each).userId)];
    const body = { preset: "private_chat", is_direct: others.length === 0, invite };
    const { room_id } = await this.request(name, "POST", "/createRoom", body);
    const room = new TestRoom(this, room_id as RoomID, name);
    for (const each of others) await this.request(each, "POST", `/join/${encodeURIComponent(room.id)}`, {});
    await this.until(() => room.view().membership(this.mxid) === "join", "The bot was to join, and has not");
    await this.settle();
    return room;
  }

  /**
   * Moves the time on, in steps, so that what becomes due is done when it is due.
   *
   * @param ms How far, in milliseconds.
   */
  async pass(ms: number): Promise<void> {
    await this.clock.tick(ms);
    await this.settle();
  }

  /** Lets what is ready run. */
  async settle(): Promise<void> {
    for (let round = 0; round < 10; round++) await this.clock.tick(0);
  }

  /**
   * Lets what is ready run until something has happened. The tester's clock stands still meanwhile.
   *
   * @param condition Whether it has.
   * @param otherwise What to say if it does not.
   * @throws {ExpectationError} If it has not happened after five seconds of real time.
   */
  async until(condition: () => boolean, otherwise: string): Promise<void> {
    const end = systemClock.now() + PATIENCE;
    for (let round = 0; round < ROUNDS || systemClock.now() < end; round++) {
      if (condition()) return;
      if (this.#failure !== undefined) throw this.#failure;
      await this.clock.tick(0);
    }
    const logged = this.logged.slice(-5).map((line) => `\n  logged: ${line}`).join("");
    throw new ExpectationError(`${otherwise}${logged}`);
  }

  /**
   * Requests something as a user, below `/_matrix/client/v3`.
   *
   * @param name The user's name.
   * @param method The method.
   * @param path The path.
   * @param body The body. Default: none.
   * @returns The answer.
   * @throws {ValueError} If the homeserver refuses.
   */
  async request(name: string, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const { accessToken } = this.#user(name);
    const { baseUrl, fetch } = this.homeserver;
    const response = await fetch(`${baseUrl}/_matrix/client/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (!response.ok || !isJsonObject(answer)) {
      throw new ValueError(`Cannot ${method} ${path} as ${name}: ${JSON.stringify(answer)}`);
    }
    return answer;
  }

  /** Completes a localpart with the server's name. */
  userId(name: string): UserID {
    return this.#user(name).userId;
  }

  /** Ends the bot and the homeserver. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    await this.homeserver[Symbol.asyncDispose]();
  }

  async #end(): Promise<void> {
    const closing = this.#bot?.close();
    this.#bot = undefined;
    await this.settle();
    await closing;
    await this.#running;
  }

  #user(name: string): TestUser {
    const user = this.#users.get(name) ?? this.homeserver.createUser(name);
    this.#users.set(name, user);
    return user;
  }
}

/** A room with a bot in it, as one user sees it. */
export class TestRoom {
  /** Identifies it on the homeserver. */
  readonly id: RoomID;
  readonly #tester: BotTester;
  readonly #name: string;
  #seen: { messages: number; reactions: number };

  /** @internal Rooms are made by {@linkcode BotTester.room}. */
  constructor(
    tester: BotTester,
    id: RoomID,
    name: string,
    seen: { messages: number; reactions: number } = { messages: 0, reactions: 0 },
  ) {
    this.#tester = tester;
    this.id = id;
    this.#name = name;
    this.#seen = seen;
  }

  /** The same room as another user in it sees it. */
  as(name: string): TestRoom {
    return new TestRoom(this.#tester, this.id, name, this.#seen);
  }

  /** What the homeserver has of it. */
  view(): ReturnType<Homeserver["room"]> {
    return this.#tester.homeserver.room(this.id);
  }

  /**
   * Says something.
   *
   * @param text What.
   * @param options Where, and in reply to what.
   * @returns The event.
   */
  async say(text: string, options: SayOptions = {}): Promise<EventID> {
    checkOptions(options, { thread: true, replyTo: true, content: true }, "say something");
    const { thread, replyTo, content } = options;
    const reply = replyTo === undefined ? {} : { "m.in_reply_to": { event_id: replyTo } };
    const inThread = thread === undefined ? {} : { rel_type: "m.thread", event_id: thread };
    const relation = { ...inThread, ...reply };
    const related = Object.keys(relation).length === 0 ? {} : { "m.relates_to": relation };
    return await this.send("m.room.message", { msgtype: "m.text", body: text, ...related, ...content });
  }

  /**
   * Reacts to an event.
   *
   * @param eventId The event.
   * @param key The reaction.
   * @returns The reaction's event.
   */
  async react(eventId: EventID, key: string): Promise<EventID> {
    return await this.send("m.reaction", {
      "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key },
    });
  }

  /**
   * Sends an event of any type.
   *
   * @param type The type.
   * @param content The content.
   * @returns The event.
   */
  async send(type: string, content: JsonObject): Promise<EventID> {
    const path = `/rooms/${encodeURIComponent(this.id)}/send/${type}/${crypto.randomUUID()}`;
    const { event_id } = await this.#tester.request(this.#name, "PUT", path, content);
    return event_id as EventID;
  }

  /** The bot's messages, each as it reads now, in order. */
  get messages(): readonly TestedMessage[] {
    const { mxid } = this.#tester;
    const own = this.view().messages.filter(({ type, sender }) =>
      type === "m.room.message" && sender === mxid
    );
    const byId = new Map<string, TestedMessage>();
    for (const { event_id, sender, content } of own) {
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
      byId.set(event_id, {
        eventId: event_id as EventID,
        sender: sender as UserID,
        replyTo,
        thread,
        ...readAs(content),
      });
    }
    return [...byId.values()];
  }

  /**
   * Waits for the bot's next message, after the one that was expected last.
   *
   * @param text What it says, in plain text; or what that matches.
   * @returns The message.
   * @throws {ExpectationError} If it says something else, or nothing.
   */
  async expect(text: string | RegExp): Promise<TestedMessage> {
    const next = () => this.messages[this.#seen.messages];
    const fits = () => {
      const said = next()?.text;
      return said !== undefined && (typeof text === "string" ? said === text : text.test(said));
    };
    const otherwise = () => {
      const said = next();
      return `The bot was to say ${Deno.inspect(text)}, and ${
        said === undefined ? "says nothing" : `says ${Deno.inspect(said.text)}`
      }`;
    };
    try {
      await this.#tester.until(fits, "");
    } catch (error) {
      if (!(error instanceof ExpectationError)) throw error;
      throw new ExpectationError(`${otherwise()}${error.message}`);
    }
    const message = next() as TestedMessage;
    this.#seen.messages++;
    return message;
  }

  /**
   * Waits for the bot's next reaction.
   *
   * @param key The reaction.
   * @returns The event that it is to.
   * @throws {ExpectationError} If there is another, or none.
   */
  async expectReaction(key: string): Promise<EventID> {
    const { mxid } = this.#tester;
    const next = () => {
      const own = this.view().messages.filter(({ type, sender }) => type === "m.reaction" && sender === mxid);
      const relation = own[this.#seen.reactions]?.content["m.relates_to"];
      return isJsonObject(relation) ? relation : undefined;
    };
    await this.#tester.until(() => next()?.key === key, `The bot was to react with ${key}`);
    const relation = next();
    this.#seen.reactions++;
    return relation?.event_id as EventID;
  }

  /**
   * Lets the bot do what is ready, and sees that it says nothing new.
   *
   * @throws {ExpectationError} If it says something.
   */
  async expectNothing(): Promise<void> {
    await this.#tester.settle();
    const said = this.messages[this.#seen.messages];
    if (said !== undefined) {
      throw new ExpectationError(`The bot was to say nothing, and says ${Deno.inspect(said.text)}`);
    }
  }
}

function readAs(content: JsonObject): Pick<TestedMessage, "text" | "html" | "content"> {
  const { body, formatted_body: html } = content;
  return {
    text: typeof body === "string" ? body : "",
    html: typeof html === "string" ? html : undefined,
    content,
  };
}

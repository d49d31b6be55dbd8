/**
 * Tries a bot as its users would: they say something, and it answers.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { platform } from "../base/platform/mod.ts";
import type { StartOptions, Store } from "../../mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { MemoryStore } from "../store/base/mod.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";
import { Homeserver } from "./homeserver.ts";
import { TestClock } from "./test_clock.ts";
import { ExpectationError } from "./views.ts";
import { TestRoom } from "./test_room.ts";
import type { TestUser } from "./test_user.ts";
import { BOT_TESTER_HINTS } from "./testing_hints.ts";

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
  readonly store: Store;
  /** Collects what is logged. */
  readonly log: Logger;
}

/** What of a bot is used. */
export interface TestedBot {
  /** Begins; resolves when the bot was stopped. */
  start(options?: Pick<StartOptions, "signals">): Promise<void>;
  /** Closes the bot for good. */
  close(): Promise<void>;
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
  /** The homeserver of the bot and its users. */
  readonly homeserver: Homeserver;
  /** The clock of the bot and the homeserver: {@linkcode BotTester.pass} moves it on. */
  readonly clock: TestClock;
  /** The store of the bot: it stays through {@linkcode BotTester.restart}. */
  readonly store: Store = new MemoryStore();
  /** The lines that the bot has logged, without those for debugging. */
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
      throw new ValueError(
        "Cannot try a bot: it takes a function that makes the bot; write new BotTester((options) => new Bot(options))",
      );
    }
    this.#make = make;
    this.clock = new TestClock();
    this.homeserver = new Homeserver({ clock: this.clock });
  }

  /**
   * Makes a tester, and starts the bot.
   *
   * @param make Makes the bot, with its functions; again for each {@linkcode BotTester.restart}.
   * @returns The tester.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = await BotTester.create((options) => new Bot(options));
   * console.assert(tester.homeserver.requests.last?.user === tester.mxid);
   * ```
   */
  static async create(make: (options: TestedBotOptions) => TestedBot): Promise<BotTester> {
    const tester = new BotTester(make);
    try {
      await tester.start();
    } catch (error) {
      await tester.close();
      throw error;
    }
    return tester;
  }

  /** The bot's user ID. */
  get mxid(): UserID {
    return this.#user(BOT).userId;
  }

  /**
   * Starts the bot, unless it runs. {@linkcode BotTester.room} does that as well.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * await tester.start();
   * ```
   */
  async start(): Promise<void> {
    if (this.#bot !== undefined) return;
    const { homeserver, clock, store } = this;
    const { accessToken, userId: mxid } = this.#user(BOT);
    const note = (message: string, data?: Record<string, unknown>) => {
      this.logged.push(data === undefined ? message : `${message} ${platform.inspect(data)}`);
    };
    const log = { debug() {}, info: note, warn: note, error: note };
    const { baseUrl, fetch } = homeserver;
    const bot = this.#make({ baseUrl, fetch, accessToken, mxid, clock, store, log }) as TestedBot | undefined;
    if (typeof bot?.start !== "function") {
      throw new ValueError(
        "Cannot try a bot: the function that makes it returns none; end it with return bot",
      );
    }
    this.#bot = bot;
    const syncs = () =>
      ["GET", "POST"].flatMap((method) => homeserver.requests.filter(method, "/sync"))
        .filter(({ user }) => user === mxid).length;
    const before = syncs();
    this.#running = bot.start({ signals: false }).catch((error) => this.#failure = error);
    await this.until(() => syncs() > before, "The bot was to sync, and does not");
    await this.settle();
  }

  /**
   * Stops the bot, and starts a new one with the same store, as a deployment does.
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
   * await tester.restart();
   * await room.say("!ping");
   * await room.expect("pong");
   * ```
   */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /**
   * Stops the bot. Its users and the homeserver go on; `start()` starts a new bot with the same
   * store.
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
   * await tester.stop();
   * await room.say("!ping"); // the bot answers when it is back
   * await tester.start();
   * await room.expect("pong");
   * ```
   */
  async stop(): Promise<void> {
    await this.#end();
  }

  /**
   * Creates a room, invites the bot, and waits until it has joined. Starts the bot if it does not
   * run.
   *
   * @param name The user who creates the room: a localpart, like `alice`.
   * @param others More users in it. Default: none.
   * @returns The room, as the user sees it.
   * @throws {ExpectationError} If the bot does not join.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * const room = await tester.room("alice", "bob");
   * await room.as("bob").say("Hello!");
   * ```
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
   * Moves the clock on, and lets the bot do what it does in that time.
   *
   * @param time How far: like `1h30m`, or in milliseconds.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => {
   *   const bot = new Bot(options);
   *   bot.command("tea", (c) => c.remind("3m", "Tea is ready"));
   *   return bot;
   * });
   * const room = await tester.room("alice");
   * await room.say("!tea");
   * await tester.pass("3m");
   * await room.expect(/Tea is ready/);
   * ```
   */
  async pass(time: number | string): Promise<void> {
    if (typeof time === "number" && time < 0) {
      throw new ValueError(`Cannot let ${time} milliseconds pass: give a number that is not below 0`);
    }
    await this.clock.tick(time);
    await this.settle();
  }

  /**
   * Lets the bot do what it can do now. The clock stands still.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * const room = await tester.room("alice");
   * await room.say("Hello!");
   * await tester.settle(); // the bot has handled it
   * ```
   */
  async settle(): Promise<void> {
    for (let round = 0; round < 10; round++) await this.clock.tick(0);
  }

  /**
   * Waits until a condition holds. The clock of the tester stands still meanwhile.
   *
   * @param condition Returns whether it holds.
   * @param otherwise The message of the error if it does not.
   * @throws {ExpectationError} If it does not hold after five seconds of real time.
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
   * const id = await room.say("!ping");
   * const isAnswered = () => room.messages.some(({ replyTo }) => replyTo === id);
   * await tester.until(isAnswered, "The bot was to answer");
   * ```
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
   * Sends a request of the client-server API as a user.
   *
   * @param name The user: a localpart.
   * @param method The HTTP method.
   * @param path The path below `/_matrix/client/v3`.
   * @param body The body, sent as JSON. Default: none.
   * @returns The body of the response.
   * @throws {ValueError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * await tester.request("alice", "PUT", "/profile/@alice:localhost/displayname", { displayname: "Alice" });
   * ```
   */
  async request(name: string, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    return await this.#user(name).request(method, path, body);
  }

  /**
   * Returns the user ID of a user, who is created if need be.
   *
   * @param name The localpart, like `alice`.
   * @returns The user ID.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * console.assert(tester.userId("alice") === "@alice:localhost");
   * ```
   */
  userId(name: string): UserID {
    return this.#user(name).userId;
  }

  /**
   * Stops the bot, and closes the homeserver.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * const tester = new BotTester((options) => new Bot(options));
   * await tester.start();
   * await tester.close(); // or `await using tester = …`
   * ```
   */
  async close(): Promise<void> {
    await this.#end();
    await this.homeserver.close();
  }

  /** Stops the bot, and closes the homeserver, as {@linkcode BotTester.close} does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
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

hintAt(BotTester.prototype, "a tester of bots", BOT_TESTER_HINTS);

/** @internal Names of other tests, for the compiler. */
export interface BotTesterHints extends Hints<typeof BOT_TESTER_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface BotTester extends BotTesterHints {}

/**
 * A room in which a bot is tried: a user says something in it, and expects what the bot says.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { platform } from "../base/platform/mod.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import { checkOptions } from "../errors/known_names.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { Homeserver } from "./homeserver.ts";
import { ExpectationError, messagesOf, type TestedMessage } from "./views.ts";
import { TEST_ROOM_HINTS } from "./testing_hints.ts";

/** Options of {@linkcode TestRoom.say}. */
export interface SayOptions {
  /** The first event of a thread. Default: none. */
  thread?: EventID;
  /** The event to reply to. Default: none. */
  replyTo?: EventID;
  /** More members of the content. Default: none. */
  content?: JsonObject;
}

/** @internal What a room asks of its {@linkcode BotTester}. */
export type RoomTester = {
  readonly mxid: UserID;
  readonly homeserver: Homeserver;
  userId(name: string): UserID;
  request(name: string, method: string, path: string, body?: JsonObject): Promise<JsonObject>;
  until(condition: () => boolean, otherwise: string): Promise<void>;
  settle(): Promise<void>;
};

/** A room with a bot in it, as one user sees it. */
export class TestRoom {
  /** What clients call the room. */
  readonly id: RoomID;
  readonly #tester: RoomTester;
  readonly #name: string;
  #seen: { messages: number; reactions: number };

  /** @internal Rooms are made by {@linkcode BotTester.room}. */
  constructor(
    tester: RoomTester,
    id: RoomID,
    name: string,
    seen: { messages: number; reactions: number } = { messages: 0, reactions: 0 },
  ) {
    this.#tester = tester;
    this.id = id;
    this.#name = name;
    this.#seen = seen;
  }

  /**
   * Returns the same room for another user who is in it.
   *
   * @param name The localpart of the user.
   * @returns The room, as that user sees it.
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
  as(name: string): TestRoom {
    return new TestRoom(this.#tester, this.id, name, this.#seen);
  }

  /**
   * Joins the room as the user, who is invited by its creator if need be.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => {
   *   const bot = new Bot(options);
   *   bot.on("join", (c) => c.send(`Welcome, ${c.displayName}!`, { format: "plain" }));
   *   return bot;
   * });
   * const room = await tester.room("alice");
   * await room.as("carol").join();
   * await room.expect("Welcome, carol!");
   * ```
   */
  async join(): Promise<void> {
    const userId = this.#tester.userId(this.#name);
    const [creator = ""] = this.view().events.map(({ sender }) => sender);
    const membership = this.view().membership(userId);
    if (membership !== "join" && membership !== "invite") {
      const localpart = creator.slice(1, creator.indexOf(":"));
      const path = `/rooms/${encodeURIComponent(this.id)}/invite`;
      await this.#tester.request(localpart, "POST", path, { user_id: userId });
    }
    await this.#tester.request(this.#name, "POST", `/join/${encodeURIComponent(this.id)}`, {});
  }

  /**
   * Leaves the room as the user.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => {
   *   const bot = new Bot(options);
   *   bot.on("leave", (c) => c.send(`Goodbye, ${c.displayName}!`, { format: "plain" }));
   *   return bot;
   * });
   * const room = await tester.room("alice", "bob");
   * await room.as("bob").leave();
   * await room.expect("Goodbye, bob!");
   * ```
   */
  async leave(): Promise<void> {
    await this.#tester.request(this.#name, "POST", `/rooms/${encodeURIComponent(this.id)}/leave`, {});
  }

  /**
   * Returns the room as it is on the homeserver: its events, state and members.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * const room = await tester.room("alice");
   * console.assert(room.view().membership(tester.mxid) === "join");
   * ```
   */
  view(): ReturnType<Homeserver["room"]> {
    return this.#tester.homeserver.room(this.id);
  }

  /**
   * Sends a text message as the user.
   *
   * @param text The text.
   * @param options The thread, and the message to reply to.
   * @returns The ID of the event.
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
   * Reacts to an event as the user.
   *
   * @param eventId The ID of the event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * const room = await tester.room("alice");
   * const id = await room.say("Hello!");
   * await room.react(id, "👍");
   * ```
   */
  async react(eventId: EventID, key: string): Promise<EventID> {
    return await this.send("m.reaction", {
      "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key },
    });
  }

  /**
   * Sends an event of any type as the user.
   *
   * @param type The type of the event.
   * @param content The content.
   * @returns The ID of the event.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => new Bot(options));
   * const room = await tester.room("alice");
   * await room.send("m.room.message", { msgtype: "m.image", body: "cat.png", url: "mxc://localhost/cat" });
   * ```
   */
  async send(type: string, content: JsonObject): Promise<EventID> {
    const path = `/rooms/${encodeURIComponent(this.id)}/send/${type}/${crypto.randomUUID()}`;
    const { event_id } = await this.#tester.request(this.#name, "PUT", path, content);
    return event_id as EventID;
  }

  /** The messages of the bot in this room, oldest first, each with its edits applied. */
  get messages(): readonly TestedMessage[] {
    const { mxid } = this.#tester;
    return messagesOf(this.view().messages.filter(({ sender }) => sender === mxid));
  }

  /**
   * Waits for the next message of the bot: the one after the message that was expected last.
   *
   * @param text The whole plain text, or a regular expression that it matches.
   * @returns The message.
   * @throws {ExpectationError} If the bot says something else, or nothing.
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
   * const { replyTo } = await room.expect(/^pong/);
   * console.assert(replyTo === id);
   * ```
   */
  async expect(text: string | RegExp): Promise<TestedMessage> {
    const next = () => this.messages[this.#seen.messages];
    const fits = () => {
      const said = next()?.text;
      return said !== undefined && (typeof text === "string" ? said === text : text.test(said));
    };
    const otherwise = () => {
      const said = next();
      return `The bot was to say ${platform.inspect(text)}, and ${
        said === undefined ? "says nothing" : `says ${platform.inspect(said.text)}`
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
   * Waits for the next reaction of the bot.
   *
   * @param key The reaction.
   * @returns The ID of the event that the bot has reacted to.
   * @throws {ExpectationError} If the bot reacts with something else, or not.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { BotTester } from "@greenroom/matrix/testing";
   *
   * await using tester = new BotTester((options) => {
   *   const bot = new Bot(options);
   *   bot.hears(/thank you/i, (c) => c.react("❤️"));
   *   return bot;
   * });
   * const room = await tester.room("alice");
   * await room.say("Thank you!");
   * await room.expectReaction("❤️");
   * ```
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
   * Lets the bot do what it can do now, and checks that it says nothing more.
   *
   * @throws {ExpectationError} If it says something.
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
   * await room.say("Hello!");
   * await room.expectNothing();
   * ```
   */
  async expectNothing(): Promise<void> {
    await this.#tester.settle();
    const said = this.messages[this.#seen.messages];
    if (said !== undefined) {
      throw new ExpectationError(`The bot was to say nothing, and says ${platform.inspect(said.text)}`);
    }
  }
}

hintAt(TestRoom.prototype, "a room of a tester", TEST_ROOM_HINTS);

/** @internal Names of clients, for the compiler. */
export interface TestRoomHints extends Hints<typeof TEST_ROOM_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface TestRoom extends TestRoomHints {}

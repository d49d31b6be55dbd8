/**
 * A message in a room, by its ID, and what a bot can do with it.
 *
 * @module
 */

import type { ClientEvent, EventID, RoomID } from "../../../types.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import type { BotSendOptions, WriteOptions } from "./writing.ts";

/** What other libraries call members of a message. */
const MESSAGE_HINTS = {
  id: "message.eventId",
  event_id: "message.eventId",
  delete: "message.redact(reason)",
  update: "message.edit(text)",
  editText: "message.edit(text)",
  addReaction: "message.react(key)",
  replyText: "message.reply(text)",
  replyInThread: "bot.in(message.roomId, { thread: message.eventId }).send(text)",
  sender: "(await message.getEvent()).sender",
  author: "(await message.getEvent()).sender",
  content: "(await message.getEvent()).content",
} as const;

/** The room of a message: does what is asked of the message. */
interface MessageRoom {
  readonly roomId: RoomID;
  readonly thread: EventID | undefined;
  send(text: string, options: BotSendOptions): Promise<BotMessage>;
  edit(message: BotMessage, text: string, options?: WriteOptions): Promise<EventID>;
  reactTo(message: BotMessage, key: string): Promise<EventID>;
  redact(message: BotMessage, reason?: string): Promise<EventID>;
  pin(message: BotMessage): Promise<void>;
  unpin(message: BotMessage): Promise<void>;
  getEvent(message: BotMessage): Promise<ClientEvent>;
}

/**
 * A message in a room: one that the bot has sent, or that another replies to. In text and in JSON it is its
 * event ID, and it is taken wherever the kit takes an event ID. To keep it in a session, keep its
 * `eventId`.
 *
 * What is done with it in a function is a step of that function, and done once; in no function, it is done
 * as by {@linkcode Bot.in}.
 *
 * @example
 * ```ts
 * import { Composer } from "@greenroom/matrix/bot";
 *
 * const plugin = new Composer();
 * plugin.command("build", async (c) => {
 *   const message = await c.reply("Building …");
 *   await message.react("⏳");
 *   await message.edit("**Built**");
 * });
 * ```
 */
export class BotMessage {
  /** What the homeserver calls the message. */
  readonly eventId: EventID;
  /** Where the message was sent. */
  readonly roomId: RoomID;
  readonly #room: MessageRoom;

  /** @internal Made by rooms. */
  constructor(room: MessageRoom, eventId: EventID) {
    this.eventId = eventId;
    this.roomId = room.roomId;
    this.#room = room;
  }

  /**
   * Replaces the text of a message that the bot has sent.
   *
   * @param text The new text, no longer than fits into one message.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The ID of the edit.
   * @throws {ValueError} If the text does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("countdown", async (c) => {
   *   const message = await c.send("3 …");
   *   for (const count of ["2 …", "1 …", "**Go!**"]) await message.edit(count);
   * });
   * ```
   */
  edit(text: string, options?: WriteOptions): Promise<EventID> {
    return this.#room.edit(this, text, options);
  }

  /**
   * Reacts to the message.
   *
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("vote <question...>", async (c) => {
   *   const question = await c.send(c.args.question, { format: "plain" });
   *   for (const key of ["👍", "👎"]) await question.react(key);
   * });
   * ```
   */
  react(key: string): Promise<EventID> {
    return this.#room.reactTo(this, key);
  }

  /**
   * Replies to the message. Nobody is notified, unless `mentions` or the text says so.
   *
   * @param text The text.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The message that was sent.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("riddle", async (c) => {
   *   const riddle = await c.send("What has keys, and opens no lock?");
   *   await riddle.reply("||A piano.||");
   * });
   * ```
   */
  reply(text: string, options: WriteOptions = {}): Promise<BotMessage> {
    return this.#room.send(text, { ...options, replyTo: this });
  }

  /**
   * Redacts the message: removes its content for everybody.
   *
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the message is another
   *   user's and the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("remove", { powerLevel: 50 }, async (c) => { // as a reply to what is to go
   *   await c.replyTo?.redact("A moderator has removed it");
   * });
   * ```
   */
  redact(reason?: string): Promise<EventID> {
    return this.#room.redact(this, reason);
  }

  /**
   * Pins the message, as {@linkcode BotRoom.pin} does.
   *
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rules <text...>", { powerLevel: 50 }, async (c) => {
   *   const rules = await c.send(c.args.text);
   *   await rules.pin();
   * });
   * ```
   */
  pin(): Promise<void> {
    return this.#room.pin(this);
  }

  /**
   * Takes the message out of those that are pinned.
   *
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * // As a reply to what is pinned.
   * plugin.command("unpin", { powerLevel: 50 }, (c) => c.replyTo?.unpin());
   * ```
   */
  unpin(): Promise<void> {
    return this.#room.unpin(this);
  }

  /**
   * Reads the event of the message, as {@linkcode BotRoom.getEvent} does.
   *
   * @returns The event; an encrypted one is decrypted, if the bot has its key.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `NotFoundError` if there is no such event.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("who", async (c) => { // as a reply to a message
   *   const event = await c.replyTo?.getEvent();
   *   await c.reply(event?.sender ?? "Reply to a message", { format: "plain" });
   * });
   * ```
   */
  getEvent(): Promise<ClientEvent> {
    return this.#room.getEvent(this);
  }

  /** Returns the event ID, so that the message can stand in a template string. */
  toString(): EventID {
    return this.eventId;
  }

  /** Returns the event ID, as JSON has it. */
  toJSON(): EventID {
    return this.eventId;
  }
}

hintAt(BotMessage.prototype, "a message", MESSAGE_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface BotMessageHints extends Hints<typeof MESSAGE_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface BotMessage extends BotMessageHints {}

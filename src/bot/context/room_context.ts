/**
 * What a function of a bot is called with, of the room: a reminder's, or an event's.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { matrixToUrl, toUserId, ValueError } from "../../../mod.ts";
import {
  EncryptionAlgorithm,
  type EventID,
  type MatrixEvent,
  Membership,
  type RoomID,
  type RoomMemberContent,
  type UserID,
} from "../../../types.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import type { Kit } from "../kit.ts";
import { countPoll, type PollTally } from "../polls/polls.ts";
import type { Run, Scene } from "../run/mod.ts";
import { memberOf } from "../text/mod.ts";
import { CONTEXT_ROOM_HINTS, ROOM_CONTEXT_HINTS, type SESSION_HINT } from "./context_hints.ts";
import { HandlerRoom } from "./handler_room.ts";
import type { Place } from "./room_messages.ts";
import { checkReason, eventIdOf, type MessageRef } from "./writing.ts";

/**
 * A room, or a thread in it, in which a bot does something. What is done in it is a step of the
 * handler: when the handler waits for an answer, the steps before are kept, and not done again.
 */
export class RoomContext extends HandlerRoom {
  /**
   * The room: its `id`, `name`, `topic` and members,
   * and all that goes into the room itself and not into its thread.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("announce <words...>", (c) => c.room.send(c.args.words, { format: "plain" }));
   * plugin.command("where", (c) => c.reply(`This is ${c.room.name ?? c.room.id}.`, { format: "plain" }));
   * ```
   */
  get room(): ContextRoom {
    const { asker, about, scene } = this;
    const room = new ContextRoom(this.kit, this.run, { room: this.roomId }, { asker, about, scene });
    Object.defineProperty(this, "room", { value: room }); // it stays the same
    return room;
  }

  /**
   * Counts the votes of a poll. It reads them from the server page by page, and keeps one of each
   * user: memory grows with the users who voted, not with their votes. In an encrypted room, votes
   * that are not encrypted do not count, since the homeserver can write them.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The poll, or its event ID.
   * @returns The votes for each answer, and which answers have most.
   * @throws {ValueError} If the event is no poll, or was sent without encryption into an encrypted
   *   room.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("count", async (c) => { // in reply to the poll
   *   if (c.replyTo === undefined) return;
   *   const { voters } = await c.getPollResults(c.replyTo);
   *   await c.reply(`${voters} users have voted so far.`);
   * });
   * ```
   */
  async getPollResults(poll: MessageRef): Promise<PollTally> {
    const id = eventIdOf(poll, "count the votes of a poll", this.roomId);
    return await this.run.step(
      "tally",
      (at) => this.kit.once.value(this.run, at, () => countPoll(this.client, this.roomId, id)),
    );
  }

  /**
   * Returns whether a user is an admin of the bot: listed in the option `admins`, or by power level
   * in this room, as that option says.
   *
   * @param userId The user.
   * @returns Whether the user is an admin.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addReport(bot: Bot): void {
   *   bot.reminder("report", async (c) => {
   *     if (c.by !== undefined && await c.isAdmin(c.by)) await c.send("All is well.");
   *   });
   * }
   * ```
   */
  async isAdmin(userId: UserID): Promise<boolean> {
    return await this.run.begun.during(() => this.kit.access.isAdmin(userId, this.roomId));
  }

  /**
   * Leaves the room, after what the bot has said so far was sent.
   *
   * @param reason Why. Default: none.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("leave", { access: "admins" }, async (c) => {
   *   await c.reply("Goodbye!");
   *   await c.leave("An admin has told me to");
   * });
   * ```
   */
  async leave(reason?: string): Promise<void> {
    checkReason(reason, "leave");
    const { run } = this;
    await run.act(
      "leave",
      async () => void await this.client.leaveRoom(this.roomId, { reason, signal: run.signal }),
    );
  }

  /**
   * Returns a matrix.to link to this room, or to an event in it, that any client opens.
   *
   * @param message The message, or the ID of any event. Default: the room itself.
   * @returns The link.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("link", (c) => c.reply(c.permalink(c.replyTo)));
   * ```
   */
  permalink(message?: MessageRef): string {
    const eventId = message === undefined ? undefined : eventIdOf(message, "make a link", this.roomId);
    const { mxid } = this.client;
    return matrixToUrl({
      id: this.roomId,
      eventId,
      via: mxid === "" ? [] : [mxid.slice(mxid.indexOf(":") + 1)],
    });
  }
}

hintAt(RoomContext.prototype, "a context", ROOM_CONTEXT_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface RoomContextHints extends Hints<typeof ROOM_CONTEXT_HINTS & typeof SESSION_HINT> {}

/** What other libraries call it is refused with the name that it has here. */
export interface RoomContext extends RoomContextHints {}

/** Who asked for what a function does, and the event that it is about. */
interface Asked {
  readonly asker: string | undefined;
  readonly about: MatrixEvent & { readonly sender?: string } | undefined;
  readonly scene: Scene | undefined;
}

/** A room in which a function of a bot does something: {@linkcode RoomContext.room}. */
export class ContextRoom extends RoomContext {
  readonly #asked: Asked;

  /** @internal Made by contexts. */
  constructor(kit: Kit, run: Run, place: Place, asked: Asked) {
    super(kit, run, place);
    this.#asked = asked;
  }

  /** @internal */
  protected override get asker(): Asked["asker"] {
    return this.#asked.asker;
  }

  /** @internal */
  protected override get about(): Asked["about"] {
    return this.#asked.about;
  }

  /** @internal */
  protected override get scene(): Scene | undefined {
    return this.#asked.scene;
  }

  /** The ID of the room, as `roomId` has it. */
  get id(): RoomID {
    return this.roomId;
  }

  /**
   * The name of the room, as it was when the function was called, or as the function has set it; undefined if
   * it has none, as direct chats. Users choose it: send it with `format: "plain"`, or by `escapeMarkdown()`.
   *
   * @throws {ValueError} If it is another room than that of the event or reminder: `getName()` reads that.
   */
  get name(): string | undefined {
    return this.#seen("name", "getName()").name;
  }

  /**
   * What the room is about, as it was when the function was called, or as the function has set it;
   * undefined if it does not say.
   *
   * @throws {ValueError} If it is another room than that of the event or reminder: `getTopic()` reads that.
   */
  get topic(): string | undefined {
    return this.#seen("topic", "getTopic()").topic;
  }

  /**
   * Whether the room was encrypted when the function was called.
   * How the event itself was, `c.encryption` says.
   *
   * @throws {ValueError} If it is another room than that of the event or reminder:
   *   `client.isRoomEncrypted()` asks for that.
   */
  get isEncrypted(): boolean {
    return this.#seen("isEncrypted", "client.isRoomEncrypted(room.id)").isEncrypted;
  }

  /**
   * Gives a user a power level, and leaves those of others as the homeserver has them.
   * Two changes at the same time may undo one another: Matrix replaces all levels of a room together.
   *
   * @param userId The ID of the user.
   * @param level The level: mostly 100 for admins, 50 for moderators, 0 for others, -1 for who may not speak.
   * @returns The ID of the event.
   * @throws {ValueError} If it is no user ID, or no whole number.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command(
   *   "promote <user>",
   *   { access: "admins", args: { user: "user" } },
   *   (c) => c.room.setPowerLevel(c.args.user, 50),
   * );
   * ```
   */
  async setPowerLevel(userId: string, level: number): Promise<EventID> {
    const user = toUserId(userId);
    if (!Number.isSafeInteger(level)) {
      throw new ValueError(`Cannot set a power level: it must be a whole number, not ${level}`);
    }
    return await this.within((run) =>
      run.act("level", async () => {
        const levels = await this.client.getStateEvent(this.roomId, "m.room.power_levels");
        const users = { ...levels.users, [user]: level };
        const { signal } = run;
        return await this.client.sendStateEvent(this.roomId, "m.room.power_levels", { ...levels, users }, {
          signal,
        });
      })
    );
  }

  /**
   * Encrypts the room from now on, for good: nothing takes that back.
   *
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("encrypt", { access: "admins" }, async (c) => {
   *   if (!c.room.isEncrypted) await c.room.enableEncryption();
   *   await c.reply("From now on, what is said here is encrypted.");
   * });
   * ```
   */
  async enableEncryption(): Promise<EventID> {
    const algorithm = EncryptionAlgorithm.MEGOLM_V1;
    const id = await this.within((run) =>
      run.act(
        "encrypt",
        () =>
          this.client.sendStateEvent(this.roomId, "m.room.encryption", { algorithm }, { signal: run.signal }),
      )
    );
    if (this.scene !== undefined) this.scene.isEncrypted = true;
    return id;
  }

  #seen(name: string, read: string): Scene {
    if (this.scene !== undefined) return this.scene;
    throw new ValueError(
      `Cannot read ${name} of room ${this.roomId}: it was not read when the function was called; write await ${read}`,
    );
  }

  /**
   * Reads the name of the room, as it is now.
   *
   * @returns The name; undefined if it has none, as direct chats.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("member:join", async (c) => c.send(`Welcome to ${await c.room.getName()}`, { format: "plain" }));
   * ```
   */
  getName(): Promise<string | undefined> {
    return this.#textOf("m.room.name", "name");
  }

  /**
   * Reads what the room is about, as it is now.
   *
   * @returns The topic; undefined if it has none.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("topic", async (c) => c.reply(await c.room.getTopic() ?? "None", { format: "plain" }));
   * ```
   */
  getTopic(): Promise<string | undefined> {
    return this.#textOf("m.room.topic", "topic");
  }

  /**
   * Reads what is known of a member: the display name, the avatar, and the membership.
   *
   * @param userId The ID of the user.
   * @throws {ValueError} If it is no user ID.
   * @returns The content of the member's event; undefined if the user never was in the room.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("whoami", async (c) => {
   *   const member = await c.room.getMember(c.sender);
   *   await c.reply(member?.displayname ?? c.sender, { format: "plain" });
   * });
   * ```
   */
  async getMember(userId: string): Promise<RoomMemberContent | undefined> {
    return await this.client.stateStore.getMember(this.roomId, toUserId(userId));
  }

  /**
   * Reads who is in the room. The homeserver is asked for those that it has not sent yet.
   *
   * @returns What is known of each user who has joined, by user ID.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("members", async (c) => {
   *   const members = await c.room.getMembers();
   *   const names = [...members].map(([userId, { displayname }]) => displayname ?? userId);
   *   await c.reply(`${members.size}: ${names.join(", ")}`, { format: "plain" });
   * });
   * ```
   */
  async getMembers(): Promise<Map<UserID, RoomMemberContent>> {
    const { stateStore } = this.client;
    if (!await stateStore.hasFullMemberList(this.roomId)) {
      await this.client.getMembers(this.roomId, { signal: this.signal });
    }
    return await stateStore.getMembers(this.roomId, [Membership.JOIN]);
  }

  /**
   * Reads what a user may do.
   *
   * @param userId The ID of the user.
   * @throws {ValueError} If it is no user ID.
   * @returns The power level: mostly 100 of admins, 50 of moderators, 0 of others; 0 if it is not known.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("level", async (c) => c.reply(`You have ${await c.room.getPowerLevel(c.sender)}`));
   * ```
   */
  async getPowerLevel(userId: string): Promise<number> {
    return await this.client.stateStore.getPowerLevel(this.roomId, toUserId(userId)) ?? 0;
  }

  async #textOf(type: string, name: string): Promise<string | undefined> {
    const state = await this.client.stateStore.getState(this.roomId, type);
    const text = memberOf(state?.content, name);
    return typeof text === "string" && text !== "" ? text : undefined;
  }
}

hintAt(ContextRoom.prototype, "a room", CONTEXT_ROOM_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface ContextRoomHints extends Hints<typeof CONTEXT_ROOM_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface ContextRoom extends ContextRoomHints {}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { Client, Logger, SessionDefinition, SessionKey } from "../../../mod.ts";
import type { ClientEvent, ContentURI, ImageInfo } from "../../../types.ts";
import type { PollOptions, SendPollOptions } from "../polls/polls.ts";
import type { PendingReminder } from "../timers/timers.ts";
import type { BotMessage } from "./bot_message.ts";
import type { NamedReminder, ReminderDelay } from "./handler_room.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import type {
  AudioOptions,
  BotMedia,
  BotSendOptions,
  FileOptions,
  ImageOptions,
  StickerOptions,
  VideoOptions,
  WriteOptions,
} from "./writing.ts";

/** What a function can do in its run, and members of {@linkcode BotRoom}. */
export interface RoomContext {
  /** The bot's client. */
  readonly client: Client;

  /** Aborts when the handler's time is over, or the bot stops. Pass it to requests and other long work. */
  get signal(): AbortSignal;

  /** The logger of the bot. */
  get log(): Logger;

  /**
   * Shows that the bot is typing while work is done.
   *
   * @param work A promise, or a function that returns one.
   * @returns What the work returns.
   * @throws {ValueError} If there is no work.
   * @throws What the work throws.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("weather", async (c) => {
   *   const response = await c.typing(() => fetch("https://weather.example/today", { signal: c.signal }));
   *   await c.reply(await response.text(), { format: "plain" });
   * });
   * ```
   */
  typing<Result>(work: Promise<Result> | (() => Promise<Result>)): Promise<Result>;

  /**
   * Shows that the bot is typing, for up to 30 seconds; what takes longer is given as work.
   *
   * @param isTyping Whether it is; false takes it back. Default: true.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("joke", async (c) => {
   *   await c.typing();
   *   await c.reply("Two clients walk into a room …");
   *   await c.typing(false);
   * });
   * ```
   */
  typing(isTyping?: boolean): Promise<void>;

  /**
   * Does something once. When the handler runs again, after an answer or a crash, it does not do the
   * work again and returns the same result. Use it for everything that `c` does not do: requests,
   * random numbers, the time, a language model. The result is committed before this resolves; only a
   * crash before that makes the work run again. The work can't ask questions.
   *
   * @param work What to do. It returns plain data; of a message its `eventId`.
   * @returns The result.
   * @throws What the work throws.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("dice", async (c) => {
   *   const rolled = await c.step(() => Math.ceil(Math.random() * 6));
   *   const guess = await c.ask("I have rolled a die. What is it?"); // then the handler runs again: same roll
   *   await c.reply(Number(guess.text) === rolled ? "Right!" : `No, ${rolled}.`);
   * });
   * ```
   */
  step<Result>(work: () => Result | Promise<Result>): Promise<Result>;

  /**
   * Gets the state of a session, to read and to change, and locks it for this handler. No other handler has
   * it until this one has ended. Then the changes are committed together with the record that the event was
   * handled. A handler that asks a question releases its sessions: take them again after the answer.
   *
   * @param definition The definition of the session.
   * @param key The key of the session. Default: the key of the event, as `definition.per` says.
   * @returns The state: change its properties.
   * @throws {ValueError} If the event has no such key, or another handler holds the session and
   *   waits for this one.
   *
   * @example
   * ```ts ignore
   * import { Composer, defineSession } from "@greenroom/matrix/bot";
   *
   * const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });
   * const plugin = new Composer();
   * plugin.command("count", async (c) => {
   *   const state = await c.getSession(counter);
   *   await c.reply(`We are at ${++state.count}.`);
   * });
   * ```
   */
  getSession<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<State>;

  /**
   * Deletes a session when the handler has ended: the next use begins with the initial state.
   *
   * @param definition The definition of the session.
   * @param key The key of the session. Default: the key of the event.
   *
   * @example
   * ```ts ignore
   * import { Composer, defineSession } from "@greenroom/matrix/bot";
   *
   * const game = defineSession({ name: "game", per: "room", initial: () => ({ moves: 0 }) });
   * const plugin = new Composer();
   * plugin.command("giveup", async (c) => {
   *   await c.endSession(game);
   *   await c.reply("The next move begins a new game.");
   * });
   * ```
   */
  endSession<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<void>;

  /**
   * Reminds at a time, once, also after a restart. A text that is said more than five minutes late, since the
   * bot was away, ends with when it was due: `Tea! (due 2026-01-31 08:00 UTC)`. A function gets how late it
   * is as `c.late`.
   *
   * @param when A date, `{ in: milliseconds }`, or what an argument of type `duration` or `date` may be:
   *   `1h30m`, `2026-12-24T18:00`.
   * @param what What to say, or what to call: see {@linkcode Bot.reminder}.
   * @returns The reminder; `bot.reminders.cancel()` takes its `id`.
   * @throws {ValueError} If there is no such time, no text, or no such function; or if the user has as many
   *   reminders pending in this room as `maxReminders` allows, 100 by default.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   * import { ValueError } from "@greenroom/matrix";
   *
   * const plugin = new Composer();
   * plugin.command("tea", async (c) => {
   *   try {
   *     await c.remind("3m", "Tea!");
   *   } catch (error) {
   *     if (!(error instanceof ValueError)) throw error;
   *     await c.reply("You have too many reminders here.");
   *   }
   * });
   * ```
   */
  remind(when: Date | ReminderDelay | string, what: string | NamedReminder): Promise<PendingReminder>;

  /**
   * Sends text later, once, also after a restart. The homeserver sends it, though the bot is away then, if it
   * can (`client.supports("org.matrix.msc4140")`), if that is not too late for it, and if the room is not
   * encrypted. Else the bot sends it, as it sends reminders. What the homeserver could not send at its time,
   * as Synapse if the bot had sent too much, the bot sends when it is there. If the room is encrypted before
   * the time comes, a bot that runs takes the text back from the homeserver, and sends it itself. If the
   * function fails, the text is not sent. `bot.later.list()` lists the texts that are pending.
   *
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @param when When, as for {@linkcode RoomContext.remind}.
   * @param text The text, no longer than fits into one message.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns Names the message, for `bot.later.cancel()` and `bot.later.restart()`.
   * @throws {ValueError} If there is no such time, or the text does not fit into one message; or if the user
   *   has as many reminders, and messages for later, pending in this room as `maxReminders` allows.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("break", async (c) => {
   *   await c.reply("Back in a quarter of an hour.");
   *   await c.later("15m", "**The second act begins.**");
   * });
   * ```
   */
  later(
    when: Date | ReminderDelay | string,
    text: string,
    options?: BotSendOptions,
  ): Promise<string>;

  /**
   * Removes a user from the room, who may come back; or takes an invitation back.
   *
   * @param userId The ID of the user.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command(
   *   "kick <user> [reason...]",
   *   { access: "admins", args: { user: "user" } },
   *   (c) => c.kick(c.args.user, c.args.reason),
   * );
   * ```
   */
  kick(userId: string, reason?: string): Promise<void>;

  /**
   * Bans a user from the room: removes the user, who can't come back before {@linkcode BotRoom.unban}.
   *
   * @param userId The ID of the user, who need not be in the room.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   * import { ForbiddenError } from "@greenroom/matrix/errors";
   *
   * const plugin = new Composer();
   * plugin.command("ban <user> [reason...]", { access: "admins", args: { user: "user" } }, async (c) => {
   *   try {
   *     await c.ban(c.args.user, c.args.reason);
   *   } catch (error) {
   *     if (!(error instanceof ForbiddenError)) throw error;
   *     await c.reply("I may not ban anybody here.");
   *   }
   * });
   * ```
   */
  ban(userId: string, reason?: string): Promise<void>;

  /**
   * Takes a user's ban back. If the process ends between the homeserver's answer and the record of it,
   * this is done again, and refused since the user is banned no more.
   *
   * @param userId The ID of the user.
   * @param reason Why. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses, also if the user is not banned.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("unban <user>", { access: "admins", args: { user: "user" } }, async (c) => {
   *   await c.unban(c.args.user);
   *   await c.invite(c.args.user);
   * });
   * ```
   */
  unban(userId: string, reason?: string): Promise<void>;

  /**
   * Invites a user into the room. If the process ends between the homeserver's answer and the record of it,
   * this is done again, and refused if the user has joined by then.
   *
   * @param userId The ID of the user.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses, also if the user is in the room, or banned.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("invite <user>", { args: { user: "user" } }, (c) => c.invite(c.args.user));
   * ```
   */
  invite(userId: string, reason?: string): Promise<void>;

  /**
   * Sets the topic of the room: what it is about.
   *
   * @param topic The topic.
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("topic <text...>", { access: "admins" }, (c) => c.setTopic(c.args.text));
   * ```
   */
  setTopic(topic: string): Promise<EventID>;

  /**
   * Sets the name of the room.
   *
   * @param name The name.
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rename <text...>", { access: "admins" }, (c) => c.setName(c.args.text));
   * ```
   */
  setName(name: string): Promise<EventID>;

  /**
   * Sends an image, with its size, a smaller version and a blurred one, as far as they can be made.
   *
   * @param data The image: PNG, JPEG, GIF or WebP.
   * @param options Its name, what it shows, its caption, and what it answers.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("cat", async (c) => {
   *   const response = await fetch("https://cats.example/cat.png", { signal: c.signal });
   *   await c.sendImage(await response.blob(), { filename: "cat.png", caption: "**A cat**" });
   * });
   * ```
   */
  sendImage(data: BotMedia, options?: ImageOptions): Promise<BotMessage>;

  /**
   * Uploads and sends a file; in an encrypted room, encrypted.
   *
   * @param data The content of the file.
   * @param options Its name, kind, media type and caption, and what it replies to.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("export", async (c) => {
   *   const csv = new TextEncoder().encode("name,points\nalice,3\n");
   *   await c.sendFile(csv, { filename: "points.csv", mimeType: "text/csv" });
   * });
   * ```
   */
  sendFile(data: BotMedia, options?: FileOptions): Promise<BotMessage>;

  /**
   * Uploads and sends a video, as {@linkcode BotRoom.sendFile} does with a file: clients play it.
   *
   * @param data The content of the video.
   * @param options Its name, media type, length, size and caption, and what it replies to.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("clip", async (c) => {
   *   const response = await fetch("https://clips.example/clip.mp4", { signal: c.signal });
   *   await c.sendVideo(await response.blob(), { filename: "clip.mp4", caption: "**A clip**" });
   * });
   * ```
   */
  sendVideo(data: BotMedia, options?: VideoOptions): Promise<BotMessage>;

  /**
   * Uploads and sends a recording, as {@linkcode BotRoom.sendFile} does with a file: clients play it.
   *
   * @param data The content of the recording.
   * @param options Its name, media type and caption, and what it replies to.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("song", async (c) => {
   *   const response = await fetch("https://songs.example/song.ogg", { signal: c.signal });
   *   await c.sendAudio(await response.blob(), { filename: "song.ogg", duration: "3m" });
   * });
   * ```
   */
  sendAudio(data: BotMedia, options?: AudioOptions): Promise<BotMessage>;

  /**
   * Sends a sticker.
   *
   * @param url Where the image is: an `mxc://` URI.
   * @param info What is known of the image. Default: nothing.
   * @param options What it shows, whom it notifies, what it answers.
   * @returns The message.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wave", (c) => c.sendSticker("mxc://example.org/wave", { w: 256, h: 256 }, { text: "A hand" }));
   * ```
   */
  sendSticker(
    url: ContentURI,
    info?: ImageInfo,
    options?: StickerOptions,
  ): Promise<BotMessage>;

  /**
   * Starts a poll.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param question The question.
   * @param answers The answers, 1 to 20.
   * @param options How many answers a user may choose, and whether votes are shown before the end.
   * @returns The poll: {@linkcode RoomContext.getPollResults} counts its votes.
   * @throws {ValueError} If there are no answers, or more than 20.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("lunch", (c) => c.sendPoll("Lunch?", ["Pizza", "Soup"]));
   * ```
   */
  sendPoll(question: string, answers: readonly string[], options?: SendPollOptions): Promise<BotMessage>;

  /**
   * Starts a poll that is one object, as `sendPoll(question, answers, options)` does.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The question, the answers, and the options.
   * @returns The poll: {@linkcode RoomContext.getPollResults} counts its votes.
   * @throws {ValueError} If there are no answers, or more than 20.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("lunch", (c) => c.sendPoll({ question: "Lunch?", answers: ["Pizza", "Soup"], maxSelections: 2 }));
   * ```
   */
  sendPoll(poll: PollOptions): Promise<BotMessage>;

  /**
   * Ends a poll that the bot has started, and writes the result into the event that ends it.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The poll, or its event ID.
   * @returns The votes for each answer, and which answers have most.
   * @throws {ValueError} If the event is no poll.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("close", async (c) => { // in reply to the poll
   *   if (c.replyTo === undefined) return;
   *   const { voters } = await c.endPoll(c.replyTo);
   *   await c.reply(`${voters} users have voted.`);
   * });
   * ```
   */
  endPoll(poll: MessageRef): Promise<PollTally>;

  /** The ID of the room: what is sent goes there. */
  readonly roomId: RoomID;

  /** The first event of the thread; undefined outside of threads. */
  readonly thread: EventID | undefined;

  /**
   * Sends text: into the thread, if it is in one.
   *
   * The text is Markdown, and a link to a user notifies that user. What others wrote is sent with
   * `format: "plain"`, so that nobody is notified by it; or, within Markdown, by `escapeMarkdown()`.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies, what it replies to.
   * @returns The message; the first, if there are several.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer, escapeMarkdown } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("say <words...>", (c) => c.send(c.args.words, { format: "plain" }));
   * plugin.command("shout <words...>", (c) => c.send(`**${escapeMarkdown(c.args.words)}**`));
   * ```
   */
  send(text: string, options?: BotSendOptions): Promise<BotMessage>;

  /**
   * Edits a message that the bot has sent: replaces its text.
   *
   * @param message The message, or its event ID.
   * @param text The new text, no longer than fits into one message.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The ID of the edit.
   * @throws {ValueError} If the text does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("build", async (c) => {
   *   const message = await c.send("Building …");
   *   await c.edit(message, "**Built**"); // or message.edit("**Built**")
   * });
   * ```
   */
  edit(message: MessageRef, text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param message The message, or the ID of any event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("pizza", async (c) => {
   *   const question = await c.send("Pizza tonight?");
   *   await c.reactTo(question, "👍");
   * });
   * ```
   */
  reactTo(message: MessageRef, key: string): Promise<EventID>;

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param message The message, or the ID of any event.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("whisper", async (c) => {
   *   const message = await c.send("The password is *mellon*.");
   *   await c.redact(message, "Enough people have seen it");
   * });
   * ```
   */
  redact(message: MessageRef, reason?: string): Promise<EventID>;

  /**
   * Pins a message, as clients show it above the room. Of two processes that change the pins at the same
   * moment, the later one wins.
   *
   * @param message The message, or its event ID.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rules <text...>", { powerLevel: 50 }, async (c) => {
   *   await c.pin(await c.send(c.args.text));
   * });
   * ```
   */
  pin(message: MessageRef): Promise<void>;

  /**
   * Takes a message out of those that are pinned.
   *
   * @param message The message, or its event ID.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("unpin", { powerLevel: 50 }, async (c) => { // as a reply to what is pinned
   *   if (c.replyTo !== undefined) await c.unpin(c.replyTo);
   * });
   * ```
   */
  unpin(message: MessageRef): Promise<void>;

  /**
   * Reads an event of the room.
   *
   * @param message The message, or the ID of any event.
   * @returns The event; an encrypted one is decrypted, if the bot has its key.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `NotFoundError` if there is no such event.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.reaction("❓", async (c) => {
   *   const { sender } = await c.getEvent(c.reaction);
   *   await c.send(`That was said by ${sender}`, { format: "plain" });
   * });
   * ```
   */
  getEvent(message: MessageRef): Promise<ClientEvent>;

  /**
   * Sends text while it is being made, for example the answer of a language model: a message that
   * grows by edits.
   *
   * Each edit is whole Markdown, wherever the text is divided into pieces. Edits come at most once
   * in `interval`, and no faster than the server accepts them; the last edit is always sent. A text
   * that outgrows one message goes on in the next. If the text throws, the messages keep what came
   * before, with a note. After a crash the handler runs again, and its new stream replaces the text
   * of the same messages.
   *
   * @param text The pieces of the text.
   * @param options How often to edit, and as for {@linkcode BotRoom.send}.
   * @returns The messages, and the whole text.
   * @throws What the text throws.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * async function* story() {
   *   for (const words of ["Once ", "upon ", "a time"]) yield words;
   * }
   * plugin.command("story", (c) => c.stream(story()));
   * ```
   */
  stream(text: AsyncIterable<string>, options?: StreamOptions): Promise<Streamed>;
}

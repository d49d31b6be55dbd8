/**
 * What a function of a bot can do in a room.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import {
  type Client,
  type Logger,
  matrixToUrl,
  type SessionDefinition,
  type SessionKey,
  ValueError,
} from "../../../mod.ts";
import type { EventID, MatrixEvent, UserID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import type { Kit } from "../kit.ts";
import { countPoll, type PollTally } from "../polls/mod.ts";
import { type Run, sessionKeyFor } from "../run/mod.ts";
import { BotRoom, type Place } from "./bot_room.ts";
import { checkText } from "./writing.ts";

/** A reminder for a function of the bot. */
export interface NamedReminder {
  /** The function's name, as `bot.reminder()` has it. */
  name: string;
  /** What it gets, as `c.data`: plain data. Default: nothing. */
  data?: unknown;
}

/** How long from now a reminder comes. */
export interface ReminderDelay {
  /** The time, in milliseconds. */
  in: number;
}

/** How long the server shows that somebody types, and when that is renewed, in milliseconds. */
const TYPING = 30_000;
const RENEWAL = 20_000;

/**
 * A room, or a thread in it, in which a bot does something. What is done in it is a step of the
 * handler: when the handler waits for an answer, the steps before are kept, and not done again.
 */
export class RoomContext extends BotRoom {
  /** The bot's client. */
  readonly client: Client;
  /** @internal The run. */
  protected readonly run: Run;

  /** @internal Contexts are made by the bot. */
  constructor(kit: Kit, run: Run, place: Place) {
    super(kit, place);
    this.run = run;
    this.client = kit.client;
  }

  /** @internal */
  protected override within<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return work(this.run);
  }

  /** Ends with the time of the handler, and with the bot: give it to what takes long. */
  get signal(): AbortSignal {
    return this.run.time.signal;
  }

  /** The bot's logger. */
  get log(): Logger {
    return this.client.log;
  }

  /**
   * Counts the votes of a poll. They are read from the server page by page, and one of each user is kept:
   * memory grows with the users who voted, not with their votes. In an encrypted room votes in clear, which the
   * homeserver can write, do not count.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll Its ID.
   * @returns The votes by answer, and who leads.
   * @throws {ValueError} If it is no poll, or came in clear into an encrypted room.
   */
  async getPollResults(poll: EventID): Promise<PollTally> {
    return await this.run.step(
      "tally",
      (at) => this.kit.once.value(this.run, at, () => countPoll(this.client, this.roomId, poll)),
    );
  }

  /**
   * Shows that the bot types, while something is done.
   *
   * @param work What is done.
   * @returns What that returns.
   */
  async typing<Result>(work: Promise<Result> | (() => Promise<Result>)): Promise<Result> {
    const { clock } = this.client.api;
    const ended = new AbortController();
    const show = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await this.client.setTyping(this.roomId, { timeout: TYPING, signal: ended.signal });
        await clock.delay(RENEWAL, { signal: ended.signal, persistent: false });
      }
    };
    const shown = show().catch(() => {}); // it is only shown
    try {
      return await (typeof work === "function" ? work() : work);
    } finally {
      ended.abort();
      await shown;
      await this.client.setTyping(this.roomId).catch(() => {});
    }
  }

  /**
   * Does something once: when the handler runs again after an answer, or a crash, it returns what it
   * returned. For what is not done by `c`: requests, times, chance, a model's answer. What it came to
   * is committed before it returns; only a crash until then makes it be done again. It can't ask.
   *
   * @param work What to do; what it returns has to be plain data.
   * @returns What it returned.
   */
  async step<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return await this.run.step(
      "once",
      (at) => this.kit.once.value(this.run, at, async () => await work()),
    );
  }

  /**
   * Takes a session: nobody else has it before the handler has ended, and what is made of it then is
   * committed together with the record that the event was handled. When a handler asks, it gives its
   * sessions back: take them again after the answer.
   *
   * @param definition The definition of the session.
   * @param key The key of the session. Default: that of the event, as `definition.per` says.
   * @returns The state, to be changed.
   * @throws {ValueError} If it has none, or another handler that has it waits for this one.
   */
  async session<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<State> {
    return await this.kit.sessions.take(this.run, definition, key ?? this.#keyOf(definition));
  }

  /**
   * Ends a session, when the handler has ended.
   *
   * @param definition The definition of the session.
   * @param key The key of the session. Default: that of the event.
   */
  async endSession<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<void> {
    await this.kit.sessions.end(this.run, definition, key ?? this.#keyOf(definition));
  }

  #keyOf(definition: Pick<SessionDefinition<never>, "name" | "per">): SessionKey {
    const { roomId: room, thread = "" } = this;
    return sessionKeyFor(definition, {
      event: this.about ?? {},
      room,
      sender: this.asker ?? "",
      thread,
    });
  }

  /** @internal Whose sessions of users are meant. */
  protected get asker(): string | undefined {
    return this.about?.sender;
  }

  /** @internal The event. */
  protected get about(): MatrixEvent & { readonly sender?: string } | undefined {
    return undefined;
  }

  /**
   * Reminds at a time, once, also after a restart. A text that is said more than five minutes late, since the
   * bot was away, ends with when it was due: `Tea! (due 2026-01-31 08:00 UTC)`. A function gets how late it
   * is as `c.late`.
   *
   * @param when A date, or `{ in: milliseconds }`.
   * @param what What to say, or what to call: see {@linkcode Bot.reminder}.
   * @returns Names the reminder, for `bot.reminders.cancel()`.
   * @throws {ValueError} If there is no such time, no text, or no such function; or if the user has as many
   *   reminders pending in this room as `maxReminders` allows, 100 by default.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   * import { ValueError } from "@greenroom/matrix";
   *
   * const plugin = new Composer();
   * plugin.command("tea", async (c) => {
   *   try {
   *     await c.remind({ in: 180_000 }, "Tea!");
   *   } catch (error) {
   *     if (!(error instanceof ValueError)) throw error;
   *     await c.reply("You have too many reminders here.");
   *   }
   * });
   * ```
   */
  async remind(when: Date | ReminderDelay, what: string | NamedReminder): Promise<string> {
    const due = dueTime(when, this.client.api.clock.now());
    if (typeof what !== "string") checkOptions(what, { name: true, data: true }, "remind");
    const { name, data } = typeof what === "string" ? { name: "", data: what } : what;
    this.run.after.check("remind");
    this.kit.reminders.check(due, name);
    if (name === "") checkText(data, "remind");
    const { roomId: room, thread = "" } = this;
    const event = this.answered;
    const by = this.about?.sender as UserID | undefined;
    return await this.run.step("remind", async (at) => {
      const reminder = { room, thread, event, by, name, data: structuredClone(data) } as const;
      const { context } = this.run;
      const id = context.deliveryId && `${context.deliveryId} ${at}`;
      const key = await this.kit.timers.remind(context, due, { reminder, name: id });
      this.run.atEnd.push(() => this.kit.timers.wake());
      return key;
    });
  }

  /**
   * Whether a user is an admin of the bot: in the list, or by power level in this room, as the
   * option `admins` says.
   *
   * @param userId The user.
   */
  async isAdmin(userId: UserID): Promise<boolean> {
    return await this.run.begun.during(() => this.kit.access.isAdmin(userId, this.roomId));
  }

  /**
   * Leaves the room, when the bot's answers so far have been sent.
   *
   * @param reason Why. Default: none.
   * @throws {MatrixRequestError} If the homeserver refuses.
   */
  async leave(reason?: string): Promise<void> {
    await this.run.step("leave", async () => void await this.client.leaveRoom(this.roomId, { reason }));
  }

  /** A link to this room, or to an event in it, that any client opens. */
  permalink(eventId?: EventID): string {
    const { mxid } = this.client;
    return matrixToUrl({
      id: this.roomId,
      eventId,
      via: mxid === "" ? [] : [mxid.slice(mxid.indexOf(":") + 1)],
    });
  }
}

/**
 * The time of a reminder, in milliseconds since the epoch.
 *
 * @throws {ValueError} If it is not said as it has to be: a number could be either.
 */
function dueTime(when: Date | ReminderDelay, now: number): number {
  if (when instanceof Date) return when.getTime();
  if (typeof when !== "object" || when === null) {
    throw new ValueError(
      `Cannot remind: when must be a Date, or { in: milliseconds }, and is ${typeof when}`,
    );
  }
  checkOptions(when, { in: true }, "remind");
  return now + when.in;
}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { ContentURI, ImageInfo, RoomID } from "../../../types.ts";
import type { SendPollOptions } from "../polls/mod.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import type { BotMedia, FileOptions, ImageOptions, StickerOptions, WriteOptions } from "./writing.ts";

/** What it has from elsewhere. */
export interface RoomContext {
  /** The room that it sends to. */
  readonly roomId: RoomID;

  /** The first event of the thread; undefined: none. */
  readonly thread: EventID | undefined;

  /**
   * Sends text: into the thread, if it is in one.
   *
   * The text is Markdown, and a link to a user notifies that user. What others wrote is sent with
   * `format: "plain"`, so that nobody is notified by it; or, within Markdown, by `escapeMarkdown()`.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies.
   * @returns The ID of the event, or of the first.
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
  send(text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Replaces a message of the bot's.
   *
   * @param eventId The message.
   * @param text What it says from now on: as much as one message holds.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The ID of the edit.
   * @throws {ValueError} If the text does not fit into one message.
   */
  edit(eventId: EventID, text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param eventId The event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   */
  reactTo(eventId: EventID, key: string): Promise<EventID>;

  /**
   * Redacts an event.
   *
   * @param eventId The event.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   */
  redact(eventId: EventID, reason?: string): Promise<EventID>;

  /**
   * Sends an image, with its size, a smaller version and a blurred one, as far as they can be made.
   *
   * @param data The image: PNG, JPEG, GIF or WebP.
   * @param options Its name, what it shows, its caption, and what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If the caption does not fit into one message.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("cat", async (c) => {
   *   const response = await fetch("https://cats.example/cat.png", { signal: c.signal });
   *   await c.sendImage(await response.blob(), { fileName: "cat.png", caption: "**A cat**" });
   * });
   * ```
   */
  sendImage(data: BotMedia, options?: ImageOptions): Promise<EventID>;

  /**
   * Sends a file.
   *
   * @param data The file.
   * @param options Its name, kind, media type and caption, and what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If the caption does not fit into one message.
   */
  sendFile(data: BotMedia, options?: FileOptions): Promise<EventID>;

  /**
   * Sends a sticker.
   *
   * @param url Where the image is: an `mxc://` URI.
   * @param info What is known of the image. Default: nothing.
   * @param options What it shows, whom it notifies, what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wave", (c) => c.sendSticker("mxc://example.org/wave", { w: 256, h: 256 }, { text: "A hand" }));
   * ```
   */
  sendSticker(url: ContentURI, info?: ImageInfo, options?: StickerOptions): Promise<EventID>;

  /**
   * Begins a poll.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param question The question.
   * @param answers The answers, 1 to 20.
   * @param options How many a user may choose, and whether votes are shown before the end.
   * @returns The ID of the poll: {@linkcode RoomContext.getPollResults} counts its votes.
   * @throws {ValueError} If there are too many answers, or none.
   */
  sendPoll(
    question: string,
    answers: readonly string[],
    options?: SendPollOptions,
  ): Promise<EventID>;

  /**
   * Ends a poll of the bot's, and says in it what it came to.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll Its ID.
   * @returns The votes by answer, and who has won.
   * @throws {ValueError} If it is no poll.
   */
  endPoll(poll: EventID): Promise<PollTally>;

  /**
   * Sends text as it comes, a model's answer for one: a message that grows by edits.
   *
   * Each edit is whole Markdown, however the text was cut. Edits come no more often than `interval`
   * says, and no faster than the server takes them; the last one is always sent. A text that
   * outgrows a message goes on in the next one. If the text fails midway, what came is kept, with a
   * note. After a crash the handler runs again, and what it streams then replaces what the message
   * said.
   *
   * @param text The pieces of the text.
   * @param options How often to edit, and as for {@linkcode BotRoom.send}.
   * @returns The messages, and the text.
   * @throws What the text throws.
   */
  stream(text: AsyncIterable<string>, options?: StreamOptions): Promise<Streamed>;
}

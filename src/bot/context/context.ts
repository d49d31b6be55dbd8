/**
 * An event, and what a bot can do about it: also ask, and wait for the answer.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import type { EventID, MatrixEvent, RoomID, UserID } from "../../../types.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { isSendersWord } from "../policy/mod.ts";
import { type EventOfQuery, type KeptEvent, keptUpdate, type Query, type Wait } from "../run/mod.ts";
import {
  type ChoiceLabels,
  confirmed,
  type ConfirmWords,
  confirmWords,
  exampleWords,
  meaningOf,
  withLabels,
  type Word,
} from "./choices.ts";
import { EventContext } from "./event_context.ts";
import { RoomContext } from "./room_context.ts";
import type { WriteOptions } from "./writing.ts";

/** What {@linkcode Context.ask} waits for. */
export interface AskOptions<Q extends Query> extends Pick<WriteOptions, "format" | "mentions"> {
  /**
   * Which events are answers, also of types that no function listens to; reactions have to be to the question.
   * Nearly all clients send reactions in clear, also in encrypted rooms: whether one may be the homeserver's,
   * {@linkcode Context.encryption} says. Default: `message:text`.
   */
  filter?: Q | readonly Q[];
  /** The user whose answer counts, or `anyone`. Default: the sender of the event. */
  from?: UserID | "anyone";
  /** The room to ask in: a moderators' room, for one. Default: that of the event, and its thread. */
  roomId?: RoomID;
  /** How long to wait, in milliseconds: at most 30 days. Default: a day. */
  timeout?: number;
  /**
   * Says what is wrong with an answer: that is said, and another answer waited for. Undefined:
   * nothing. It is asked once for each answer. Default: any answer will do.
   */
  check?: (answer: Context<EventOfQuery<Q>>) => string | undefined | Promise<string | undefined>;
}

/** What {@linkcode Context.wait} waits for. */
export interface WaitOptions<Q extends Query> extends Omit<AskOptions<Q>, "check" | "format" | "mentions"> {
  /** The event that reactions have to be to. Default: none, reactions are no answers. */
  reactionTo?: EventID;
  /** Whether an event is an answer: others go on as if nobody waited. Default: all that fit are. */
  accept?: (answer: Context<EventOfQuery<Q>>) => boolean | Promise<boolean>;
}

/** Whom {@linkcode Context.confirm} asks, in which words, and what counts. */
export interface ConfirmOptions extends Omit<AskOptions<never>, "filter" | "check">, ConfirmWords {
  /**
   * Whether a reaction in clear counts in an encrypted room. Nearly all clients send reactions in clear, where
   * the homeserver, or who has stolen a user's token, can write one as well. Without, the question shows the
   * words to answer with in place of reactions, and words count, and reactions that are encrypted together
   * with what they are to. Where nothing is encrypted, all counts. Default: false.
   */
  clearReactions?: boolean;
}

/** Whom {@linkcode Context.menu} asks, what it says of the choices, and what counts. */
export interface MenuOptions extends Omit<AskOptions<never>, "filter" | "check"> {
  /**
   * Whether a reaction in clear counts in an encrypted room: see {@linkcode ConfirmOptions.clearReactions}.
   * Say `false` where a choice does what others should not decide. Default: true, but for a command or a bot
   * that is `encryptedOnly`.
   */
  clearReactions?: boolean;
  /** What is said of each choice, by its reaction; `false`: nothing. Default: those that are texts. */
  labels?: ChoiceLabels | false;
}

const ASKING: OptionNames<Omit<AskOptions<Query>, "filter" | "check">> = {
  ...{ format: true, mentions: true, from: true, roomId: true, timeout: true },
};
const ASK: OptionNames<AskOptions<Query>> = { ...ASKING, filter: true, check: true };
const CONFIRM: OptionNames<ConfirmOptions> = { ...ASKING, yes: true, no: true, clearReactions: true };
const MENU: OptionNames<MenuOptions> = { ...ASKING, labels: true, clearReactions: true };
const WAIT: OptionNames<WaitOptions<Query>> = {
  ...{ filter: true, from: true, roomId: true, timeout: true, reactionTo: true, accept: true },
};

/** How long a question waits by default, in milliseconds. */
const DAY = 86_400_000;
const LONGEST_WAIT = 30 * DAY;

/**
 * An event, and what a bot can do about it: what its functions are called with.
 *
 * `Context<E>` has `event` of the type `E`; that of a command has its arguments as `args`.
 */
export class Context<E extends MatrixEvent = MatrixEvent, Arguments = unknown>
  extends EventContext<E, Arguments> {
  /**
   * Asks, and waits for an answer, which may take days and restarts: nothing of the handler stays in
   * memory. When the answer comes, the handler runs again from its beginning; what `c` did before is
   * not done again, and returns what it returned then. Whatever else a handler does before it asks
   * belongs into {@linkcode RoomContext.step}.
   * What it threw it throws again: errors of Greenroom and JavaScript of the same class, others as a
   * {@linkcode ConversationError} with their name.
   *
   * A command is no answer, nor is an event that several wait for: only the latest who asked gets
   * it. With `!cancel` the user ends the conversation, and is told so unless the function says something
   * itself when it catches the {@linkcode ConversationEndedError}.
   *
   * @param question What to say; undefined: nothing.
   * @param options What is an answer, and how long to wait.
   * @returns The answer, as a context; in text it stands for its own text.
   * @throws {ConversationEndedError} If there is none.
   * @throws {ConversationError} In `bot.catch()`, `c.step()`, a check, and while another question waits.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("signup", async (c) => {
   *   const name = await c.ask("Your name?");
   *   const age = await c.ask(`How old are you, ${name}?`, {
   *     check: ({ text }) => Number(text) > 0 ? undefined : "A number, please.",
   *   });
   *   await age.reply(`${name} is ${age}.`);
   * });
   * ```
   */
  async ask<const Q extends Query = "message:text">(
    question: string | undefined,
    options: AskOptions<Q> = {},
  ): Promise<Context<EventOfQuery<Q>>> {
    checkOptions(options, ASK, "ask");
    const { check, ...waiting } = options;
    const reactionTo = question === undefined ? undefined : await this.#put(question, waiting);
    for (;;) {
      const { at } = this.run;
      const answer = await this.#wait<Q>({ ...waiting, reactionTo });
      if (check === undefined) return answer;
      const isGood = await this.run.step("check", async () => {
        const problem = await check(answer);
        if (problem !== undefined) await answer.reply(problem);
        return problem === undefined;
      });
      if (isGood) return answer;
      if (this.run.at === at + 2) this.run.forget(at); // however often it is wrong, the record stays short
    }
  }

  /**
   * Waits for an event, as {@linkcode Context.ask} does, without a question. What comes before it is
   * called is no answer: a question to others is put with `ask()`, which loses none.
   *
   * @param options Which events count as the answer, and how long to wait.
   * @returns The event, as a context.
   * @throws {ConversationEndedError} If it does not come.
   */
  async wait<const Q extends Query = "message:text">(
    options: WaitOptions<Q> = {},
  ): Promise<Context<EventOfQuery<Q>>> {
    checkOptions(options, WAIT, "wait");
    return await this.#wait(options);
  }

  async #wait<const Q extends Query>(options: WaitOptions<Q>): Promise<Context<EventOfQuery<Q>>> {
    const { accept } = options;
    const context = (kept: KeptEvent) =>
      new Context(this.kit, this.run, keptUpdate(kept)) as Context as Context<EventOfQuery<Q>>;
    const isAnswer = (kept: KeptEvent) => {
      const answer = context(kept);
      if (this.run.encryptedOnly && !isSendersWord(answer)) return false;
      return accept === undefined || accept(answer);
    };
    return context(await this.run.wait(this.#wanted(options), isAnswer));
  }

  #wanted(options: Omit<WaitOptions<Query>, "accept">): Omit<Wait, "at"> {
    const {
      filter = "message:text",
      from = this.sender,
      roomId: room = this.roomId,
      timeout = DAY,
      reactionTo,
    } = options;
    if (!(timeout > 0 && timeout <= LONGEST_WAIT)) {
      throw new ValueError(
        `Cannot wait for an answer: timeout must be from 1 to ${LONGEST_WAIT} milliseconds`,
      );
    }
    const queries = [filter].flat();
    this.kit.conversations.listen(this.run.context, queries);
    return {
      room,
      queries,
      from: from === "anyone" ? undefined : from,
      thread: room === this.roomId ? this.thread ?? "" as const : "" as const,
      reactionTo,
      until: this.client.api.clock.now() + timeout,
    };
  }

  /**
   * Asks for a yes or a no: by a word, or by a reaction to the question, which has both already. In an
   * encrypted room a reaction in clear is no answer, unless `clearReactions` says so, and the question names
   * the words instead.
   *
   * Yes are ✅, ☑️, ✔️, 👍, and `yes`, `y`, `yeah`, `yep`, `yes please`, `sure`, `ok`, `okay`; no are ❌,
   * ✖️, 👎, and `no`, `n`, `nope`, `no thanks`, `no thank you`. Case, punctuation and emoji at the end, and
   * the colour of a hand make no difference: "Yes! 🌳" is a yes. Whatever else is said goes on as if nobody
   * had asked: "yes but no", and "yes 👎".
   *
   * @param question What to say.
   * @param options Who is asked, and how long to wait; the words of another language; whether reactions in
   *   clear count.
   * @returns True if the user said yes.
   * @throws {ConversationEndedError} If there is no answer.
   * @throws {ValueError} If a word means both.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("addio", async (c) => {
   *   if (await c.confirm("Davvero?", { yes: ["sì", "si"], no: ["no"] })) await c.reply("Ciao!");
   * });
   * plugin.command("tea", async (c) => { // where it does no harm, a click will do
   *   if (await c.confirm("Sugar?", { clearReactions: true })) await c.reply("Here you are.");
   * });
   * ```
   */
  async confirm(question: string, given: ConfirmOptions = {}): Promise<boolean> {
    checkOptions(given, CONFIRM, "confirm");
    const { yes, no, clearReactions = false, ...options } = given;
    const words = confirmWords({ yes, no });
    const meaning = (answer: string) => confirmed(answer, words);
    const labels = Object.fromEntries(exampleWords({ yes, no }).map((word) => [word, undefined]));
    return await this.#choose(question, { shown: ["✅", "❌"], labels, meaning }, {
      ...options,
      clearReactions,
    });
  }

  /**
   * Shows choices as reactions to a question, and waits for one: by the reaction, or by its emoji or
   * label as a message, in any case.
   *
   * @param question What to say; what each choice is comes below it, where there are labels.
   * @param choices What each reaction, mostly an emoji, stands for. A text is its label, too.
   * @param options Who is asked, and how long to wait; what is said of each choice; whether reactions in
   *   clear count in an encrypted room.
   * @returns What the choice stands for.
   * @throws {ConversationEndedError} If there is no answer.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("drink", async (c) => {
   *   const drink = await c.menu("What shall it be?", { "🍵": "tea", "☕": "coffee" });
   *   const cups = await c.menu("How many?", { "1️⃣": 1, "2️⃣": 2 }, { labels: { "1️⃣": "a cup", "2️⃣": "two" } });
   *   await c.reply(`${cups} × ${drink}`);
   * });
   * ```
   */
  async menu<Choice>(
    question: string,
    choices: Readonly<Record<string, Choice>>,
    given: MenuOptions = {},
  ): Promise<Choice> {
    checkOptions(given, MENU, "menu");
    const { labels, clearReactions = !this.run.encryptedOnly, ...options } = given;
    const keys = Object.keys(choices);
    const labelOf = (key: string): string | undefined => {
      if (labels === false) return undefined;
      const label: unknown = labels === undefined ? choices[key] : labels[key];
      return typeof label === "string" && label.trim() !== "" && label !== key ? label : undefined;
    };
    const named = keys.map((key) => [key, labelOf(key)] as const);
    const words: Word<string>[] = keys.map((key) => [key, key]);
    for (const [key, label] of named) if (label !== undefined) words.push([label, key]);
    const meaning = (answer: string) => meaningOf(answer, words);
    const choice = { shown: keys, labels: Object.fromEntries(named), meaning };
    return choices[await this.#choose(question, choice, { ...options, clearReactions })] as Choice;
  }

  async #choose<Meaning>(
    question: string,
    { shown, labels, meaning }: {
      /** The reactions that are shown. */
      readonly shown: readonly string[];
      /** What can be said instead. */
      readonly labels: ChoiceLabels;
      readonly meaning: (answer: string) => Meaning | undefined;
    },
    { clearReactions, ...options }: Omit<AskOptions<never>, "filter" | "check"> & {
      readonly clearReactions: boolean;
    },
  ): Promise<Meaning> {
    const place = this.#in(options.roomId);
    const filter = ["message:text", "reaction"] as const;
    this.run.after.check("ask");
    const takesClear = clearReactions ||
      !await this.run.step("encrypted", () => this.#isEncrypted(place.roomId));
    const text = await this.run.begun.during(() =>
      withLabels(question, labels, { format: options.format, all: !takesClear })
    );
    const reactionTo = await this.#put(text, { ...options, filter });
    for (const key of takesClear ? shown : []) await place.reactTo(reactionTo, key);
    const said = (answer: Context) => {
      const { key } = (answer.event.content as { "m.relates_to"?: { key?: unknown } })["m.relates_to"] ?? {};
      return meaning(typeof key === "string" ? key : answer.text);
    };
    const answer = await this.#wait({
      ...options,
      filter,
      reactionTo,
      accept: (each) => said(each as Context) !== undefined && (takesClear || isSendersWord(each)),
    });
    return said(answer as Context) as Meaning;
  }

  /** Puts a question: in reply to the event, or in another room. */
  async #put(question: string, options: Omit<AskOptions<Query>, "check">): Promise<EventID> {
    const { roomId: room, format, mentions } = options;
    this.run.after.check("ask");
    return await this.run.begun.during(async () => {
      if (this.run.encryptedOnly && !this.run.isReplaying && !await this.#isEncrypted(room ?? this.roomId)) {
        throw new ValueError(
          `Cannot ask in ${
            room ?? this.roomId
          }: it is not encrypted, and only what is encrypted counts as an answer; ` +
            "ask in an encrypted room, or do without encryptedOnly",
        );
      }
      await this.kit.conversations.expect(this.run, this.#wanted(options));
      return room === undefined || room === this.roomId
        ? await this.reply(question, { format, mentions })
        : await this.#in(room).send(question, { format, mentions });
    });
  }

  async #isEncrypted(room: RoomID): Promise<boolean> {
    return (room === this.roomId && this.encryption !== undefined) || await this.client.isRoomEncrypted(room);
  }

  #in(room?: RoomID): RoomContext {
    return room === undefined || room === this.roomId ? this : new RoomContext(this.kit, this.run, { room });
  }
}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { Client, Logger, SessionDefinition, SessionKey } from "../../../mod.ts";
import type { ContentURI, EncryptionInfo, ImageInfo, SenderInfo } from "../../../types.ts";
import type { PollTally, SendPollOptions } from "../polls/mod.ts";
import type { NamedReminder, ReminderDelay } from "./room_context.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import type { BotMedia, FileOptions, ImageOptions, StickerOptions } from "./writing.ts";

/** What it has from elsewhere. */
export interface Context<E extends MatrixEvent = MatrixEvent, Arguments = unknown> {
  /** The event, as the server has it. */
  readonly event: E;

  /** Who has sent it. */
  readonly sender: UserID;

  /** How it was encrypted, and by whom; undefined: it was not. */
  readonly encryption: EncryptionInfo | SenderInfo | undefined;

  /**
   * The text of a message, without what old clients quote in a reply; of an edit the new text;
   * empty: there is none.
   */
  readonly text: string;

  /** The event that this is a reply to; undefined: it is none. */
  readonly replyTo: EventID | undefined;

  /** What a regular expression of {@linkcode Composer.hears} has matched; null: none has. */
  match: RegExpExecArray | null;

  /** The arguments of a command. */
  get args(): Arguments;

  /** The text. */
  toString(): string;

  /** Whether the event fits a query. */
  is(query: Query): boolean;

  /**
   * Answers the event: as a reply, and in the thread that it is in. Its sender is notified, unless
   * `mentions` says otherwise. What others wrote is repeated with `format: "plain"`: see
   * {@linkcode BotRoom.send}.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies.
   * @returns The ID of the event, or of the first.
   * @throws {MatrixRequestError} If the homeserver refuses.
   */
  reply(text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Answers in a thread that begins with the event, or in the thread that the event is in.
   *
   * @param text The text.
   * @param options What it is written in, of what kind it is, whom it notifies.
   * @returns The ID of the event, or of the first.
   */
  replyInThread(text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Reacts to the event.
   *
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   */
  react(key: string): Promise<EventID>;

  /**
   * Redacts an event.
   *
   * @param eventId The event. Default: the one that is handled.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   */
  redact(eventId?: EventID, reason?: string): Promise<EventID>;

  /**
   * Whether a user is an admin of the bot: see {@linkcode RoomContext.isAdmin}.
   *
   * @param userId The user. Default: the event's sender.
   */
  isAdmin(userId?: UserID): Promise<boolean>;

  /**
   * Joins the room: that of an invitation.
   *
   * @throws {MatrixRequestError} If the homeserver refuses.
   */
  join(): Promise<void>;

  /**
   * Loads the file of the message, decrypted.
   *
   * @param options The most bytes to take. Default: 50 MiB.
   * @returns The file.
   * @throws {ValueError} If the message has none.
   */
  download(options?: { maxSize?: number }): Promise<Uint8Array<ArrayBuffer>>;

  /** The bot's client. */
  readonly client: Client;

  /** Ends with the time of the handler, and with the bot: give it to what takes long. */
  get signal(): AbortSignal;

  /** The bot's logger. */
  get log(): Logger;

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
  getPollResults(poll: EventID): Promise<PollTally>;

  /**
   * Shows that the bot types, while something is done.
   *
   * @param work What is done.
   * @returns What that returns.
   */
  typing<Result>(work: Promise<Result> | (() => Promise<Result>)): Promise<Result>;

  /**
   * Does something once: when the handler runs again after an answer, or a crash, it returns what it
   * returned. For what is not done by `c`: requests, times, chance, a model's answer. What it came to
   * is committed before it returns; only a crash until then makes it be done again. It can't ask.
   *
   * @param work What to do; what it returns has to be plain data.
   * @returns What it returned.
   */
  step<Result>(work: () => Result | Promise<Result>): Promise<Result>;

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
  session<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<State>;

  /**
   * Ends a session, when the handler has ended.
   *
   * @param definition The definition of the session.
   * @param key The key of the session. Default: that of the event.
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
   * @param when A date, or `{ in: milliseconds }`.
   * @param what What to say, or what to call: see {@linkcode Bot.reminder}.
   * @returns Names the reminder, for `bot.reminders.cancel()`.
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
   *     await c.remind({ in: 180_000 }, "Tea!");
   *   } catch (error) {
   *     if (!(error instanceof ValueError)) throw error;
   *     await c.reply("You have too many reminders here.");
   *   }
   * });
   * ```
   */
  remind(when: Date | ReminderDelay, what: string | NamedReminder): Promise<string>;

  /**
   * Leaves the room, when the bot's answers so far have been sent.
   *
   * @param reason Why. Default: none.
   * @throws {MatrixRequestError} If the homeserver refuses.
   */
  leave(reason?: string): Promise<void>;

  /** A link to this room, or to an event in it, that any client opens. */
  permalink(eventId?: EventID): string;

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

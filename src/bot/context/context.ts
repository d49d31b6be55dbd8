/**
 * An event, and what a bot can do about it: also ask, and wait for the answer.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import {
  type Client,
  type Logger,
  type SessionDefinition,
  type SessionKey,
  ValueError,
} from "../../../mod.ts";
import type {
  ContentURI,
  EncryptionInfo,
  EventID,
  ImageInfo,
  MatrixEvent,
  RoomID,
  SenderInfo,
  UserID,
} from "../../../types.ts";
import { inMilliseconds } from "../../base/clock.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { isSendersWord } from "../policy/policy.ts";
import type { PollTally, SendPollOptions } from "../polls/polls.ts";
import { platform } from "../../base/platform/mod.ts";
import {
  ConversationEndedError,
  type EventOfQuery,
  fullQuery,
  type KeptEvent,
  keptOf,
  keptUpdate,
  type Query,
  type Update,
  type Wait,
  withScene,
} from "../run/mod.ts";
import {
  type ChoiceLabels,
  type Choices,
  choicesByKey,
  type ConfirmWords,
  menuOf,
  withLabels,
  yesOrNo,
} from "./choices.ts";
import { type DownloadFileOptions, EventContext } from "./event_context.ts";
import type { NamedReminder, ReminderDelay } from "./handler_room.ts";
import { type ContextRoom, RoomContext } from "./room_context.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import {
  type BotMedia,
  eventIdOf,
  type FileOptions,
  type ImageOptions,
  type MessageRef,
  type StickerOptions,
  type WriteOptions,
} from "./writing.ts";
import type { BotMessage } from "./bot_message.ts";

export { BOT_HINTS, type COMPILED_BOT_HINTS } from "./context_hints.ts";
export { BotMessage } from "./bot_message.ts";
export { BotRoom, OutsideRoom } from "./bot_room.ts";
export type { BotRoomOptions } from "./room_messages.ts";
export type { ChoiceLabels, ConfirmWords } from "./choices.ts";
export { type ContextMedia, type DownloadFileOptions, EventContext } from "./event_context.ts";
export { CALL, COMMAND, type Found, SAY_FAILED } from "./event_parts.ts";
export type { MessageMedia, Reaction } from "../text/mod.ts";
export { type NamedReminder, type ReminderDelay, WITH_SESSION } from "./handler_room.ts";
export { ContextRoom, RoomContext } from "./room_context.ts";
export type { Streamed, StreamOptions } from "./stream.ts";
export { type EveryOptions, type ReminderHandler, TimedFunctions } from "./timed_functions.ts";
export { TimerContext } from "./timer_context.ts";
export {
  type AudioOptions,
  type BotMedia,
  type BotSendOptions,
  type CaptionOptions,
  type FileOptions,
  type ImageOptions,
  type MediaOptions,
  type MessageRef,
  placeIn,
  type SendPlace,
  type StickerOptions,
  type VideoOptions,
  type WriteOptions,
} from "./writing.ts";

/** Options of {@linkcode Context.ask}. */
export interface AskOptions<Q extends Query> extends Pick<WriteOptions, "format" | "mentions"> {
  /**
   * Which events are answers, also of types that no function listens to; reactions have to be to the
   * question. Nearly all clients send reactions in clear, also in encrypted rooms: whether one may be the
   * homeserver's, {@linkcode Context.encryption} says. Default: `message:text`.
   */
  filter?: Q | readonly Q[];
  /** The user whose answer counts, or `anyone`. Default: the sender of the event. */
  from?: UserID | "anyone";
  /** The room to ask in: a moderators' room, for one. Default: that of the event, and its thread. */
  roomId?: RoomID;
  /** How long to wait: like `2m`, or in milliseconds; at most 30 days. Default: a day. */
  timeout?: number | string;
  /**
   * Says what is wrong with an answer: that is said, and another answer waited for. Undefined:
   * nothing. It is asked once for each answer. Default: any answer will do.
   */
  check?: (answer: Context<EventOfQuery<Q>>) => string | undefined | Promise<string | undefined>;
}

/** Options of {@linkcode Context.wait}. */
export interface WaitOptions<Q extends Query> extends Omit<AskOptions<Q>, "check" | "format" | "mentions"> {
  /** The message that reactions have to be to, or its event ID. Default: none, reactions are no answers. */
  reactionTo?: MessageRef;
  /** Whether an event is an answer; others go on to the other functions. Default: all that fit are. */
  accept?: (answer: Context<EventOfQuery<Q>>) => boolean | Promise<boolean>;
}

/** Whom {@linkcode Context.confirm} asks, in which words, and what counts. */
export interface ConfirmOptions extends Omit<AskOptions<never>, "filter" | "check">, ConfirmWords {
  /**
   * Whether a reaction in clear counts in an encrypted room. Nearly all clients send reactions in clear,
   * where the homeserver, or who has stolen a user's token, can write one as well. Without, the question
   * shows the words to answer with in place of reactions, and words count, and reactions that are encrypted
   * together with what they are to. Where nothing is encrypted, all counts; for a command or a bot that is
   * `encryptedOnly` nothing in clear does. Default: false.
   */
  clearReactions?: boolean;
}

/** Whom {@linkcode Context.menu} asks, what it says of the choices, and what counts. */
export interface MenuOptions extends Omit<AskOptions<never>, "filter" | "check"> {
  /**
   * Whether a reaction in clear counts in an encrypted room: see {@linkcode ConfirmOptions.clearReactions}.
   * Say `false` where a choice does what others should not decide. Default: true; for a command or a bot that
   * is `encryptedOnly` none counts, whatever this says.
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

const DAY = 86_400_000; // how long a question waits by default, in milliseconds
const LONGEST_WAIT = 30 * DAY;

/**
 * An event, and what a bot can do about it: what its functions are called with.
 *
 * `Context<E>` has `event` of the type `E`; that of a command has its arguments as `args`.
 */
export class Context<E extends MatrixEvent = MatrixEvent, Arguments = unknown>
  extends EventContext<E, Arguments> {
  /**
   * Asks, and waits for an answer, which may take days and restarts: nothing of the handler stays
   * in memory. When the answer comes, the handler runs again from its beginning; what `c` did
   * before is not done again, and returns what it returned then. All else that a handler does
   * before it asks belongs into {@linkcode RoomContext.step}. What it threw it throws again: errors
   * of Greenroom and JavaScript of the same class, others as a {@linkcode ConversationError} with their name.
   *
   * A command is no answer, nor is an event that several wait for: only the latest who asked gets
   * it. With `!cancel` the user ends the conversation. The bot says so, unless the function says
   * something itself when it catches the {@linkcode ConversationEndedError}.
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
      const { at: answered } = this.run;
      if (check === undefined) return answer;
      const isGood = await this.run.step("check", async () => {
        const problem = await check(platform.inScope(answer));
        if (problem !== undefined) await answer.reply(problem);
        return problem === undefined;
      });
      if (isGood) return answer;
      // However often it is wrong, the record stays short.
      if (this.run.at === answered + 1) this.run.forget(at);
    }
  }

  /**
   * Waits for an event, as {@linkcode Context.ask} does, without a question. Events that came before
   * the call do not count. To ask a question, use `ask()`: it misses no answer.
   *
   * @param options Which events count, and how long to wait.
   * @returns The context of the event.
   * @throws {ConversationEndedError} If none comes in time, or the user cancels.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("avatar", async (c) => {
   *   await c.reply("Send me a picture within a minute.");
   *   const picture = await c.wait({ filter: "message:image", timeout: "1m" });
   *   await picture.reply("Thank you!");
   * });
   * ```
   */
  async wait<const Q extends Query = "message:text">(
    options: WaitOptions<Q> = {},
  ): Promise<Context<EventOfQuery<Q>>> {
    checkOptions(options, WAIT, "wait");
    return await this.#wait(options);
  }

  async #wait<const Q extends Query>(options: WaitOptions<Q>): Promise<Context<EventOfQuery<Q>>> {
    const { accept } = options;
    const context = (update: Update) =>
      new Context(this.kit, this.run, update) as Context as Context<EventOfQuery<Q>>;
    const read = (kept: KeptEvent) => withScene(this.client, keptUpdate(kept));
    const accepts = async (kept: KeptEvent) => {
      const update = await read(kept);
      const { scene } = keptOf(update);
      const answer = context(update);
      if (this.run.encryptedOnly && !isSendersWord(answer)) return undefined;
      const isAnswer = accept === undefined || await accept(answer);
      return isAnswer ? { ...kept, scene } : undefined;
    };
    const { run, kit: { sessions } } = this;
    const kept = await run.wait(this.#wanted(options), accepts).catch(async (error) => {
      if (error instanceof ConversationEndedError) await sessions.takeOwnAgain(run); // functions may catch it
      throw error;
    });
    const answer = context(await read(kept));
    await sessions.takeOwnAgain(run);
    return answer;
  }

  #wanted(options: Omit<WaitOptions<Query>, "accept">): Omit<Wait, "at"> {
    const {
      filter = "message:text",
      from = this.sender,
      roomId: room = this.roomId,
      timeout = DAY,
      reactionTo,
    } = options;
    const ms = inMilliseconds(timeout);
    if (!(ms > 0 && ms <= LONGEST_WAIT)) {
      throw new ValueError(
        `Cannot wait for an answer: timeout must be a duration like "2m", or from 1 to ${LONGEST_WAIT} milliseconds`,
      );
    }
    const queries = [filter].flat().map((each) => typeof each === "string" ? fullQuery(each) : each);
    this.kit.conversations.listen(this.run.context, queries);
    return {
      room,
      queries,
      from: from === "anyone" ? undefined : from,
      thread: room === this.roomId ? this.thread ?? "" as const : "" as const,
      reactionTo: reactionTo === undefined ? undefined : eventIdOf(reactionTo, "wait for a reaction", room),
      until: this.client.api.clock.now() + ms,
    };
  }

  /**
   * Asks for a yes or a no: by a word, or by a reaction to the question, which has both already. In an
   * encrypted room a reaction in clear is no answer, unless `clearReactions` says so, and the question names
   * the words instead.
   *
   * Yes are ✅, ☑️, ✔️, 👍, and `yes`, `y`, `yeah`, `yep`, `yes please`, `sure`, `ok`, `okay`; no are
   * ❌, ✖️, 👎, and `no`, `n`, `nope`, `no thanks`, `no thank you`. Case, punctuation and emoji at
   * the end, and skin tones make no difference: "Yes! 🌳" is a yes. Any other message is no answer,
   * and goes on to the other functions: "yes but no", and "yes 👎".
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
    return await this.#choose(question, yesOrNo({ yes, no }), { ...options, clearReactions });
  }

  /**
   * Shows choices as reactions to a question, and waits for one: by the reaction, or by its emoji or
   * label as a message, in any case.
   *
   * @param question What to say; what each choice is comes below it, where there are labels.
   * @param choices What each reaction, mostly an emoji, stands for. A text is its label, too.
   *   Or a list of at most ten: their reactions are the numbers 1️⃣ to 🔟.
   * @param options Who is asked, and how long to wait; what is said of each choice; whether reactions in
   *   clear count in an encrypted room.
   * @returns What the choice stands for.
   * @throws {ConversationEndedError} If there is no answer.
   * @throws {ValueError} If a list has no choice, or more than ten.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("drink", async (c) => {
   *   const drink = await c.menu("What shall it be?", { "🍵": "tea", "☕": "coffee" });
   *   const size = await c.menu("How large?", ["small", "large"]); // 1️⃣ or 2️⃣
   *   const cups = await c.menu("How many?", { "1️⃣": 1, "2️⃣": 2 }, { labels: { "1️⃣": "a cup", "2️⃣": "two" } });
   *   await c.reply(`${cups} × ${size} ${drink}`);
   * });
   * ```
   */
  async menu<Choice>(
    question: string,
    choices: Readonly<Record<string, Choice>> | readonly Choice[],
    given: MenuOptions = {},
  ): Promise<Choice> {
    checkOptions(given, MENU, "menu");
    const byKey = choicesByKey(choices);
    const { labels, clearReactions = true, ...options } = given;
    const key = await this.#choose(question, menuOf(byKey, labels), { ...options, clearReactions });
    return byKey[key] as Choice;
  }

  async #choose<Meaning>(
    question: string,
    { shown, labels, meaning }: Choices<Meaning>,
    { clearReactions, ...options }: Omit<AskOptions<never>, "filter" | "check"> & {
      readonly clearReactions: boolean;
    },
  ): Promise<Meaning> {
    const place = this.#in(options.roomId);
    const filter = ["message:text", "reaction"] as const;
    this.run.checkGoesOn("ask");
    const takesClear = !this.run.encryptedOnly && (clearReactions ||
      !await this.run.step("encrypted", () => this.#isEncrypted(place.roomId)));
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
  async #put(question: string, options: Omit<AskOptions<Query>, "check">): Promise<BotMessage> {
    const { roomId: room, format, mentions } = options;
    this.run.checkGoesOn("ask");
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
    return room === undefined ? this : new RoomContext(this.kit, this.run, { room });
  }
}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { ClientEvent } from "../../../types.ts";
import type { PollOptions } from "../polls/polls.ts";
import type { Reaction } from "../text/mod.ts";
import type { PendingReminder } from "../timers/timers.ts";
import type { ContextMedia } from "./event_context.ts";
import type { AudioOptions, BotSendOptions, VideoOptions } from "./writing.ts";

/** Members of {@linkcode EventContext}. */
export interface Context<E extends MatrixEvent = MatrixEvent, Arguments = unknown> {
  /** The event; an encrypted one is decrypted. */
  readonly event: E;

  /** The user ID of the event's sender. */
  readonly sender: UserID;

  /**
   * What the sender was called in the room when the function was called: the display name, or the user ID if
   * there is none. Users choose it, and two may have the same: say it with `format: "plain"`, or by
   * `escapeMarkdown()`, and decide nothing by it. `mention(c.sender, c.displayName)` is a link to the user.
   */
  readonly displayName: string;

  /** How the event was encrypted, and by which device; undefined if it was not encrypted. */
  readonly encryption: EncryptionInfo | SenderInfo | undefined;

  /**
   * The text of a message, without what old clients quote in a reply; of an edit the new text;
   * empty: there is none.
   */
  readonly text: string;

  /** The message that this one replies to; undefined if it is no reply. */
  readonly replyTo: BotMessage | undefined;

  /**
   * The match of the regular expression of {@linkcode Composer.hears}, with its groups; null if none.
   */
  match: RegExpExecArray | null;

  /**
   * The ID of the event.
   *
   * @throws {ValueError} If it has none: an invitation, since the bot is not in the room.
   */
  get eventId(): EventID;

  /** The name of the command that the message is, also where middleware sees it; undefined if it is none. */
  get command(): string | undefined;

  /**
   * What a reaction says: its key, mostly an emoji, and the event that it is to; undefined if this is none.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("reaction", async (c) => {
   *   if (c.reaction?.key === "🎉") await c.send("Party!");
   * });
   * ```
   */
  get reaction(): Reaction | undefined;

  /**
   * The image, video, audio or other file of the message; undefined if it has none. What it is called and how
   * large it is, is the sender's word: a name may have slashes in it, and the size be wrong.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on(["file", "image"], async (c) => {
   *   const bytes = await c.media.download();
   *   await c.reply(`${c.media.filename}: ${bytes.length} bytes of ${c.media.mimeType}`, { format: "plain" });
   * });
   * ```
   */
  get media(): ContextMedia | undefined;

  /** The users whom the message mentions, as its sender's client says; none where it does not say. */
  get mentions(): readonly UserID[];

  /** The arguments of the command, by name; undefined if the event is no command. */
  get args(): Arguments;

  /**
   * Returns the text of the message, so that an answer can stand in a template string.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("name", async (c) => {
   *   const answer = await c.ask("Your name?");
   *   await c.reply(`Hello, ${answer}!`, { format: "plain" });
   * });
   * ```
   */
  toString(): string;

  /**
   * Returns whether the event fits a query.
   *
   * @param query The query, as {@linkcode Composer.on} takes it.
   * @returns Whether it fits.
   * @throws {ValueError} If there is no such query.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.use(async (c, next) => {
   *   if (c.is("message:image")) await c.react("📷");
   *   await next();
   * });
   * ```
   */
  is(query: Query): boolean;

  /**
   * Answers the event: as a reply, and in the thread that it is in. Its sender is notified, unless
   * `mentions` says otherwise. What others wrote is repeated with `format: "plain"`: see
   * {@linkcode BotRoom.send}.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies.
   * @returns The message; the first, if there are several.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("ping", (c) => c.reply("**pong**"));
   * plugin.command("echo <words...>", (c) => c.reply(c.args.words, { format: "plain" }));
   * ```
   */
  reply(text: string, options?: WriteOptions): Promise<BotMessage>;

  /**
   * Answers in the thread of the event; if it is in none, in a new thread that begins with it.
   *
   * @param text The text.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The message; the first, if there are several.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("support", (c) => c.replyInThread("Let us talk about it here."));
   * ```
   */
  replyInThread(text: string, options?: WriteOptions): Promise<BotMessage>;

  /**
   * Reacts to the event.
   *
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.hears(/thank you/i, (c) => c.react("❤️"));
   * ```
   */
  react(key: string): Promise<EventID>;

  /**
   * Marks the room as read up to the event, as its users can see.
   *
   * @throws {ValueError} If the event has no ID: an invitation, since the bot is not in the room.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("message", async (c, next) => {
   *   await c.markRead();
   *   await next();
   * });
   * ```
   */
  markRead(): Promise<void>;

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param message The message, or the ID of any event. Default: the one that is handled.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.hears(/buy now/i, (c) => c.redact(undefined, "Advertising"));
   * ```
   */
  redact(message?: MessageRef, reason?: string): Promise<EventID>;

  /**
   * Returns whether a user is an admin of the bot: see {@linkcode RoomContext.isAdmin}.
   *
   * @param userId The user. Default: the sender of the event.
   * @returns Whether the user is an admin.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("status", async (c) => {
   *   await c.reply(await c.isAdmin() ? "3 builds, 1 has failed" : "All is well.");
   * });
   * ```
   */
  isAdmin(userId?: UserID): Promise<boolean>;

  /**
   * Accepts an invitation: joins its room. Set `autoJoin: false` to decide about invitations yourself.
   *
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("invite", async (c) => {
   *   if (c.sender.endsWith(":example.org")) await c.join();
   * });
   * ```
   */
  join(): Promise<void>;

  /**
   * Downloads the file of the message, and decrypts it.
   *
   * @param options The most to take.
   * @returns The content of the file.
   * @throws {ValueError} If the message has no file.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("message:file", async (c) => {
   *   const bytes = await c.download({ maxSize: 1_000_000 });
   *   await c.reply(`${bytes.length} bytes`);
   * });
   * ```
   */
  download(options?: DownloadFileOptions): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * The room: its `id`, `name`, `topic` and members,
   * and all that goes into the room itself and not into its thread.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("announce <words...>", (c) => c.room.send(c.args.words, { format: "plain" }));
   * plugin.command("where", (c) => c.reply(`This is ${c.room.name ?? c.room.id}.`, { format: "plain" }));
   * ```
   */
  get room(): ContextRoom;

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
   * ```ts ignore
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
  getPollResults(poll: MessageRef): Promise<PollTally>;

  /**
   * Leaves the room, after what the bot has said so far was sent.
   *
   * @param reason Why. Default: none.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("leave", { access: "admins" }, async (c) => {
   *   await c.reply("Goodbye!");
   *   await c.leave("An admin has told me to");
   * });
   * ```
   */
  leave(reason?: string): Promise<void>;

  /**
   * Returns a matrix.to link to this room, or to an event in it, that any client opens.
   *
   * @param message The message, or the ID of any event. Default: the room itself.
   * @returns The link.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("link", (c) => c.reply(c.permalink(c.replyTo)));
   * ```
   */
  permalink(message?: MessageRef): string;

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

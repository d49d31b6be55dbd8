/**
 * What a function of a bot can do wherever it is: steps, sessions, reminders, to show that it types.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import {
  type Client,
  type Logger,
  relationTo,
  type SessionDefinition,
  type SessionKey,
  ValueError,
} from "../../../mod.ts";
import type { MatrixEvent, UserID } from "../../../types.ts";
import { inMilliseconds, readDuration, written } from "../../base/clock.ts";
import { checkFunction, checkOptions } from "../../errors/known_names.ts";
import { readDate } from "../commands/commands.ts";
import type { Kit } from "../kit.ts";
import { foundSessionKey, type Run, sessionKeyFor } from "../run/mod.ts";
import { checkDue, pendingOf, type PendingReminder } from "../timers/timers.ts";
import { BotRoom } from "./bot_room.ts";
import type { Place } from "./room_messages.ts";
import {
  type BotSendOptions,
  checkNamed,
  checkText,
  contentOf,
  notifiedBy,
  placeIn,
  SEND,
  writeOne,
} from "./writing.ts";

/** A reminder for a function of the bot. */
export interface NamedReminder {
  /** The function's name, as `bot.reminder()` has it. */
  name: string;
  /** What it gets, as `c.data`: plain data. Default: nothing. */
  data?: unknown;
}

/** How long from now a reminder comes. */
export interface ReminderDelay {
  /** The time from now: like `1h30m`, or in milliseconds. */
  in: number | string;
}

/** Calls functions with the session that they have without asking for it. */
export const WITH_SESSION: unique symbol = Symbol("withSession");

/** How long the server shows that somebody types, and when that is renewed, in milliseconds. */
const TYPING = 30_000;
const RENEWAL = 20_000;

/** @internal What {@linkcode RoomContext} has of the function that was called. */
export abstract class HandlerRoom extends BotRoom {
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
    return this.run.isLeft ? this.kit.outside.within(this.roomId, work) : work(this.run);
  }

  /** Aborts when the handler's time is over, or the bot stops. Pass it to requests and other long work. */
  get signal(): AbortSignal {
    return this.run.time.signal;
  }

  /** The logger of the bot. */
  get log(): Logger {
    return this.client.log;
  }

  /**
   * Shows that the bot is typing while work is done.
   *
   * @param work A promise, or a function that returns one.
   * @returns What the work returns.
   * @throws {ValueError} If there is no work.
   * @throws What the work throws.
   *
   * @example
   * ```ts
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
   * ```ts
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
  async typing<Result>(
    work: Promise<Result> | (() => Promise<Result>) | boolean = true,
  ): Promise<Result | void> {
    if (typeof work === "boolean") {
      const timeout = work ? TYPING : 0;
      return await this.client.setTyping(this.roomId, { timeout, signal: this.signal }).catch(() => {});
    }
    if (typeof work !== "function" && !(work instanceof Promise)) {
      throw new ValueError(
        "Cannot show that the bot is typing: give it what takes the time: c.typing(() => work())",
      );
    }
    const { clock } = this.client.api;
    const ended = new AbortController();
    const show = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await this.client.setTyping(this.roomId, { timeout: TYPING, signal: ended.signal });
        await clock.delay(RENEWAL, { signal: ended.signal });
      }
    };
    const end = () => ended.abort();
    const { requests } = this.run.time;
    requests.addEventListener("abort", end, { once: true });
    if (requests.aborted) end();
    const shown = show().catch(() => {}); // it is only shown
    try {
      return await (typeof work === "function" ? work() : work);
    } finally {
      requests.removeEventListener("abort", end);
      end();
      await shown;
      await this.client.setTyping(this.roomId).catch(() => {});
    }
  }

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
   * ```ts
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
  async step<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    checkFunction(work, "take a step");
    return await this.run.step(
      "once",
      (at) => this.kit.once.value(this.run, at, async () => await work()),
    );
  }

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
   * ```ts
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
  async getSession<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<State> {
    return await this.kit.sessions.take(this.run, definition, key ?? this.#keyOf(definition));
  }

  /**
   * Deletes a session when the handler has ended: the next use begins with the initial state.
   *
   * @param definition The definition of the session.
   * @param key The key of the session. Default: the key of the event.
   *
   * @example
   * ```ts
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
  async endSession<State extends object>(
    definition: SessionDefinition<State>,
    key?: SessionKey,
  ): Promise<void> {
    await this.kit.sessions.end(this.run, definition, key ?? this.#keyOf(definition));
  }

  #keyOf(definition: Pick<SessionDefinition<never>, "name" | "per">): SessionKey {
    if (typeof definition?.name !== "string") {
      throw new ValueError(
        "Cannot use a session: it needs a definition: const counter = defineSession({ name, per, initial }), and then " +
          "await c.getSession(counter)",
      );
    }
    return sessionKeyFor(definition, this.#place);
  }

  get #place(): Parameters<typeof sessionKeyFor>[1] {
    const { roomId: room, thread = "" } = this;
    return { event: this.about, room, sender: this.asker ?? "", thread };
  }

  /** @internal Calls functions with what they have as `session`, if the bot has it, and there is one here. */
  [WITH_SESSION]<Result>(functions: () => Promise<Result>): Promise<Result> {
    const { session, sessions } = this.kit;
    const key = session && foundSessionKey(session, this.#place);
    if (session === undefined || key === undefined) return functions();
    return sessions.takeOwn(this.run, session, key).then(functions);
  }

  static {
    // Not declared: the type of a bot's contexts says what it is.
    Object.defineProperty(this.prototype, "session", {
      configurable: true,
      get(this: HandlerRoom): object | undefined {
        return this.#session.state;
      },
      set(this: HandlerRoom, state: object | undefined) {
        this.#session.state = state;
      },
    });
  }

  get #session(): { state: object | undefined } {
    const { session, sessions } = this.kit;
    const own = sessions.own(this.run);
    if (own !== undefined) {
      this.run.checkGoesOn("use c.session");
      return own;
    }
    throw new ValueError(
      session === undefined
        ? "Cannot use c.session: the bot has none; give it the option session: { initial: () => ({ … }) }, or write " +
          "const state = await c.getSession(definition)"
        : `Cannot use c.session: there is none here; use bot.session(definition, key), with the key of the session`,
    );
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
   * @param when A date, `{ in: milliseconds }`, or what an argument of type `duration` or `date` may be:
   *   `1h30m`, `2026-12-24T18:00`.
   * @param what What to say, or what to call: see {@linkcode Bot.reminder}.
   * @returns The reminder; `bot.reminders.cancel()` takes its `id`.
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
   *     await c.remind("3m", "Tea!");
   *   } catch (error) {
   *     if (!(error instanceof ValueError)) throw error;
   *     await c.reply("You have too many reminders here.");
   *   }
   * });
   * ```
   */
  async remind(when: Date | ReminderDelay | string, what: string | NamedReminder): Promise<PendingReminder> {
    const due = dueTime(when, this.client.api.clock.now(), "remind");
    if (typeof what !== "string") checkOptions(what, { name: true, data: true }, "remind");
    const { name, data } = typeof what === "string" ? { name: "", data: what } : what;
    this.run.checkGoesOn("remind");
    this.kit.reminders.check(due, name);
    if (name === "") checkText(data, "remind");
    const { roomId: room, thread = "" } = this;
    const event = this.answered;
    const by = this.about?.sender as UserID | undefined;
    const reminder = { room, thread, event, by, name, data: structuredClone(data) } as const;
    const id = await this.run.step("remind", async (at) => {
      const { context } = this.run;
      const id = context.deliveryId && `${context.deliveryId} ${at}`;
      const key = await this.kit.timers.remind(context, due, { reminder, name: id });
      this.run.atEnd.push(() => this.kit.timers.wake());
      return key;
    });
    return pendingOf(id, reminder);
  }

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
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("break", async (c) => {
   *   await c.reply("Back in a quarter of an hour.");
   *   await c.later("15m", "**The second act begins.**");
   * });
   * ```
   */
  async later(
    when: Date | ReminderDelay | string,
    text: string,
    options: BotSendOptions = {},
  ): Promise<string> {
    const { clock } = this.client.api;
    const asked = dueTime(when, clock.now(), "say something later");
    const delay = asked - clock.now();
    checkDue(asked, "say something later");
    checkText(text, "say something later");
    checkNamed(options, SEND, "later");
    this.run.checkGoesOn("say something later");
    const { format, mentions, msgtype = this.kit.msgtype, replyTo, sendKey } = options;
    const { roomId: room, thread } = this;
    return await this.run.act("later", async (at) => {
      const part = await writeOne(text, format, {
        action: "say something later",
        mend: "shorten it, or use c.remind()",
      });
      const relatesTo = relationTo(placeIn({ thread, replyTo }, "say something later", room));
      const content = contentOf(part, { msgtype, mentions: notifiedBy(part, 0, mentions), relatesTo });
      const { once, later, timers } = this.kit;
      const { context, time } = this.run;
      // The homeserver counts from the first time it was asked, also if a crash has this run again.
      const due = await once.value(this.run, `${at} due`, () => Promise.resolve(asked));
      const message = { room, content, by: this.about?.sender as UserID | undefined, due, delay };
      const id = context.deliveryId === undefined ? crypto.randomUUID() : `${context.deliveryId} ${at}`;
      const atServer = () => once.value(this.run, at, () => later.atServer(id, message, sendKey, time));
      this.run.atFailure.push(await later.add(this.run, id, message, atServer));
      this.run.atEnd.push(() => timers.wake());
      return id;
    });
  }
}

/**
 * The time of a reminder, in milliseconds since the epoch.
 *
 * @throws {ValueError} If it is not said as it has to be: a number could be either.
 */
function dueTime(when: Date | ReminderDelay | string, now: number, action: string): number {
  if (when instanceof Date) return when.getTime();
  if (typeof when === "string") {
    const delay = readDuration(when);
    const due = delay === undefined ? readDate(when)?.getTime() : now + delay;
    if (due !== undefined) return due;
  }
  if (typeof when !== "object" || when === null) {
    const given = typeof when === "string" ? JSON.stringify(when.slice(0, 100)) : typeof when;
    throw new ValueError(
      `Cannot ${action}: when must be a Date, { in: milliseconds }, or a text like 1h30m or 2026-12-24T18:00, and is ${given}`,
    );
  }
  checkOptions(when, { in: true }, action);
  const delay = inMilliseconds(when.in);
  if (!Number.isNaN(delay)) return now + delay;
  throw new ValueError(
    `Cannot ${action}: there is no such time: in is ${
      written(when.in)
    }; write it like "10m", or in milliseconds`,
  );
}

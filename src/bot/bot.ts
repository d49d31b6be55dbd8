/**
 * A bot: a client with commands, answers, conversations, reminders.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import {
  type Client,
  type SessionDefinition,
  type SessionKey,
  type SyncOnceOptions,
  type SyncPass,
  toRoomId,
} from "../../mod.ts";
import { ClientEndedError } from "../../errors.ts";
import type { RoomID } from "../../types.ts";
import { currentCall } from "../base/handler_call.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import { checkFunction, checkOptions } from "../errors/known_names.ts";
import { BotLife } from "./bot_life.ts";
import {
  type BotOptionHints,
  type BotOptions,
  type BotStartOptions,
  checkBotOptions,
  type ClientBotOptions,
  type EnvBotOptions,
  type HostedBotOptions,
  type SessionOption,
  type WithSession,
} from "./bot_options.ts";
import { Composer, type MiddlewareLike } from "./composer.ts";
import {
  BOT_HINTS,
  type BotMessage,
  type BotRoom,
  type BotRoomOptions,
  type BotSendOptions,
  type COMPILED_BOT_HINTS,
  type Context,
  type EveryOptions,
  OutsideRoom,
  placeIn,
  type ReminderHandler,
  TimedFunctions,
} from "./context/context.ts";
import { Kit } from "./kit.ts";
import type { Inviter } from "./policy/policy.ts";
import { type BotSession, BotStore, type ListenedQuery, ownRun, type Query } from "./run/mod.ts";
import { type BotClient, clientOf } from "./account.ts";
import { optionsFromProcess } from "./env.ts";
import type { LaterAPI } from "./later.ts";
import type { RemindersAPI } from "./timers/timers.ts";
import { Updates } from "./updates.ts";

/**
 * A bot: commands, answers, conversations, reminders, over a {@linkcode Client}.
 *
 * Functions are added before it starts. It takes part in rooms that it is invited to, hears what is
 * said from its first start on, and handles each event once, in the order of the room for each
 * user, through crashes and restarts if it has a `store`.
 *
 * @example
 * ```ts
 * import { Bot } from "@greenroom/matrix/bot";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using bot = new Bot({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * bot.command("ping", (c) => c.reply("**pong**"));
 * const done = bot.start();
 * await bot.stop();
 * await done;
 * ```
 *
 * @typeParam C What functions are called with: {@linkcode Context},
 * and what earlier functions have set on it, as {@linkcode Composer} shows.
 */
export class Bot<C extends Context = Context> extends Composer<C> {
  /** The bot's user ID; the empty text until the homeserver has said whose the access token is. */
  get userId(): Client["mxid"] {
    return this.client.mxid;
  }

  /** The bot's client: it has every operation of the Matrix API that the bot does not have itself. */
  readonly client: Client;
  /** Values that the bot keeps by keys of its own, in its store. */
  readonly store: BotStore;
  /** Lists and cancels reminders whose time has not come yet. */
  readonly reminders: RemindersAPI;
  /** Lists and cancels messages that `c.later()` has set, and has their time begin again. */
  readonly later: LaterAPI;
  readonly #made: BotClient;
  readonly #kit: Kit;
  readonly #updates: Updates;
  readonly #life: BotLife;
  readonly #times: TimedFunctions;
  readonly #ending = new AbortController();

  /**
   * Makes a bot; nothing is sent.
   *
   * @param options A homeserver and a token, or a user and a password, at the least;
   *   an appservice; or a client.
   * @throws {ValueError} If an option can't be used.
   */
  constructor(
    options: ((BotOptions & BotOptionHints) | HostedBotOptions | ClientBotOptions) & SessionOption<C>,
  ) {
    super();
    checkBotOptions(options);
    this.#made = clientOf(options);
    this.client = this.#made.client;
    this.#kit = new Kit(this.client, options, this.#ending.signal);
    const { later, reminders, sessions } = this.#kit;
    this.store = new BotStore(this.client, sessions);
    this.reminders = { list: (filter) => reminders.list(filter), cancel: (id) => reminders.cancel(id) };
    this.later = {
      list: (filter) => later.list(filter),
      cancel: (id) => later.cancel(id),
      restart: (id) => later.restart(id),
    };
    this.#updates = new Updates(this.#kit, this as unknown as Composer); // what `C` adds, functions set
    this.#life = new BotLife(this.#kit, this.#updates, this.#made);
    this.#times = new TimedFunctions(this.#kit);
    this.#kit.outside.started = () => this.#life.started();
  }

  /**
   * Makes a bot from environment variables: `MATRIX_URL` and `MATRIX_TOKEN`, or `MATRIX_USER` and
   * `MATRIX_PASSWORD`; and, if they are set, `MATRIX_STORE` (a file), `MATRIX_STORE_KEY_FILE` (the key that
   * seals it), `MATRIX_RECOVERY_KEY` or `MATRIX_RECOVERY_KEY_FILE` (which the first start makes, with the
   * key), `MATRIX_ADMINS`, `MATRIX_WAKE_SECRET`. Where Deno KV is there (`--unstable-kv`, Deno Deploy), it is
   * the store. With a store that lasts, or a recovery key, the bot encrypts.
   *
   * @param options More options; each counts in place of what the environment says.
   * @returns The bot.
   * @throws {ValueError} If something is missing; it says what.
   *
   * @example
   * ```ts ignore
   * import { Bot } from "@greenroom/matrix/bot";
   *
   * const bot = Bot.fromEnv();
   * bot.command("ping", (c) => c.reply("**pong**"));
   * await bot.start(); // on Deploy: Deno.serve(bot.fetch), wakes and cron: see bot.fetch
   * ```
   */
  static fromEnv<C extends Context = Context, State extends object = never>(
    options?: EnvBotOptions<C, State>,
  ): Bot<[State] extends [never] ? C : C & WithSession<State>> {
    // It has the session that its type says.
    return new Bot(optionsFromProcess((options ?? {}) as Partial<BotOptions>)) as never;
  }

  /**
   * Starts the bot, and runs it until it is stopped: what follows `await bot.start()` runs after that. To go
   * on once it runs, do not await it, but `await bot.client.ready`. A bot with a password logs in first, as
   * soon as the homeserver answers. Reminders that it missed while it was away fire now.
   *
   * @param options What stops the bot.
   * @returns A promise that resolves when the bot has stopped. It rejects with the reason if the bot
   *   can't go on; the reason is not logged as well: see {@linkcode Client.start}.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   *
   * export async function main(): Promise<void> {
   *   await using bot = Bot.fromEnv();
   *   bot.command("ping", (c) => c.reply("pong"));
   *   await bot.start(); // until Ctrl-C, SIGTERM, or bot.stop()
   * }
   * ```
   */
  async start(options: BotStartOptions = {}): Promise<void> {
    checkOptions(options, { signals: true, signal: true }, "start the bot");
    await this.#life.start(options, () => this.close());
  }

  /**
   * Stops the bot, and waits until functions that are at work have ended. Called by one of these
   * functions, it does not wait for that one. Then nothing of the bot keeps the process alive, and
   * another process can have its device. {@linkcode Bot.start} starts the bot again.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addSleep(bot: Bot): void {
   *   bot.command("sleep", { access: "admins" }, () => bot.stop());
   * }
   * ```
   */
  async stop(): Promise<void> {
    this.#life.stop();
    await (this.#made.host ?? this.client).stop();
  }

  /**
   * Stops the bot for good, and closes the store that it has opened. It can't be started again. Called in one
   * of its functions, it resolves at once, and the bot is closed when that one has ended.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   *
   * const bot = new Bot({ homeserver: "https://matrix.example.org", accessToken: "syt_bot" });
   * await bot.close(); // or `await using bot = …`
   * ```
   */
  async close(): Promise<void> {
    const run = ownRun(this.#ending.signal);
    if (run === undefined) return await this.#close();
    const failed = (error: unknown) => this.client.log.error("Could not close", { error });
    run.atEnd.push(() => void this.#close().catch(failed));
  }

  async #close(): Promise<void> {
    const { client } = this;
    const closing = (this.#made.host ?? client).close();
    const reason = new ClientEndedError("The bot was closed");
    this.#ending.abort(reason);
    await closing;
    const release = async () => {
      for (const work of [this.#kit.patience, this.#kit.outside]) work.end(reason);
      await this.#made.ownStore?.close();
    };
    if (currentCall() === undefined) return await release();
    void client.done.then(release, release).catch(() => {}); // not before the handler in which this is called
  }

  /** Closes the bot, as {@linkcode Bot.close} does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Makes one sync, for example from cron: handles what is new, and fires reminders and schedules. Where no
   * process keeps running, call it each minute: it keeps reminders to their times, and handles what no wake
   * announces.
   *
   * @param options How long the pass may take: see {@linkcode Client.syncOnce}.
   * @returns What was done.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export async function everyMinute(bot: Bot): Promise<void> {
   *   const { left } = await bot.syncOnce({ passTimeout: 50_000 });
   *   if (left !== undefined) bot.client.log.info("The next pass goes on", { left });
   * }
   * ```
   */
  async syncOnce(options: SyncOnceOptions = {}): Promise<SyncPass> {
    return await this.#life.pass(options);
  }

  /**
   * Answers HTTP requests, where no process stays: the homeserver's wakes or transactions, and
   * `/health`. See {@linkcode Client.fetch}.
   *
   * Two things bring a bot to life there: wakes, once `bot.client.registerWake()` has asked for
   * them, and {@linkcode Bot.syncOnce} from cron. Unless the bot is started, timers fire with
   * these: a reminder comes with the first wake or pass after its time, so with cron each minute at
   * most a minute late. A health check says whether this process works, and starts nothing.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export const serve = (bot: Bot): void => void Deno.serve(bot.fetch); // MATRIX_WAKE_SECRET is set
   *
   * export async function everyMinute(bot: Bot): Promise<void> { // for Deno.cron()
   *   await bot.syncOnce({ passTimeout: 50_000 }); // takes up where it was, and has timers fire
   *   await bot.client.registerWake("https://bot.example.org"); // it changes what is not so yet
   * }
   * ```
   */
  get fetch(): (request: Request) => Promise<Response> {
    return this.#life.fetch((this.#made.host ?? this.client).fetch);
  }

  /**
   * Sets the handler for errors that functions throw, in place of the log and `HANDLER_ERROR`. The
   * end of a conversation is no error. If the handler says nothing, the bot tells the sender of a command
   * that it has failed, unless `saysFailures` is false.
   *
   * @param handler Called with what was thrown, and the context of the function.
   * @returns This bot.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function countFailures(bot: Bot): void {
   *   let failures = 0;
   *   bot.catch((error, c) => c.log.error("A function has failed", { error, failures: ++failures }));
   * }
   * ```
   */
  catch(handler: (error: unknown, context: Context) => unknown): this {
    checkFunction(handler, "catch what functions throw", "the handler");
    this.#updates.caught = handler;
    return this;
  }

  /**
   * Runs a function on a schedule: each time a duration is over, or as cron does. If the bot was away at some
   * of the times, the function runs once for all of them, and `c.late` says how late.
   *
   * If a room that the function names is upgraded, the function goes on in the old one, also with
   * `followUpgrade()`: keep the ID of the room in a session, and change it there.
   *
   * @param pattern When: a duration, like `10m` or `1h30m`, or in milliseconds, from a second on; or
   *   as cron writes it: minute, hour, day, month, weekday. The times of a duration are its
   *   multiples, counted from the beginning of 1970 in UTC: those of `10m` are at each full ten
   *   minutes, whenever the bot was started.
   * @param handler What to do.
   * @param options Its name, and the time zone.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or the name is taken.
   *
   * @example
   * ```ts ignore
   * bot.every("10m", (c) => c.in("!room:example.org").send("Ten minutes have passed."));
   * bot.every("0 9 * * 1-5", (c) => c.in("!room:example.org").send("Good morning!"), { timezone:
   * "Europe/Rome" });
   * ```
   */
  every(pattern: string | number, handler: ReminderHandler, options: EveryOptions = {}): this {
    checkFunction(handler, `do something at "${pattern}"`);
    checkOptions(options, { name: true, timezone: true }, `do something at "${pattern}"`);
    this.#times.every(pattern, handler, options);
    return this;
  }

  /**
   * Adds a function for reminders of a name: {@linkcode RoomContext.remind} sets them.
   *
   * @typeParam Data What the reminders of the name are set with: nothing checks it. Default: unknown.
   * @param name The name, as `c.remind(when, { name, data })` has it.
   * @param handler Called at the time of a reminder. `c.data` is the `data` of the reminder,
   *   `c.late` how late it is, in milliseconds.
   * @returns This bot.
   * @throws {ValueError} If the name is taken.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addWater(bot: Bot): void {
   *   bot.reminder<{ plant: string }>("water", (c) => c.send(`Water the ${c.data.plant}!`));
   *   bot.command("plant <name>", (c) => {
   *     return c.remind({ in: 86_400_000 }, { name: "water", data: { plant: c.args.name } });
   *   });
   * }
   * ```
   */
  reminder<Data = unknown>(name: string, handler: ReminderHandler<Data>): this {
    checkFunction(handler, `add a function for reminders of the name "${name}"`);
    this.#times.add(name, handler as ReminderHandler); // the data is what the program has given
    return this;
  }

  /**
   * Returns a session, to read, change or end it outside of handlers. In a handler, use
   * {@linkcode RoomContext.session}.
   *
   * @param definition The definition of the session.
   * @param key The key of the session: a room ID, a user ID, or what the definition says.
   * @returns The session, whether or not it has been stored yet.
   *
   * @example
   * ```ts
   * import { type Bot, defineSession } from "@greenroom/matrix/bot";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
   *
   * export async function pointsOf(bot: Bot, userId: UserID): Promise<number> {
   *   return (await bot.session(points, userId).read())?.points ?? 0;
   * }
   * ```
   */
  session<State extends object>(definition: SessionDefinition<State>, key: SessionKey): BotSession<State> {
    return this.#kit.sessions.session(definition, key);
  }

  /**
   * Sends text to a room, outside of the bot's functions too, as {@linkcode Bot.in} does, which has all else
   * that a bot does in a room.
   *
   * @param room The ID of the room.
   * @param text The text, in Markdown.
   * @param options What it is written in, of what kind it is, whom it notifies, what it replies to.
   * @returns The message; the first, if there are several.
   * @throws {ValueError} If it is no room ID.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export async function announce(bot: Bot, room: string, build: number): Promise<void> {
   *   const message = await bot.send(room, `**Build ${build}** has passed`);
   *   await message.react("🎉");
   * }
   * ```
   */
  async send(room: string, text: string, options?: BotSendOptions): Promise<BotMessage> {
    return await this.in(room).send(text, options);
  }

  /**
   * A room in which the bot speaks outside of its functions, for a webhook or a timer of your own: in
   * Markdown, encrypted where the room is, as its functions do with `c`. What is called before the bot has
   * started waits for the start if that is under way; what is called in a function is a step of it.
   *
   * @param room The ID of the room.
   * @param options A thread to speak in.
   * @throws {ValueError} If it is no room ID.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * const { baseUrl, fetch } = homeserver;
   * await using bot = new Bot({ baseUrl, fetch, accessToken });
   * const room = await bot.client.createRoom({ name: "Builds" });
   * await bot.in(room).send("**Build 42** has passed");
   * ```
   */
  in(room: string, options: BotRoomOptions = {}): BotRoom {
    checkOptions(options, { thread: true }, "speak in a room");
    const roomId = toRoomId(room);
    return new OutsideRoom(this.#kit, { room: roomId, ...placeIn(options, "speak in a room", roomId) });
  }

  /**
   * Returns the user who has invited the bot into a room. That is known if `autoJoin` accepted the
   * invitation, or `c.join()` in a function for `invite`.
   *
   * @param room The room.
   * @returns The user, and when the invitation was handled; undefined if that is not known.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addBlame(bot: Bot): void {
   *   bot.command("blame", async (c) => c.reply((await bot.inviter(c.roomId))?.by ?? "I don't know"));
   * }
   * ```
   */
  async inviter(room: RoomID): Promise<Inviter | undefined> {
    return await this.#kit.invitations.inviters.of(room);
  }
}

hintAt(Bot.prototype, "a bot", BOT_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface BotHints extends Hints<typeof BOT_HINTS & typeof COMPILED_BOT_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface Bot<C extends Context = Context> extends BotHints {}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { Args, Command, CommandOptions, Schemas, TextCommandOptions } from "./commands/commands.ts";
import type { CommandContext, HeardContext, Middleware, Narrowed, Next, QueryContext } from "./middleware.ts";

/** What the bot does: its commands, handlers and plugins, as of a {@linkcode Composer}. */
export interface Bot<C extends Context = Context> {
  /**
   * Adds middleware for every update: every message, and every event of a type that some function of
   * the bot listens to.
   *
   * @param middleware The functions, or composers with functions.
   * @returns This composer.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.use(async (c, next) => {
   *   c.log.debug("Handled", { type: c.event.type });
   *   await next(); // without it, no later function gets the update
   * });
   * ```
   */
  use(...middleware: readonly MiddlewareLike<C>[]): this;

  /**
   * Adds middleware for what a query names: see {@linkcode Queries}.
   *
   * `"message"` and `"text"` leave out notices (`m.notice`), which bots send:
   * else two bots would answer one another. `"notice"` hears them.
   *
   * @param query The query, or several; kinds of messages and members also by their names: `image`, `join`.
   * @param middleware The functions, or trees of them. They get the event with its type.
   * @returns A tree that gets the same: what is added to it comes after the middleware.
   * @throws {ValueError} If there is no such query.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("message:image", (c) => c.reply(`${c.event.content.info?.w ?? "?"} pixels wide`));
   * plugin.on("reaction", (c) => console.log(c.event.content["m.relates_to"].key));
   * ```
   */
  on<const Q extends Query | (string & Record<never, never>)>(
    query: Q & NoInfer<ListenedQuery<Q>> | readonly (Q & NoInfer<ListenedQuery<Q>>)[],
    ...middleware: readonly MiddlewareLike<Narrowed<C, QueryContext<Q>>>[]
  ): Composer<Narrowed<C, QueryContext<Q>>>;

  /**
   * Adds middleware for messages whose text is, or matches, something.
   *
   * @param pattern The text, or a regular expression; several: any of them.
   * @param middleware The functions, or trees of them. `c.match` is what a regular expression has matched,
   *   with its groups; a text leaves it null.
   * @returns A tree that gets the same.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * new Composer().hears(/^roll (\d+)$/, (c) => c.reply(`A die with ${c.match[1]} sides`));
   * ```
   */
  hears<const P extends string | RegExp | readonly (string | RegExp)[]>(
    pattern: P,
    ...middleware: readonly MiddlewareLike<Narrowed<C, HeardContext<P>>>[]
  ): Composer<Narrowed<C, HeardContext<P>>>;

  /**
   * Adds middleware for reactions with a key, an emoji mostly. They come in clear from nearly all clients, in
   * encrypted rooms too: `c.encryption` is undefined then, and the homeserver may have written them.
   *
   * @param key The key, or several: any of them. Variation selectors, which some clients add to an
   *   emoji, are ignored.
   * @param middleware The functions, or trees of them. `c.event` says what was reacted to.
   * @returns A tree that gets the same.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.reaction("📌", (c) => c.send(`Pinned ${c.permalink(c.event.content["m.relates_to"].event_id)}`));
   * ```
   */
  reaction(
    key: string | readonly string[],
    ...middleware: readonly MiddlewareLike<Narrowed<C, QueryContext<"reaction">>>[]
  ): Composer<Narrowed<C, QueryContext<"reaction">>>;

  /**
   * Adds a command: a message that begins with the prefix and its name, or that mentions the bot
   * first; in a direct chat, one that begins with the name alone.
   *
   * @param pattern Its name and arguments: `"roll"`, `"add <first> <second>"`, `"remind <when>
   *   <text...>"`, `"todo add <text...>"`. A name has up to three words; a message with only the first of
   *   them is answered with the commands that begin so. `<…>` has to be there, `[…]` need not be; `...` takes
   *   the rest of the text, and `<n:number>` has a type ({@linkcode ArgumentTypes}). An argument with spaces
   *   is written in quotation marks. Or a list: the first is that, the others are names that it has, too.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or another command has its name or an alias.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("ping", (c) => c.reply("pong"));
   * plugin.command("say <whom> <text...>", "Says something to somebody", (c) =>
   *   c.send(`${c.args.whom}: ${c.args.text}`));
   * ```
   */
  command<const P extends string>(
    pattern: P | readonly [P, ...string[]],
    ...middleware: readonly Middleware<Narrowed<C, CommandContext<Args<P>>>>[]
  ): this;

  /**
   * Adds a command with options, whose arguments stand in one of these.
   *
   * @param name Its name.
   * @param options Its arguments, as they may stand in a pattern, and what it does, who may use it.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the arguments can't be read, or another command has its name or an alias.
   */
  command<const P extends string, const A extends string>(
    name: P | readonly [P, ...string[]],
    options: TextCommandOptions<A>,
    ...middleware: readonly Middleware<Narrowed<C, CommandContext<Args<`${P} ${A}`>>>>[]
  ): this;

  /**
   * Adds a command with options, such as its description for `!help` and schemas of its arguments.
   *
   * @param pattern Its name and arguments.
   * @param options What it does, schemas of its arguments, who may use it; or its description alone.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or another command has its name or an alias.
   */
  command<const P extends string, const S extends Schemas<P>>(
    pattern: P | readonly [P, ...string[]],
    options: CommandOptions<P, S> | string,
    ...middleware: readonly Middleware<Narrowed<C, CommandContext<Args<P, S>>>>[]
  ): this;

  /**
   * Adds middleware for updates that pass a test.
   *
   * @param test Returns whether an update passes.
   * @param middleware The functions, or composers with functions.
   * @returns A composer: functions added to it get the same updates.
   * @throws {ValueError} If the test is no function.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * const staff = plugin.filter((c) => c.sender.endsWith(":example.org"));
   * staff.command("deploy", (c) => c.reply("On it."));
   * ```
   */
  filter(
    test: (context: C) => boolean | Promise<boolean>,
    ...middleware: readonly MiddlewareLike<C>[]
  ): Composer<C>;

  /**
   * Adds middleware whose errors go to a handler, and to none outside. The end of a conversation or
   * of the bot is not such an error. A promise that a function does not await is outside of the
   * boundary: its error goes to `bot.catch()`. What the user of a command hears of it, the handler says.
   *
   * @param handler Called with what was thrown; `next()` goes on with what comes after the boundary.
   * @param middleware The functions, or composers with functions.
   * @returns A composer: functions added to it are inside of the boundary as well.
   * @throws {ValueError} If the handler is no function.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * const weather = plugin.errorBoundary((_error, c) => c.reply("The weather service is down."));
   * weather.command("weather", async (c) => {
   *   const response = await fetch("https://weather.example/today", { signal: c.signal });
   *   await c.reply(await response.text(), { format: "plain" });
   * });
   * ```
   */
  errorBoundary(
    handler: (error: unknown, context: C, next: Next) => unknown,
    ...middleware: readonly MiddlewareLike<C>[]
  ): Composer<C>;

  /**
   * Returns one function that runs all middleware of this composer, for code that runs middleware
   * itself.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.hears("hello", (c) => c.reply("Hello!"));
   * const run = plugin.middleware();
   * const night = new Composer();
   * night.use((c, next) => new Date().getHours() < 6 ? run(c, next) : next());
   * ```
   */
  middleware(): (context: C, next: Next) => Promise<void>;

  /** The types of events that its middleware listens to, as `Client.on()` takes them. */
  get types(): ReadonlySet<string>;

  /** The commands of this composer and of those in it, in the order in which they were added. */
  get commands(): readonly Command[];
}

/**
 * A bot: a client with commands, answers, conversations, reminders.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import {
  Client,
  ClientEndedError,
  type HandlerContext,
  type KvStore,
  MemoryStore,
  type SessionDefinition,
  type SessionKey,
  type SyncOnceOptions,
  type SyncPass,
  ValueError,
} from "../../mod.ts";
import type { EventID, EventType, MatrixEvent, RoomID } from "../../types.ts";
import {
  type BotHost,
  type BotOptions,
  checkBotOptions,
  clientsOptions,
  type HostedBotOptions,
} from "./bot_options.ts";
import type { BotParts } from "./bot_parts.ts";
import { type BotSession, BotSessions, isCutOff, Once, Patience, Run, RunTime } from "./run/mod.ts";
import { hiddenNames } from "./commands/mod.ts";
import { Composer } from "./composer.ts";
import { type BotRoom, BotRooms, type Context, REMIND, TimerContext } from "./context/context.ts";
import { Conversations, WaitedTypes } from "./conversations/conversations.ts";
import {
  Access,
  Invitations,
  InviteLimiter,
  type Inviter,
  Inviters,
  JoinQueue,
  RateLimiter,
  reportUnread,
} from "./policy/mod.ts";
import { checkFunction } from "../errors/check_function.ts";
import { checkOptions } from "../errors/known_names.ts";
import { announcer, BotAccount, LazyStore, noteDevice, optionsFromEnv, untilBack } from "./running/mod.ts";
import { type Due, readCron, ReminderLimit, type Timer, Timers, within } from "./timers/mod.ts";
import { Updates } from "./updates.ts";

/** Text that a bot still has to send. */
export interface PendingReminder {
  /** Names it. */
  readonly id: string;
  /** When it is due. */
  readonly due: Date;
  /** Where it will be said. */
  readonly roomId: RoomID;
  /** Who asked for it; undefined: nobody. */
  readonly by: string | undefined;
  /** The function it is for; empty: its text is said. */
  readonly name: string;
  /** What it says, or what the function gets. */
  readonly data: unknown;
}

/** The reminders of a bot. */
export interface RemindersAPI {
  /**
   * Those that are pending, the next one first.
   *
   * @param room Of this room alone. Default: of all.
   */
  list(room?: RoomID): AsyncIterableIterator<PendingReminder>;
  /**
   * Takes one back.
   *
   * @param id As `c.remind()` returned it.
   * @returns Whether it was pending.
   */
  cancel(id: string): Promise<boolean>;
}

/** How a bot begins. */
export interface BotStartOptions {
  /**
   * Whether SIGINT and SIGTERM end it cleanly: the bot is closed, and then the process ends with the
   * status 130 or 143. What comes after `await bot.start()` does not run then; for that, say `false`, and give
   * `signal`. Default: true.
   */
  signals?: boolean;
  /** Ends it, as `stop()` does. */
  signal?: AbortSignal;
}

/** Options of {@linkcode Bot.every}. */
export interface EveryOptions {
  /** The same after a restart, and for nothing else. Default: the pattern. */
  name?: string;
  /** Where the clock hangs, like `Europe/Rome`. Default: `UTC`. */
  timezone?: string;
}

/** A function for what is due at a time. */
export type ReminderHandler = (context: TimerContext) => unknown;

const RATE_LIMIT = { count: 20, window: 10_000 };
/**
 * How often a request is sent again that may be, if nothing else is said: for some five minutes. A homeserver
 * that is restarted or upgraded is away for longer than a client waits by default.
 */
const MAX_RETRIES = 15;
/** How long what is due waits for what came while the bot was away, in milliseconds. */
const PATIENCE = 60_000;
/** The last moment that a date can be. */
const LAST = 8.64e15;

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
 * const { accessToken: token } = homeserver.createUser("bot");
 * await using bot = new Bot({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token });
 * bot.command("ping", (c) => c.reply("**pong**"));
 * const done = bot.start();
 * await bot.stop();
 * await done;
 * ```
 */
export class Bot extends Composer<Context> {
  /** What the bot acts with; everything that it lacks itself can be done with this. */
  readonly client: Client;
  /** The reminders that are pending. */
  readonly reminders: RemindersAPI;
  readonly #host: BotHost | undefined;
  readonly #account: BotAccount | undefined;
  readonly #ownStore: LazyStore | undefined;
  /** Where devices are remembered; undefined: nowhere that is known. */
  readonly #store: KvStore | undefined;
  readonly #sessions: BotSessions;
  readonly #once: Once;
  readonly #timers: Timers;
  readonly #inviters: Inviters;
  readonly #updates: Updates;
  readonly #parts: BotParts;
  readonly #conversations: Conversations;
  readonly #reminderHandlers = new Map<string, ReminderHandler>();
  #caught: ((error: unknown, context: Context) => unknown) | undefined;
  #opened: Promise<void> | undefined;
  readonly #registered = new Set<string>();
  /** Resolves when it has asked what is new, or a start has ended before. */
  readonly #synced = Promise.withResolvers<void>();
  readonly #rooms: BotRooms;
  /** Whether it may read what is encrypted. */
  readonly #encrypts: boolean;
  /** Names of commands that were said to be hidden, or unusable. */
  readonly #hidden = new Set<string>();
  readonly #announce: ReturnType<typeof announcer>;
  readonly #ending = new AbortController();
  #stopping = new AbortController();
  /** How many calls of `start()` go on: they do what is due, once they have the device. */
  #starts = 0;

  /**
   * Makes a bot; nothing is sent.
   *
   * @param options The homeserver and a token, or a user and a password, at the least; or an
   *   application service.
   * @throws {ValueError} If an option can't be used.
   */
  constructor(options: BotOptions | HostedBotOptions) {
    super();
    checkBotOptions(options);
    const { prefix = "!", msgtype = "m.notice", saysFailures = true, rateLimit = RATE_LIMIT } = options;
    const { inviteLimit } = options;
    if (typeof prefix !== "string" || /^\s*$|\s/.test(prefix)) {
      throw new ValueError('Cannot make a bot: prefix must be a text without spaces, like "!"');
    }
    this.#encrypts = "appservice" in options || Boolean(options.encryption);
    if (options.encryptedOnly === true && !this.#encrypts) {
      throw new ValueError(
        "Cannot make a bot: it would hear nothing, since encryptedOnly needs encryption; give it that too, and a store " +
          "that lasts",
      );
    }
    if ("appservice" in options) {
      this.#host = options.appservice;
      this.client = options.appservice.bot;
    } else {
      const { password } = options;
      const forClient = clientsOptions(options);
      const store = options.store ?? (password === undefined ? undefined : new MemoryStore());
      this.#ownStore = store instanceof LazyStore ? store : undefined;
      const { onTokensRefreshed, findTokens } = options;
      this.client = new Client({
        ...forClient,
        ...(store === undefined ? {} : { store }),
        retry: forClient.retry === false ? false : { maxRetries: MAX_RETRIES, ...forClient.retry },
        onTokensRefreshed: async (tokens, used) =>
          await this.#account?.renewed(tokens, used) ?? await onTokensRefreshed?.(tokens, used),
        findTokens: async (ended) =>
          this.#account === undefined
            ? await findTokens?.(ended)
            : await this.#account.find(this.client, ended),
      });
      this.#account = store === undefined ? undefined : accountOf(options, store);
      this.#store = options.store;
    }
    const { client } = this;
    this.#announce = announcer("appservice" in options ? client.log : options.log, client.api.clock);
    const access = new Access(client, options);
    reportUnread(client, access, this.#ending.signal);
    const sessions = this.#sessions = new BotSessions(client);
    const timers = this.#timers = new Timers(client, {
      timer: (timer, context, due) => this.#due(timer, context, due),
      schedule: (schedule, context, due) =>
        this.#call(context, due, schedule.work as ReminderHandler, { details: { every: schedule.name } }),
    }, new ReminderLimit(client, options.maxReminders));
    const once = this.#once = new Once(client);
    const inviters = this.#inviters = new Inviters(client);
    const joins = new JoinQueue();
    const conversations = new Conversations({
      client,
      sessions,
      once,
      timers,
      dispatch: (run, start) => this.#updates.dispatch(run, start),
    });
    this.#conversations = conversations;
    const waited = new WaitedTypes(client, (types) => this.#listenTo(types));
    const synced = async (): Promise<void> => { // before the first event comes
      client.removeEventHandler("SYNC_SUCCESSFUL", synced);
      await waited.restore();
      this.#synced.resolve();
    };
    client.addEventHandler("SYNC_SUCCESSFUL", synced, { waitSync: true });
    this.#parts = {
      client,
      options: { prefix, msgtype, saysFailures },
      sessions,
      once,
      conversations,
      waited,
      timers,
      access,
      inviters,
      joins,
      patience: new Patience(client.api.clock, {
        limit: options.handlerTimeout,
        slow: ({ what }) =>
          what && client.log.warn("A function has not ended after 30 seconds, and is waited for", what),
      }),
      checkReminder: (due, name) => this.#checkReminder(due, name),
    };
    this.#updates = new Updates({
      parts: this.#parts,
      behaviour: options,
      conversations,
      invitations: new Invitations({
        ...{ client, inviters, joins, timers },
        limiter: inviteLimit === false ? undefined : new InviteLimiter(inviteLimit),
      }),
      inviters,
      limiter: rateLimit === false ? undefined : new RateLimiter(rateLimit),
      composer: this,
      hearsEdits: () => this.hearsEdits,
      failed: () => this.#caught,
      signal: () => this.#ending.signal,
    });
    this.#rooms = new BotRooms({
      client,
      parts: this.#parts,
      started: async () => {
        await untilBack(() => this.#open(), client, this.#ending.signal);
        if (this.#starts > 0) await this.#synced.promise;
      },
      signal: this.#ending.signal,
    });
    this.reminders = {
      list: (room) => this.#listReminders(room),
      cancel: (id) => this.#timers.removeNow(id),
    };
  }

  /**
   * Makes a bot of what the environment says: `MATRIX_URL` and `MATRIX_TOKEN`, or `MATRIX_USER` and
   * `MATRIX_PASSWORD`; and, if they are set, `MATRIX_STORE` (a file), `MATRIX_RECOVERY_KEY` or
   * `MATRIX_RECOVERY_KEY_FILE` (which the first start makes, with the key), `MATRIX_ADMINS`,
   * `MATRIX_WAKE_SECRET`. Where Deno KV is there (`--unstable-kv`, Deno Deploy), it is
   * the store. With a store that lasts, or a recovery key, the bot encrypts.
   *
   * @param options What the environment need not say, or is not to.
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
  static fromEnv(options: Partial<BotOptions> = {}): Bot {
    const isOpen = Deno.permissions.querySync({ name: "env" }).state === "granted"; // Deno would prompt
    const names = isOpen ? Object.keys(Deno.env.toObject()) : [];
    return new Bot(optionsFromEnv((name) => Deno.env.get(name), options, names));
  }

  /**
   * Begins, and goes on until it is stopped. It logs in first if it has a password, as soon as the
   * homeserver is there, and reminds of what became due meanwhile.
   *
   * @param options What ends it.
   * @returns Resolves when it has been stopped; rejects with the reason if it can't go on, which is not in
   *   the log as well: see {@linkcode Client.start}.
   */
  async start(options: BotStartOptions = {}): Promise<void> {
    checkOptions(options, { signals: true, signal: true }, "start the bot");
    const { signals = true, signal } = options;
    const ends = [this.#stopping.signal, this.#ending.signal, ...(signal === undefined ? [] : [signal])];
    const ended = AbortSignal.any(ends);
    const wasClosed = this.#ending.signal.aborted; // then the client says so
    this.#starts++;
    try {
      if (!wasClosed) await untilBack(() => this.#open(), this.client, ended);
      if (wasClosed || !ended.aborted) await this.#run(signals, signal);
    } finally {
      this.#starts--;
      this.#synced.resolve();
    }
  }

  async #run(signals: boolean, signal: AbortSignal | undefined): Promise<void> {
    const stopped = new AbortController();
    const both = signal === undefined ? stopped.signal : AbortSignal.any([signal, stopped.signal]);
    const timing = this.#time(both);
    try {
      if (this.#host === undefined) await this.client.start({ ignoreInitialSync: true, signals, signal });
      else await this.#host.start({ signals, signal });
      this.#announce("The bot has ended", { user: this.client.mxid });
    } finally {
      stopped.abort();
      await timing;
    }
  }

  /**
   * Ends what `start()` began: functions that are called by now may end. Called by one of them, it
   * does not wait for that.
   */
  async stop(): Promise<void> {
    this.#stopping.abort(); // a start that has not come to the client yet
    this.#stopping = new AbortController();
    await (this.#host ?? this.client).stop();
  }

  /** Ends the bot for good, and closes what it has opened. */
  async close(): Promise<void> {
    const closing = (this.#host ?? this.client).close();
    this.#ending.abort(new ClientEndedError("The bot was closed"));
    await closing;
    await this.#ownStore?.close();
  }

  /** The same as {@linkcode Bot.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Makes a pass, from cron for one: hears what is new, and does what is due. Where no process stays, one
   * each minute keeps reminders and schedules to their times, and sees to what no wake tells of.
   *
   * @param options How long it may take: see {@linkcode Client.syncOnce}.
   * @returns What was done.
   */
  async syncOnce(options: SyncOnceOptions = {}): Promise<SyncPass> {
    await this.#open();
    const { clock } = this.client.api;
    const begun = clock.now();
    const pass = await this.client.syncOnce({ ignoreInitialSync: true, ...options });
    if (pass.left === "device") return pass; // what is due is done by who has it
    const { deadline } = options;
    if (deadline === undefined) {
      await this.#timers.fire();
      return pass;
    }
    const isDone = await within(clock, deadline - (clock.now() - begun), this.#timers.fire());
    return isDone ? pass : { ...pass, left: pass.left ?? "handlers" };
  }

  /**
   * Answers HTTP requests, where no process stays: the homeserver's wakes or transactions, and
   * `/health`. See {@linkcode Client.fetch}.
   *
   * Two things bring a bot to life there: wakes, once `bot.client.registerWake()` has asked for them, and
   * {@linkcode Bot.syncOnce} from cron. Unless the bot is started, what is due at a time is done by these: a
   * reminder comes with the first wake or pass after its time, so with cron each minute at most a minute
   * late. A health check says whether this process is of use, and does nothing else, however often it comes.
   *
   * @example
   * ```ts
   * import { Client, MemoryStore } from "@greenroom/matrix";
   * import { Bot } from "@greenroom/matrix/bot";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * const pushFetch = (url: string, init: RequestInit): Promise<Response> => bot.fetch(new Request(url, init));
   * await using homeserver = new Homeserver({ pushFetch }); // in place of yours
   * await using bot = new Bot({
   *   baseUrl: homeserver.baseUrl,
   *   fetch: homeserver.fetch,
   *   token: homeserver.createUser("bot").accessToken,
   *   store: new MemoryStore(), // there: one that all instances share
   *   wake: { secret: crypto.randomUUID() }, // there: MATRIX_WAKE_SECRET, the same in all instances
   * }); // there: Bot.fromEnv()
   * bot.command("ping", (c) => c.reply("pong"));
   *
   * // Deno.serve(bot.fetch);
   * // Deno.cron("sweep", "* * * * *", async () => {
   * await bot.syncOnce({ deadline: 50_000 }); // takes up where it was, and does what is due
   * await bot.client.registerWake("https://bot.example.org"); // once, or with each pass: it changes what is not so yet
   * // });
   *
   * const { accessToken: token } = homeserver.createUser("alice");
   * await using alice = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token });
   * const answered = Promise.withResolvers<void>();
   * alice.on("m.room.message", ({ content }) => content.body === "pong" && answered.resolve());
   * alice.on("JOIN", async ({ room_id, sender }) => {
   *   if (sender === bot.client.mxid) await alice.sendText(room_id, "!ping");
   * });
   * alice.start();
   * await alice.createRoom({ invitees: ["@bot:localhost"], preset: "trusted_private_chat" });
   * await answered.promise; // the invitation has woken the bot, and then the command
   * ```
   */
  get fetch(): (request: Request) => Promise<Response> {
    const { fetch } = this.#host ?? this.client;
    return async (request) => {
      await this.#open();
      const { method } = request;
      const response = await fetch(request);
      const isNews = response.ok && method !== "GET" && method !== "HEAD"; // a wake, or a transaction
      if (isNews && this.#starts === 0) {
        await this.#timers.fire().catch((error) => this.client.log.warn("What is due waits", { error }));
      }
      return response;
    };
  }

  /**
   * Handles what functions throw, in place of the log and `HANDLER_ERROR`; not that a conversation has
   * ended. Who has given a command is told that it failed before: `saysFailures: false` leaves that to the
   * handler.
   *
   * @param handler Called with what was thrown, and the context of it.
   * @returns This.
   */
  catch(handler: (error: unknown, context: Context) => unknown): this {
    checkFunction(handler, "catch what functions throw", "the handler");
    this.#caught = handler;
    return this;
  }

  /**
   * Does something at times that come again and again, once each, also when the bot was not there:
   * then once for all the times that it missed, and `c.late` says how late.
   *
   * A room that the function names stays that one when it is upgraded, also with `followUpgrade()`:
   * keep which room it is in a session, and change that.
   *
   * @param pattern When, as cron writes it: minute, hour, day, month, weekday.
   * @param handler What to do.
   * @param options Its name, and the time zone.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or the name is taken.
   *
   * @example
   * ```ts ignore
   * bot.every("0 9 * * 1-5", (c) => c.in("!room:example.org").send("Good morning!"));
   * ```
   */
  every(
    pattern: string,
    handler: ReminderHandler,
    options: EveryOptions = {},
  ): this {
    checkFunction(handler, `do something at "${pattern}"`);
    checkOptions(options, { name: true, timezone: true }, `do something at "${pattern}"`);
    const { name = pattern, timezone = "UTC" } = options;
    const next = readCron(pattern, timezone);
    this.#timers.schedule({ name, pattern: `${pattern} ${timezone}`, next, work: handler });
    return this;
  }

  /**
   * Adds a function for reminders of a name.
   *
   * @param name The name, as `c.remind(when, { name, data })` has it.
   * @param handler Called when one is due; `c.data` is what was given, `c.late` how late it is.
   * @returns This.
   * @throws {ValueError} If the name is taken.
   */
  reminder(name: string, handler: ReminderHandler): this {
    checkFunction(handler, `add a function for reminders of the name "${name}"`);
    if (name === "" || this.#reminderHandlers.has(name)) {
      throw new ValueError(`Cannot add a function for reminders: the name "${name}" is empty, or taken`);
    }
    this.#reminderHandlers.set(name, handler);
    return this;
  }

  /**
   * A session, from outside of handlers.
   *
   * @param definition What it is.
   * @param key Which one: a room, a user, or what the definition says.
   */
  session<State extends object>(definition: SessionDefinition<State>, key: SessionKey): BotSession<State> {
    return this.#sessions.session(definition, key);
  }

  /**
   * A room in which the bot speaks outside of its functions, as a webhook or a timer of your own wants: in
   * Markdown, encrypted where the room is, as its functions do with `c`. What is called before the bot has
   * started waits for the start if that is under way; what is called in a function is a step of it.
   *
   * @param room The room.
   * @param options The first event of a thread to speak in. Default: none.
   *
   * @example
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * const { baseUrl, fetch } = homeserver;
   * await using bot = new Bot({ baseUrl, fetch, token: accessToken });
   * const room = await bot.client.createRoom({ name: "Builds" });
   * await bot.in(room).send("**Build 42** has passed");
   * ```
   */
  in(room: RoomID, options: { thread?: EventID } = {}): BotRoom {
    checkOptions(options, { thread: true }, "speak in a room");
    return this.#rooms.in({ room, thread: options.thread });
  }

  /**
   * Who has invited the bot into a room. It is known if the invitation was accepted by `autoJoin`, or
   * by `c.join()` in a function for `invite`.
   *
   * @param room The room.
   * @returns Undefined: nobody, as far as is known.
   */
  async inviter(room: RoomID): Promise<Inviter | undefined> {
    return await this.#inviters.of(room);
  }

  /** Logs in, and begins to listen, the first time. */
  async #open(): Promise<void> {
    this.#listen();
    const opening = this.#opened ??= this.#account?.open(this.client) ?? Promise.resolve();
    try {
      await opening;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  #listen(): void {
    this.#updates.refresh();
    const warn = (names: Iterable<string>, message: string): void => {
      for (const name of names) {
        if (!this.#hidden.has(name)) this.client.log.warn(message, { name });
        this.#hidden.add(name);
      }
    };
    const { commands } = this;
    warn(hiddenNames(commands), "A command is hidden by another of the same name, and is never called");
    const encrypted = this.#encrypts ? [] : commands.filter(({ isEncryptedOnly }) => isEncryptedOnly);
    warn(
      encrypted.map(({ name }) => name),
      "A command is never called, since it is taken only from encrypted messages, and the bot has no encryption; " +
        "give it encryption, and a store that lasts",
    );
    this.#listenTo([...Updates.types, ...this.types]);
  }

  #listenTo(types: Iterable<string>): void {
    for (const type of types) {
      if (this.#registered.has(type)) continue;
      this.#registered.add(type);
      this.client.addEventHandler(
        type as EventType & "m.room.message",
        (event, context) => this.#updates.handle(type, event as MatrixEvent, context),
        { name: "bot" },
      );
    }
  }

  /** Does what is due, while the client syncs. */
  async #time(signal: AbortSignal): Promise<void> {
    const { client } = this;
    const ended = new AbortController();
    // Another process may have the device for a while: patience begins when this one asks what is new.
    const asks = Promise.withResolvers<void>();
    const asked = () => asks.resolve();
    const failed = () => void this.#timers.opened().then(asked, () => {}); // it may fail before it has the device
    client.addEventHandler("SYNC_SUCCESSFUL", asked);
    client.addEventHandler("SYNC_ERRORED", failed);
    signal.addEventListener("abort", asked, { once: true });
    await asks.promise;
    client.removeEventHandler("SYNC_SUCCESSFUL", asked);
    client.removeEventHandler("SYNC_ERRORED", failed);
    // What was said in time is heard before the time for it is over; but a handler may hang.
    const late = client.api.clock.delay(PATIENCE, {
      signal: AbortSignal.any([signal, ended.signal]),
      persistent: false,
    });
    await Promise.race([client.ready, late]).catch(() => {});
    ended.abort();
    await late.catch(() => {});
    if (signal.aborted) return;
    if (this.#store !== undefined) {
      const warns = this.#account === undefined; // which says so itself
      await noteDevice(client, this.#store, { warns }).catch((error) =>
        client.log.debug("The device could not be remembered", { error })
      );
    }
    this.#announce("The bot has started", { user: client.mxid });
    try {
      await Promise.race([this.#timers.run(signal), closed(this.#ending.signal)]);
    } catch (error) {
      if (!isCutOff(error) && !signal.aborted) {
        client.log.error("What is due at times is not done any more", { error });
      }
    }
  }

  async #due(timer: Timer, context: HandlerContext, due: Due): Promise<void> {
    if (timer.kind === "wait") {
      const { conversation, at, end: reason } = timer;
      const time = new RunTime(this.#ending.signal);
      const ended = this.#conversations.end(conversation, at, { reason, context, time });
      return await this.#parts.patience.until(ended.then(() => {}), time);
    }
    if (timer.kind === "join") return await this.#updates.acceptAgain(timer.invitation, context);
    const { reminder } = timer;
    const handler = this.#reminderHandlers.get(reminder.name);
    if (reminder.name !== "" && handler === undefined) {
      throw new ValueError(
        `Cannot remind: the bot has no function "${reminder.name}"; add it with bot.reminder()`,
      );
    }
    const details = { reminder: reminder.name || undefined, room: reminder.room, by: reminder.by };
    await this.#call(context, due, handler ?? ((c) => c[REMIND]()), { reminder, details });
  }

  async #call(
    context: HandlerContext,
    due: Due,
    handler: ReminderHandler,
    { reminder, details }: {
      readonly reminder?: Extract<Timer, { kind: "remind" }>["reminder"];
      /** What the log says of it. */
      readonly details: Readonly<Record<string, unknown>>;
    },
  ): Promise<void> {
    const time = new RunTime(this.#ending.signal);
    const run = new Run({ context, time });
    time.what = details;
    run.watch(details, { late: (message, step) => this.client.log.warn(message, { step, ...details }) });
    try {
      const called = run.call(async () => await handler(new TimerContext(this.#parts, run, due, reminder)));
      await this.#parts.patience.until(called.then(() => {}), time);
      const end = await called;
      if (end.kind !== "done") {
        throw new ValueError("Cannot ask in what is due at a time: there is nobody to answer");
      }
      this.#sessions.commit(run);
      await context.settle();
    } catch (error) {
      if (!isCutOff(error)) await this.#once.failed(run);
      throw error;
    } finally {
      for (const call of run.atEnd) call();
    }
  }

  #checkReminder(due: number, name: string): void {
    if (!(due >= 0 && due <= LAST)) throw new ValueError("Cannot remind: there is no such time");
    if (name !== "" && !this.#reminderHandlers.has(name)) {
      throw new ValueError(`Cannot remind: the bot has no function "${name}"; add it with bot.reminder()`);
    }
  }

  async *#listReminders(room?: RoomID): AsyncIterableIterator<PendingReminder> {
    for await (const { key, due, timer } of this.#timers.list()) {
      if (timer.kind !== "remind" || (room !== undefined && timer.reminder.room !== room)) continue;
      const { room: roomId, by, name, data } = timer.reminder;
      yield { id: key, due: new Date(due), roomId, by, name, data };
    }
  }
}

/** Resolves when a bot is closed: what is not over then may never be. */
function closed(ending: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ending.aborted) resolve();
    else ending.addEventListener("abort", () => resolve(), { once: true });
  });
}

function accountOf(
  { mxid, password, token, store: given }: BotOptions,
  store: NonNullable<BotOptions["store"]>,
): BotAccount | undefined {
  if (password === undefined || (token !== undefined && token !== "")) return undefined;
  if (mxid === undefined) throw new ValueError("Cannot make a bot: a password needs mxid, whose it is");
  const isKept = given !== undefined;
  return new BotAccount({ mxid, password, store, isKept, deviceName: "Greenroom bot" });
}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { Args, Command, CommandOptions, Schemas } from "./commands/mod.ts";
import type {
  CommandContext,
  HeardContext,
  Middleware,
  MiddlewareLike,
  Next,
  QueryContext,
} from "./composer.ts";
import type { ListenedQuery, Query } from "./run/mod.ts";

/** What it has from elsewhere. */
export interface Bot {
  /**
   * Adds middleware, which gets every update that others have asked for, and every message.
   *
   * @param middleware The functions, or trees of them.
   * @returns This.
   */
  use(...middleware: readonly MiddlewareLike<Context>[]): this;

  /**
   * Adds middleware for what a query names: see {@linkcode Queries}.
   *
   * @param query The query, or several.
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
  on<const Q extends Query>(
    query: Q & ListenedQuery<Q> | readonly (Q & ListenedQuery<Q>)[],
    ...middleware: readonly MiddlewareLike<QueryContext<Q>>[]
  ): Composer<QueryContext<Q>>;

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
    ...middleware: readonly MiddlewareLike<HeardContext<P>>[]
  ): Composer<HeardContext<P>>;

  /**
   * Adds middleware for reactions with a key, an emoji mostly. They come in clear from nearly all clients, in
   * encrypted rooms too: `c.encryption` is undefined then, and the homeserver may have written them.
   *
   * @param key The key, or several: any of them. The selectors that some clients add to an emoji count
   *   for nothing.
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
    ...middleware: readonly MiddlewareLike<QueryContext<"reaction">>[]
  ): Composer<QueryContext<"reaction">>;

  /**
   * Adds a command: a message that begins with the prefix and its name, or that mentions the bot
   * first; in a direct chat, one that begins with the name alone.
   *
   * @param pattern Its name and arguments: `"roll"`, `"add <first> <second>"`, `"remind <when>
   *   <text...>"`, `"todo add <text...>"`. A name has up to three words; a message with only the first of
   *   them is answered with the commands that begin so. `<…>` has to be there, `[…]` need not be; `...` takes
   *   the rest of the text. An argument with spaces is written in quotation marks.
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
   * plugin.command("say <whom> <text...>", { description: "Says something to somebody" }, (c) =>
   *   c.send(`${c.args.whom}: ${c.args.text}`));
   * ```
   */
  command<const P extends string>(
    pattern: P,
    ...middleware: readonly Middleware<CommandContext<Args<P>>>[]
  ): this;

  /**
   * Adds a command, with more said of it: as above.
   *
   * @param pattern Its name and arguments.
   * @param options What it does, schemas of its arguments, who may use it.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or another command has its name or an alias.
   */
  command<const P extends string, const S extends Schemas<P>>(
    pattern: P,
    options: CommandOptions<P, S>,
    ...middleware: readonly Middleware<CommandContext<Args<P, S>>>[]
  ): this;

  /**
   * Adds middleware for updates that pass a test.
   *
   * @param test Whether an update passes.
   * @param middleware The functions, or trees of them.
   * @returns A tree that gets the same.
   */
  filter(
    test: (context: Context) => boolean | Promise<boolean>,
    ...middleware: readonly MiddlewareLike<Context>[]
  ): Composer<Context>;

  /**
   * Adds middleware whose failures go to a handler, and no further; but not that a conversation, or
   * the bot, has ended. What a function does not await has no place in the tree any more when it
   * fails: that goes to `bot.catch()`.
   *
   * @param handler Called with what was thrown; `next()` goes on with what comes after the boundary.
   * @param middleware The functions, or trees of them.
   * @returns A tree that is inside too.
   */
  errorBoundary(
    handler: (error: unknown, context: Context, next: Next) => unknown,
    ...middleware: readonly MiddlewareLike<Context>[]
  ): Composer<Context>;

  /** All of it as one function. */
  middleware(): (context: Context, next: Next) => Promise<void>;

  /** The types of event that it needs, as `Client.on()` takes them. */
  get types(): ReadonlySet<string>;

  /** The commands in it, in the order in which they were added. */
  get commands(): readonly Command[];
}

/**
 * How a bot is made.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import { homeserverAddress } from "../api/server/server.ts";
import { checkHinted, type Hints } from "../errors/hints.ts";
import { checkOneOf, checkOptions, type OptionNames } from "../errors/known_names.ts";
import {
  Client,
  type ClientOptions,
  type DefineSessionOptions,
  type SessionScope,
  type Store,
  ValueError,
} from "../../mod.ts";
import type { WriteInstead } from "../../types.ts";
import type { AccessOptions, AutoJoin, InviteLimit, RateLimit } from "./policy/policy.ts";

/** What a bot can run in, in place of a client of its own: an application service. */
export interface BotHost {
  /** The client that delivers events. */
  readonly botClient: Client;
  /** Answers HTTP requests, of the homeserver and others. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Begins; resolves when it has ended. */
  start(options?: Pick<BotStartOptions, "signal">): Promise<void>;
  /** Stops what `start()` began. */
  stop(): Promise<void>;
  /** Stops it for good, and releases its resources. */
  close(): Promise<void>;
}

/** What `c.session` is. */
export interface BotSessionOptions<State extends object>
  extends Omit<DefineSessionOptions<State>, "name" | "per"> {
  /** Its name in the store: another name is another session. Default: `session`. */
  name?: string;
  /** Whose it is: one for each room, for one. Default: `room`. */
  per?: SessionScope;
}

/**
 * What a context has with the bot's option `session`: a {@linkcode Bot} of `Context & WithSession<State>`
 * has it in all functions.
 */
export interface WithSession<State extends object> {
  /**
   * The session of the event, as the bot's option `session` says whose that is: change it, or set another.
   * What was made of it is committed together with the record that the event was handled, so a crash
   * repeats no change, and a function that throws changes nothing. No other function has it until this one
   * ends or asks.
   */
  session: State;
}

/** What `c.session` is, as the type of a bot's contexts has it. */
export type SessionOf<C> = C extends WithSession<infer State> ? BotSessionOptions<State> : never;

/** The option `session`, where the type of a bot's contexts has one. */
export type SessionOption<C> = [SessionOf<C>] extends [never] ? unknown : {
  /** What functions have as `c.session`. */
  session: SessionOf<C>;
};

/** How a bot hears and speaks. */
export interface BotBehaviour extends AccessOptions {
  /** What commands begin with. Default: `!`. */
  prefix?: string;
  /**
   * What kind of messages it sends: `m.notice`, which no other bot answers and which notifies nobody
   * who is not mentioned, or `m.text`. Default: `m.notice`.
   */
  msgtype?: "m.notice" | "m.text";
  /** Whether there is a command `help` that lists the others; `cancel` is there anyway. Default: true. */
  help?: boolean;
  /**
   * What happens with a command that does not exist: the bot answers it, or it goes on to the other
   * functions like any message. Default: `ignore`.
   */
  unknownCommands?: "answer" | "ignore";
  /**
   * Whether the bot tells a user that a command has failed, where no function has caught that,
   * and `bot.catch()` says nothing. Default: true.
   */
  saysFailures?: boolean;
  /**
   * Whether to accept invitations: of all who are heard, of none, of the users on a list, which may be
   * patterns like `@*:example.org`, or as a function says. Who has invited is remembered:
   * {@linkcode Bot.inviter}. An invitation is tried again, also after a restart with a store, until the bot
   * has joined, it was withdrawn, or it is refused for good: while the homeserver is away or limits joins for
   * up to 30 days, and for five minutes if it refuses (403, 404), since an invitation may come over
   * federation before what it needs. How many are taken, `inviteLimit` says. Default: true.
   */
  autoJoin?: AutoJoin;
  /**
   * How many updates of one user are handled that were sent within a time; more are ignored. What
   * counts is when a message was sent, not when it comes: what was said slowly while the bot was
   * away is handled, up to 1,000 messages beyond what may come now, since the times are what
   * servers say. The bot tells a user when it begins to ignore their commands, at most once in ten
   * windows. `false`: all. Default: 20 in 10 seconds.
   */
  rateLimit?: RateLimit | false;
  /**
   * How many invitations are taken within a time, of one user and of all, whether they are accepted by
   * `autoJoin` or by a function. Those of users whom a list in `autoJoin` leaves out do not count. More are
   * accepted later, in their turn, also after a restart with a store; those that would wait for more than ten
   * windows are ignored, which the log says. Fifty joins go on at a time, two of them for one inviter.
   * `false`: all are taken at once. Default: 50 of one user in an hour, 500 of all.
   *
   * @example A bot that users invite into hundreds of rooms
   * ```ts
   * import { Bot } from "@greenroom/matrix/bot";
   *
   * await using bot = new Bot({
   *   homeserver: "https://matrix.example.org",
   *   accessToken: "the-token",
   *   inviteLimit: { count: 1_000, total: 2_000 },
   * });
   * ```
   */
  inviteLimit?: Partial<InviteLimit> | false;
  /**
   * What functions have as `c.session`: plain data, which is theirs alone while they run, and kept from one
   * event to the next. Default: none, and functions ask for sessions by `c.getSession()`.
   */
  session?: BotSessionOptions<object>;
  /**
   * How many reminders of one user may be pending in a room: `c.remind()` throws a `ValueError` then.
   * Default: 100.
   */
  maxReminders?: number;
  /**
   * How long a function may take for one event, like `30m`, or in milliseconds: `c.signal` ends then, the
   * failure is reported, and the next event of the user is handled. One that takes over 30 seconds is
   * warned of, once. Default: 10 minutes.
   */
  handlerTimeout?: number | string;
}

/** How a bot is made: as a client is, and how it behaves. */
export interface BotOptions extends Omit<ClientOptions, "store">, BotBehaviour {
  /**
   * When and how often a request that failed is sent again, or `false` for never. Default: as a client's, but
   * 15 times, which is some five minutes: what a bot says while the homeserver is restarted arrives once it
   * is back. After that the function fails.
   */
  retry?: ClientOptions["retry"];
  /**
   * Where everything is kept: a store, or the path of its file. A file is opened when the bot
   * needs it first, and closed with the bot: by Deno KV with `--unstable-kv`, else by SQLite.
   * Default: in memory, for this bot alone.
   */
  store?: Store | string;
  /**
   * The password of `mxid`, in place of `accessToken`: the bot logs in once, and keeps token and device in
   * `store`. Of several processes with the same store each goes on with the tokens that another has renewed;
   * `findTokens` is not asked then. A session that has expired is resumed by a login with the same device ID.
   * If it was logged out elsewhere, the bot ends, and its next start logs in as a new device, with a warning
   * that names both: conversations, reminders, sessions and all else in the store are kept by device. Without
   * a `store` each start is a new device. With a `store`, and neither a password nor a token, the bot goes on
   * with the session that a login by OAuth 2.0 has left there (`@greenroom/matrix/oauth`).
   */
  password?: string;
}

/**
 * What {@linkcode Bot.fromEnv} takes: options of a bot, with the session that the type of its contexts has.
 */
export type EnvBotOptions<C, State extends object = never> =
  & Omit<Partial<BotOptions>, "session">
  & BotOptionHints
  & SessionOption<C>
  & {
    /** What functions have as `c.session`. Default: nothing. */
    session?: BotSessionOptions<State> | SessionOf<C>;
  };

/** What other libraries' bots have as options, and what to write here. */
const BOT_OPTION_HINTS = {
  ignoreOwnMessages: "nothing: a bot does not hear itself",
  ignoreOwn: "nothing: a bot does not hear itself",
  media: "c.download({ maxSize }), in a function",
  commandPrefix: "prefix",
  owner: "admins",
  owners: "admins",
} as const;

/** Options of other libraries' bots; the compiler names the own one. */
export interface BotOptionHints {
  /** @deprecated The option is `homeserver`. */
  homeserverUrl?: WriteInstead<"homeserver">;
  /** @deprecated The option is `accessToken`. */
  token?: WriteInstead<"accessToken">;
  /** @deprecated The option is `mxid`. */
  userId?: WriteInstead<"mxid">;
  /** @deprecated The option is `mxid`. */
  user?: WriteInstead<"mxid">;
  /** @deprecated A bot does not hear itself. */
  ignoreOwnMessages?: WriteInstead<"nothing: a bot does not hear itself">;
  /** @deprecated The option is `log`. */
  logger?: WriteInstead<"log">;
  /** @deprecated Encryption takes it once the bot runs. */
  recoveryKey?: WriteInstead<"bot.client.crypto.ensureVerified({ recoveryKey })">;
}

/** How a bot in an application service is made. */
export interface HostedBotOptions extends BotBehaviour {
  /** The application service. */
  appservice: BotHost;
}

/** How a bot with a client of the application's is made: the client's options are its own. */
export interface ClientBotOptions extends BotBehaviour {
  /** The client, which the bot starts, stops and closes. */
  client: Client;
}

/** @internal Names of other libraries, for the compiler. */
export interface BotStartOptionsHints extends Hints<{ onStart: "await bot.client.ready" }> {}

/** Options of {@linkcode Bot.start}. */
export interface BotStartOptions extends BotStartOptionsHints {
  /**
   * Whether SIGINT and SIGTERM end it cleanly: the bot is closed, `await bot.start()` resolves, and what
   * follows it has 5 seconds, after which the process is ended. Its status is 130 or 143. Default: true.
   */
  signals?: boolean;
  /** Stops the bot when it aborts, as {@linkcode Bot.stop} does. */
  signal?: AbortSignal;
}

const BEHAVIOUR: OptionNames<BotBehaviour> = {
  ...{ prefix: true, msgtype: true, help: true, unknownCommands: true, saysFailures: true, autoJoin: true },
  ...{ session: true, rateLimit: true, inviteLimit: true, maxReminders: true, handlerTimeout: true },
  ...{ allow: true, deny: true, rooms: true, admins: true, encryptedOnly: true },
};

const SESSION: OptionNames<BotSessionOptions<object>> = {
  name: true,
  per: true,
  initial: true,
  schema: true,
};

/** What other libraries call options of sessions, and what to write here. */
const SESSION_HINTS = { scope: "per", type: "per", key: "per", initialState: "initial", default: "initial" };

const HOSTED: OptionNames<HostedBotOptions> = { appservice: true, ...BEHAVIOUR };

const WITH_CLIENT: OptionNames<ClientBotOptions> = { client: true, ...BEHAVIOUR };

const ALONE: OptionNames<BotOptions> = {
  ...{ password: true, ...BEHAVIOUR },
  ...{
    homeserver: true,
    baseUrl: true,
    api: true,
    mxid: true,
    deviceId: true,
    store: true,
    lease: true,
    wake: true,
  },
  ...{ encryption: true, encryptionBlacklist: true },
  ...{
    fillMemberEventCallback: true,
    deliver: true,
    maxPendingHandlers: true,
    closeTimeout: true,
    sync: true,
  },
  ...{ accessToken: true, refreshToken: true, expiresIn: true, onTokensRefreshed: true, findTokens: true },
  ...{ revokeTokens: true },
  ...{ fetch: true, log: true, clock: true, retry: true, requestTimeout: true, maxResponseSize: true },
  ...{ userAgent: true, asUserId: true, asDeviceId: true },
};

/**
 * Refuses options that a bot has not, as of a typing error.
 *
 * @throws {ValueError} If there is one.
 */
export function checkBotOptions(options: BotOptions | HostedBotOptions | ClientBotOptions): void {
  if (options === undefined) throw new ValueError("Cannot make a bot: it has no options; see Bot.fromEnv()");
  const names = "appservice" in options ? HOSTED : "client" in options ? WITH_CLIENT : ALONE;
  checkHinted(options, names, BOT_OPTION_HINTS, "make a bot");
  checkOptions(options, names, "make a bot");
  checkOneOf(options.msgtype, ["m.notice", "m.text"], "make a bot", "msgtype");
  if (names === ALONE) checkHomeserver(options);
  if ("client" in options && !(options.client instanceof Client)) {
    throw new ValueError("Cannot make a bot: its client must be a Client of @greenroom/matrix");
  }
  checkHinted(options.session, SESSION, SESSION_HINTS, "make a bot");
  checkOptions(options.session, SESSION, "make a bot", "session.");
  if (options.inviteLimit !== false) {
    checkOptions(
      options.inviteLimit,
      { count: true, total: true, window: true },
      "make a bot",
      "inviteLimit.",
    );
  }
  if (options.rateLimit !== false) {
    checkOptions(options.rateLimit, { count: true, window: true }, "make a bot", "rateLimit.");
  }
  const encrypts = "appservice" in options ||
    ("client" in options ? options.client.crypto !== undefined : Boolean(options.encryption));
  if (options.encryptedOnly === true && !encrypts) {
    throw new ValueError(
      "Cannot make a bot: it would hear nothing, since encryptedOnly needs encryption; give it that too, and a store " +
        "that lasts",
    );
  }
}

/** Says what a bot's homeserver can be in the bot's own words: its client has others. */
function checkHomeserver(options: BotOptions): void {
  const { homeserver, baseUrl, api, mxid } = options;
  if (homeserver === undefined && baseUrl === undefined && api === undefined && mxid === undefined) {
    throw new ValueError(
      'Cannot make a bot: it needs a homeserver; give it homeserver: "https://matrix.example.org"',
    );
  }
  homeserverAddress(options, "make a bot");
}

type ClientsOptions = Omit<BotOptions, keyof BotBehaviour | "password" | "store">;

/** The options that are those of the bot's client as they are. */
export function clientsOptions(options: BotOptions): ClientsOptions {
  const { password: _password, store: _store, ...rest } = options;
  const entries = Object.entries(rest).filter(([name]) => !(name in BEHAVIOUR));
  return Object.fromEntries(entries) as ClientsOptions;
}

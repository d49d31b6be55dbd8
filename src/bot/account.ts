/**
 * An account whose token and device are kept in the store:
 * the bot logs in once, or continues the session that a login by OAuth 2.0 has left there.
 *
 * Several processes may have the store. A process that needs tokens reads there whether another has
 * newer ones; one that has new ones writes them only in place of those that they come from.
 *
 * Over 300 lines because the three ways to an account end in the same session.
 *
 * @module
 */

import {
  Client,
  type EndedTokens,
  ForbiddenError,
  MemoryStore,
  type Store,
  type StoreEntry,
  type StoreKey,
  type Tokens,
  UnknownTokenError,
  ValueError,
} from "../../mod.ts";
import type { DeviceID, UserID } from "../../types.ts";
import type { OAuthSession } from "../oauth/mod.ts";
import {
  type BotHost,
  type BotOptions,
  type ClientBotOptions,
  clientsOptions,
  type HostedBotOptions,
} from "./bot_options.ts";
import { LazyStore, storeAt } from "./env.ts";

/** What a bot acts with, by its options. */
export interface BotClient {
  readonly client: Client;
  /** What starts and stops in the client's place; undefined: the client itself. */
  readonly host: BotHost | undefined;
  /** Logs in; undefined: there is a token. */
  readonly account?: Account;
  /** Where devices are remembered; undefined: nowhere that is known. */
  readonly store?: Store;
  /** What the bot has opened, and closes. */
  readonly ownStore?: LazyStore;
  readonly log: BotOptions["log"];
}

/**
 * How often a request is sent again that may be, if nothing else is said: for some five minutes. A homeserver
 * that is restarted or upgraded is away for longer than a client waits by default.
 */
const MAX_RETRIES = 15;

/**
 * Makes what a bot acts with.
 *
 * @throws {ValueError} If an option can't be used.
 */
export function clientOf(options: BotOptions | HostedBotOptions | ClientBotOptions): BotClient {
  if ("client" in options) return { client: options.client, host: undefined, log: options.client.log };
  if ("appservice" in options) {
    const { appservice: host } = options;
    return { client: host.botClient, host, log: host.botClient.log };
  }
  const { password, onTokensRefreshed, findTokens, retry, log } = options;
  const given = typeof options.store === "string" ? storeAt(options.store) : options.store;
  const store = given === undefined && password !== undefined ? new MemoryStore() : given;
  const account = store === undefined ? undefined : accountOf(options, store);
  const client: Client = new Client({
    ...clientsOptions(options),
    ...(store === undefined ? {} : { store }),
    retry: retry === false ? false : { maxRetries: MAX_RETRIES, ...retry },
    onTokensRefreshed: async (tokens, used) =>
      await account?.renewed?.(tokens, used) ?? await onTokensRefreshed?.(tokens, used),
    findTokens: async (ended) =>
      account === undefined ? await findTokens?.(ended) : await account.find(client, ended),
    revokeTokens: account?.revoke === undefined ? options.revokeTokens : () => account.revoke?.(),
  });
  const ownStore = store instanceof LazyStore ? store : undefined;
  return { client, host: undefined, account, store: given, ownStore, log };
}

function accountOf(
  { mxid, password, accessToken: token, store: given, api, findTokens, fetch, userAgent }: BotOptions,
  store: Store,
): Account | undefined {
  if (token !== undefined && token !== "") return undefined;
  if (password === undefined) {
    const isElsewhere = api !== undefined || findTokens !== undefined;
    return isElsewhere ? undefined : new StoredSession({ mxid, store, fetch, userAgent });
  }
  if (mxid === undefined) throw new ValueError("Cannot make a bot: a password needs mxid, whose it is");
  return new BotAccount({ mxid, password, store, isKept: given !== undefined, deviceName: "Greenroom bot" });
}

interface KeptAccount {
  /** The device; it is kept before the login, so that no crash leaves two. */
  readonly deviceId: DeviceID;
  /** The tokens; undefined: somebody logs in, or was about to, and the device is there or will be. */
  readonly tokens: Tokens | undefined;
  /** The device whose place this one takes, until it has logged in. */
  readonly replaces?: DeviceID;
}

/** What is kept, and which version of it. */
type Kept = StoreEntry & { readonly value: KeptAccount };

/** What of an account has to be known. */
interface AccountOptions {
  /** Whose it is. */
  readonly mxid: UserID;
  readonly password: string;
  /** Where tokens are kept. */
  readonly store: Store;
  /** Whether that is a store that was given; else it ends with the process. */
  readonly isKept: boolean;
  /** What the device is called. */
  readonly deviceName: string;
}

/** Logs in once, and goes on with that. */
export class BotAccount implements Account {
  readonly #options: AccountOptions;
  readonly #key: StoreKey;

  /** @param options What has to be known. */
  constructor(options: AccountOptions) {
    this.#options = options;
    this.#key = ["greenroom.bot", "account", options.mxid];
  }

  /** Has a client go on with the kept session, or log in. */
  async open(client: Client): Promise<void> {
    for (;;) {
      const kept = await this.#read();
      if (kept === undefined) {
        if (!this.#options.isKept) this.#warnOfNoStore(client);
        await this.#write({ deviceId: newDeviceId(), tokens: undefined }, null);
        continue; // with what was written, by this process or another
      }
      const { value: { deviceId, tokens, replaces }, versionstamp } = kept;
      if (tokens === undefined) {
        await this.#login(client, deviceId);
        if (replaces !== undefined) this.#warn(client, { replaces, deviceId });
        return;
      }
      client.deviceId = deviceId;
      client.api.setTokens(tokens);
      try {
        await client.whoami(); // with what `find` finds, if it comes to that
        return;
      } catch (error) {
        if (!(error instanceof UnknownTokenError)) throw error;
        const next = error.isSoftLogout ? { deviceId } : { deviceId: newDeviceId(), replaces: deviceId };
        await this.#write({ ...next, tokens: undefined }, versionstamp); // unless another has done something
      }
    }
  }

  /**
   * Keeps tokens that were renewed.
   *
   * @param tokens The new ones.
   * @param used Those that they come from.
   * @returns Others to go on with, if another process was faster.
   */
  async renewed(tokens: Tokens, used: Tokens): Promise<Tokens | undefined> {
    for (;;) {
      const kept = await this.#read();
      if (kept === undefined) return undefined;
      const { deviceId, tokens: others } = kept.value;
      if (others !== undefined && others.accessToken !== used.accessToken) return others;
      if (await this.#write({ deviceId, tokens }, kept.versionstamp)) return undefined;
    }
  }

  /**
   * Finds tokens in place of those that have come to their end: the kept ones, if another process has
   * renewed them; else, unless the server has deleted the device, those of a login with its ID.
   */
  async find(client: Client, { tokens, end }: EndedTokens): Promise<Tokens | undefined> {
    const kept = await this.#read();
    const { deviceId } = client;
    if (deviceId === undefined || kept?.value.deviceId !== deviceId) return undefined;
    const others = kept.value.tokens;
    if (others !== undefined && others.accessToken !== tokens.accessToken) return others;
    if (end === "expired" || (end === "logout" && others !== undefined)) return undefined;
    // A crash before the new tokens are kept must not make the next start take the old ones for a logout.
    if (others !== undefined && !await this.#write({ deviceId, tokens: undefined }, kept.versionstamp)) {
      return await this.find(client, { tokens, end });
    }
    try {
      const found = await this.#login(client, deviceId);
      client.log.info("The bot's session had expired: it has logged in again with the same device", {
        user: this.#options.mxid,
        device: deviceId,
      });
      return found;
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      client.log.warn("The bot's session has expired, and the server refuses to log it in again", {
        user: this.#options.mxid,
        error: error.message,
      });
      return undefined;
    }
  }

  async #login(client: Client, deviceId: DeviceID): Promise<Tokens> {
    const { mxid, password, deviceName } = this.#options;
    const { access_token, refresh_token, expires_in_ms } = await client.login({
      identifier: mxid,
      password,
      deviceId,
      deviceName,
      withRefreshToken: true,
    });
    const tokens = { accessToken: access_token, refreshToken: refresh_token, expiresIn: expires_in_ms };
    for (;;) {
      const kept = await this.#read();
      if (kept !== undefined && kept.value.deviceId !== deviceId) return tokens;
      // Also in place of another login's, which the server may have made void by this one.
      if (await this.#write({ deviceId, tokens }, kept?.versionstamp ?? null)) return tokens;
    }
  }

  #warn(client: Client, { replaces, deviceId }: { replaces: DeviceID; deviceId: DeviceID }): void {
    client.log.warn(
      "The bot's session was logged out elsewhere, which has deleted its device: it is a new device now; " +
        `what was said in between is not answered, and ${KEPT_BY_DEVICE}`,
      { user: this.#options.mxid, oldDevice: replaces, newDevice: deviceId },
    );
  }

  #warnOfNoStore(client: Client): void {
    client.log.warn(
      "The bot has a password and no store: each start logs in as a new device, and forgets everything; give it a " +
        "store (MATRIX_STORE), or a token",
      { user: this.#options.mxid },
    );
  }

  async #read(): Promise<Kept | undefined> {
    const [entry] = await this.#options.store.getMany([this.#key]);
    return entry as Kept | undefined;
  }

  /** Writes in place of a version, and says whether that was the latest one. */
  async #write(value: KeptAccount, versionstamp: string | null): Promise<boolean> {
    const { store } = this.#options;
    return await store.commit([{ type: "set", key: this.#key, value }], [{ key: this.#key, versionstamp }]);
  }
}

function newDeviceId(): DeviceID {
  return `BOT${crypto.randomUUID().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
}

/** How many devices of a user are remembered: several may take turns with one store. */
const MAX_DEVICES = 20;

/** What a bot that has a new device goes on without. */
const KEPT_BY_DEVICE =
  "conversations, reminders, sessions and all else that is kept by device stay with the old one";

/**
 * Remembers the device of a client. If it is new in a store that knows others of the same user, the
 * log says what that means, unless the device was made by who says so.
 */
export async function noteDevice(
  client: Client,
  store: Store,
  { warns }: { readonly warns: boolean },
): Promise<void> {
  const { mxid, deviceId } = client;
  if (mxid === "" || !deviceId) return; // the server could not be asked; the next start can
  const key: StoreKey = ["greenroom.bot", "devices", mxid];
  for (;;) {
    const [entry] = await store.getMany([key]);
    const known = (entry?.value as { devices: readonly DeviceID[] } | undefined)?.devices ?? [];
    if (known.includes(deviceId)) return;
    const value = { devices: [...known, deviceId].slice(-MAX_DEVICES) };
    const checks = [{ key, versionstamp: entry?.versionstamp ?? null }];
    if (!await store.commit([{ type: "set", key, value }], checks)) continue;
    const old = known.at(-1);
    if (!warns || old === undefined) return;
    client.log.warn(
      "The bot's token is that of another device than before, which begins anew: what was said before this " +
        `start is not answered, and ${KEPT_BY_DEVICE}`,
      { user: mxid, oldDevice: old, newDevice: deviceId },
    );
    return;
  }
}

/** Where a bot without a token of its own has one from. */
interface Account {
  /** Has a client act with it. */
  open(client: Client): Promise<void>;
  /** Finds tokens in place of those that have come to their end. */
  find(client: Client, ended: EndedTokens): Promise<Tokens | undefined>;
  /** Keeps tokens that the client has renewed; it may return others to go on with. */
  renewed?(tokens: Tokens, used: Tokens): Promise<Tokens | undefined>;
  /** Ends the session; undefined: there is none. */
  revoke?(): Promise<void> | undefined;
}

/** What of a stored session has to be known. */
interface StoredSessionOptions {
  /** Whose it is; undefined: that of the one that is there. */
  readonly mxid: UserID | undefined;
  /** Where it is. */
  readonly store: Store;
  /** What sends the requests. */
  readonly fetch: typeof fetch | undefined;
  /** The `User-Agent` of requests. */
  readonly userAgent: string | undefined;
}

/** Goes on with a session that is in the store. */
class StoredSession implements Account {
  readonly #options: StoredSessionOptions;
  #session: OAuthSession | undefined;

  /** @param options What has to be known. */
  constructor(options: StoredSessionOptions) {
    this.#options = options;
  }

  /**
   * Has a client go on with the session, unless it has a token by now.
   *
   * @throws {ValueError} If there is none.
   */
  async open(client: Client): Promise<void> {
    if (client.api.accessToken !== "") return;
    const { OAuthSession } = await import("../oauth/mod.ts");
    const { api: { clock, baseUrl }, log } = client;
    const session = await OAuthSession.resume({
      ...this.#options,
      ...(baseUrl !== "" && { baseUrl }),
      clock,
      log,
    });
    if (session === undefined) {
      throw new ValueError(
        "Cannot start the bot: it has neither accessToken (MATRIX_TOKEN) nor password (MATRIX_PASSWORD), and its store " +
          "has no session of a login by OAuth 2.0; log in once by greenroom login, or by loginByDeviceCode() of " +
          "@greenroom/matrix/oauth",
      );
    }
    const { mxid, deviceId, clientOptions: { accessToken, expiresIn } } = this.#session = session;
    client.deviceId = deviceId;
    client.api.setTokens({ accessToken, expiresIn });
    log.debug("The bot goes on with the session in its store", { user: mxid, device: deviceId });
  }

  /** Gets tokens in place of some that have come to their end. */
  async find(_client: Client, ended: EndedTokens): Promise<Tokens | undefined> {
    return await this.#session?.clientOptions.findTokens(ended);
  }

  /** Ends the session. */
  revoke(): Promise<void> | undefined {
    return this.#session?.logout();
  }
}

/**
 * A session by OAuth 2.0: what a client goes on with, how its tokens are refreshed, and how it ends.
 *
 * Over 300 lines because a third of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#token-refresh-flow | Token refresh flow}
 * @module
 */

import type { EndedTokens, Tokens } from "../api/http/mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { asksFor } from "../errors/hints.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { NetworkError } from "../errors/request_error.ts";
import type { Store } from "../store/base/mod.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import { type AccountManagementOptions, accountManagementUrl, lacking, readMetadata } from "./metadata.ts";
import { AuthorizationServer, isFinal, passing } from "./authorization_server.ts";
import {
  homeserver,
  type OAuthClientOptions,
  type OAuthServerOptions,
  SERVER,
  transportOf,
} from "./homeserver.ts";
import {
  givenTokens,
  KeptSession,
  lives,
  type NewSession,
  type SessionRecord,
  type Turn,
} from "./kept_session.ts";

/** Where a session is, and how servers are asked. */
export interface OAuthSessionOptions extends Omit<OAuthServerOptions, "signal"> {
  /** Where the session is kept. */
  store: Store;
}

const SESSION: OptionNames<OAuthSessionOptions & OAuthServerOptions> = { ...SERVER, store: true };

/** Keeps what a login has made, as the library alone may. */
export const BEGIN: unique symbol = Symbol("begin");
/**
 * A session that a login by OAuth 2.0 has made, kept in a store.
 *
 * A client with its {@linkcode OAuthSession.clientOptions} refreshes the tokens when they expire, and when
 * the homeserver does not know the access token any more. New tokens are in the store before they are used.
 * Of several processes with one store one refreshes, and the others take what has come of it.
 *
 * @example
 * ```ts
 * import { Client, MemoryStore } from "@greenroom/matrix";
 * import { OAuthSession } from "@greenroom/matrix/oauth";
 *
 * const store = new MemoryStore(); // or the one of the last run
 * const session = await OAuthSession.resume({ store });
 * if (session !== undefined) {
 *   await using client = new Client({ ...session.clientOptions, store, encryption: true });
 *   await client.start();
 * }
 * ```
 */
export class OAuthSession {
  readonly #kept: KeptSession;
  readonly #options: OAuthSessionOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  #record: SessionRecord;
  #server: AuthorizationServer | undefined;
  #renewing: Promise<Tokens | undefined> | undefined;
  /** What the server has given, and the store has not taken yet: the refresh token for it is used up. */
  #unsaved: { readonly turn: Turn; readonly tokens: Tokens } | undefined;

  private constructor(record: SessionRecord, options: OAuthSessionOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#log = loggerOf(options.log, this.#clock, "oauth");
    this.#kept = new KeptSession(options.store, this.#clock, record);
    [this.#record, this.#options] = [record, options];
  }

  /**
   * Finds the session that a login has kept.
   *
   * @param options The store, and whose session it is, which has to be said if it has several.
   * @returns The session; undefined if there is none.
   * @throws {ValueError} If there are several, and `mxid` is not given.
   * @example
   * ```ts
   * import { MemoryStore } from "@greenroom/matrix";
   * import { OAuthSession } from "@greenroom/matrix/oauth";
   *
   * const session = await OAuthSession.resume({ store: new MemoryStore(), mxid: "@bot:example.org" });
   * console.assert(session === undefined); // nobody has logged in
   * ```
   */
  static async resume(options: OAuthSessionOptions): Promise<OAuthSession | undefined> {
    checkOptions(options, SESSION, "resume the session");
    const { store, mxid } = options;
    const found = (await KeptSession.list(store)).filter((each) => mxid === undefined || each.mxid === mxid);
    if (found.length > 1) {
      const message = "Cannot resume the session: the store has several; say whose it is by mxid";
      throw asksFor(new ValueError(message), "whose session");
    }
    return found[0] && new OAuthSession(found[0], options);
  }

  /** @internal Keeps what a login has made. */
  static async [BEGIN](session: NewSession, options: OAuthSessionOptions): Promise<OAuthSession> {
    const kept = new KeptSession(options.store, options.clock ?? systemClock, session);
    const { record, replaced } = await kept.begin(session);
    // Else the device would go.
    const isOrphan = replaced !== undefined && replaced.deviceId !== record.deviceId;
    if (isOrphan) await new OAuthSession(replaced, options).#revokeReplaced();
    return new OAuthSession(record, options);
  }

  async #revokeReplaced(): Promise<void> {
    const server = await this.#authorizationServer().catch(() => undefined);
    const isRevoked = await server?.revokeAll(this.#record.tokens).then(() => true, () => false);
    if (isRevoked) return;
    this.#log.warn(
      "The session before the login can't be revoked: remove its device in the account's settings",
      {
        user: this.mxid,
        device: this.deviceId,
      },
    );
  }

  /** Whose session it is. */
  get mxid(): UserID {
    return this.#record.mxid;
  }

  /** The device that the tokens are for. */
  get deviceId(): DeviceID {
    return this.#record.deviceId;
  }

  /** Who has given the tokens: the issuer in the metadata of the authorization server. */
  get issuer(): string {
    return this.#record.issuer;
  }

  /** What a client or a bot takes, to act with this session; give it the same store. */
  get clientOptions(): OAuthClientOptions {
    const { mxid, deviceId, baseUrl } = this.#record;
    const { accessToken, expiresIn } = this.#given(this.#record);
    return {
      ...{ baseUrl: this.#options.baseUrl ?? baseUrl, mxid, deviceId, accessToken, expiresIn },
      findTokens: (ended) => this.#find(ended),
      revokeTokens: () => this.logout(),
    };
  }

  /**
   * Finds what a client goes on with: its token as it is, while that lives and the server can't be reached.
   */
  async #find({ tokens: { accessToken }, end }: EndedTokens): Promise<Tokens | undefined> {
    try {
      return await this.renew(accessToken);
    } catch (error) {
      const isAlive = end === "expired" && lives(this.#record, this.#clock.now());
      if (isAlive && error instanceof NetworkError) return undefined;
      throw error;
    }
  }

  /**
   * Gets tokens in place of some that have come to their end: those that another process has refreshed, or by
   * a refresh. Clients do that by themselves.
   *
   * @param used The access token that has come to its end.
   * @returns The tokens, without the refresh token, which stays in the store; undefined if the authorization
   *   server gives none any more: the session has ended, and somebody has to log in.
   * @throws {NetworkError} If the authorization server can't be reached, or its answer makes no sense.
   * @throws {StoreError} If the tokens can't be kept. The next call keeps them.
   * @example
   * ```ts
   * import type { OAuthSession } from "@greenroom/matrix/oauth";
   *
   * export async function newToken(session: OAuthSession, old: string): Promise<string | undefined> {
   *   return (await session.renew(old))?.accessToken;
   * }
   * ```
   */
  async renew(used: string): Promise<Tokens | undefined> {
    this.#renewing ??= this.#renew(used).finally(() => this.#renewing = undefined);
    return await this.#renewing;
  }

  async #renew(used: string): Promise<Tokens | undefined> {
    if (this.#unsaved !== undefined) return await this.#keep(this.#unsaved);
    const kept = await this.#kept.read();
    if (kept === undefined) return this.#ended("it is not in the store any more");
    if (kept.value.tokens.accessToken !== used) return this.#given(kept.value);
    if (kept.value.tokens.refreshToken === undefined) return this.#ended("it has no refresh token");
    const server = await this.#authorizationServer().catch((error) => Promise.reject(passing(error)));
    if (server === undefined) return this.#ended("the homeserver has another authorization server by now");
    const turn = await this.#kept.take(used);
    if (turn === undefined) return undefined;
    return "record" in turn ? await this.#refresh(server, turn) : this.#given(turn);
  }

  async #refresh(server: AuthorizationServer, turn: Turn): Promise<Tokens | undefined> {
    try {
      const { refreshToken = turn.refreshToken, ...tokens } = await server.refresh(turn.refreshToken);
      this.#unsaved = { turn, tokens: { ...tokens, refreshToken } };
    } catch (error) {
      this.#server = undefined; // it may have moved
      const record = await this.#kept.leave(turn).catch(() => undefined); // the turn ends by itself, too
      if (!isFinal(error)) throw passing(error);
      const isRenewed = record !== undefined &&
        record.tokens.accessToken !== turn.record.tokens.accessToken;
      return isRenewed ? this.#given(record) : this.#ended(error.message);
    }
    return await this.#keep(this.#unsaved);
  }

  async #keep(
    { turn, tokens }: { readonly turn: Turn; readonly tokens: Tokens },
  ): Promise<Tokens | undefined> {
    const record = await this.#kept.keep(turn, tokens);
    this.#unsaved = undefined;
    // The session was ended before.
    if (record === undefined) await this.#server?.revokeAll(tokens).catch(() => {});
    return record && this.#given(record);
  }

  /** The server that has given the tokens; undefined: the homeserver names another one. */
  async #authorizationServer(): Promise<AuthorizationServer | undefined> {
    if (this.#server !== undefined) return this.#server;
    const { baseUrl, issuer, clientId } = this.#record;
    const http = homeserver({ ...this.#options, baseUrl: this.#options.baseUrl ?? baseUrl });
    const { metadata } = await readMetadata(http);
    if (metadata.issuer !== issuer) return undefined;
    return this.#server = new AuthorizationServer(metadata, clientId, transportOf(this.#options));
  }

  #ended(state: string): undefined {
    this.#log.error(
      `The session can't be refreshed, so somebody has to log in again: ${state}`,
      { user: this.mxid, device: this.deviceId },
    );
  }

  #given(record: SessionRecord): Tokens {
    this.#record = record;
    return givenTokens(record, this.#clock.now());
  }

  /**
   * Ends the session: its tokens are revoked, which deletes the device, and it is taken out of the store. A
   * client's `logout()` does so.
   *
   * @throws {OAuthError} If the server refuses, or revokes no tokens: the session goes on then.
   * @throws {NetworkError} If it can't be reached.
   * @see {@link https://www.rfc-editor.org/rfc/rfc7009 | Token revocation}
   * @example
   * ```ts
   * import type { Store } from "@greenroom/matrix";
   * import { OAuthSession } from "@greenroom/matrix/oauth";
   *
   * export async function end(store: Store): Promise<void> {
   *   await (await OAuthSession.resume({ store }))?.logout();
   * }
   * ```
   */
  async logout(): Promise<void> {
    await this.#renewing?.catch(() => {}); // which its caller sees
    for (;;) {
      const kept = await this.#kept.settled();
      if (kept === undefined) return;
      const server = await this.#authorizationServer();
      if (server === undefined) {
        this.#log.warn("The tokens can't be revoked: the homeserver has another authorization server by now");
      } else {
        if (server.metadata.revocation_endpoint === undefined) {
          throw lacking("revocation_endpoint", "end the session in the account management");
        }
        await server.revokeAll(this.#unsaved?.tokens ?? kept.value.tokens);
      }
      if (await this.#kept.forget(kept)) return; // else another process has refreshed the tokens
    }
  }

  /**
   * Where the user manages the account, in a browser.
   *
   * @param options What to open it for.
   * @returns The address; undefined if the server has no such page, or does not support the action.
   * @throws {OAuthError} If the server's metadata can't be used.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#oauth-20-account-management | Account management}
   * @example
   * ```ts
   * import type { OAuthSession } from "@greenroom/matrix/oauth";
   *
   * export async function ownDevicePage(session: OAuthSession): Promise<string | undefined> {
   *   const { deviceId } = session;
   *   return await session.getAccountManagementUrl({ action: "org.matrix.device_view", deviceId });
   * }
   * ```
   */
  async getAccountManagementUrl(options: AccountManagementOptions = {}): Promise<string | undefined> {
    checkOptions(options, { action: true, deviceId: true }, "find the account management");
    const { metadata } = await this.#authorizationServer() ?? {};
    return metadata && accountManagementUrl(metadata, options);
  }
}

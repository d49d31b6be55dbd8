/**
 * A session that a login by OAuth 2.0 has left in the bot's store. A file of its own because a bot with a token or a
 * password has none.
 *
 * @module
 */

import { type Client, type EndedTokens, type Store, type Tokens, ValueError } from "../../mod.ts";
import type { UserID } from "../../types.ts";
import type { OAuthSession } from "../oauth/mod.ts";

/** Where a bot without a token of its own has one from. */
export interface Account {
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
export class StoredSession implements Account {
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

/**
 * An account whose token and device are kept in the store: the bot logs in once.
 *
 * @module
 */

import { type Client, type KvKey, type KvStore, type Tokens, UnknownTokenError } from "../../../mod.ts";
import type { DeviceID, UserID } from "../../../types.ts";

/** What is kept of an account. */
interface KeptAccount {
  /** The device; it is kept before the login, so that no crash leaves two. */
  readonly deviceId: DeviceID;
  /** The tokens; undefined: it has not logged in yet, or they are void. */
  readonly tokens: Tokens | undefined;
}

/** What of an account has to be known. */
export interface AccountOptions {
  /** Whose it is. */
  readonly mxid: UserID;
  /** The password. */
  readonly password: string;
  /** Where tokens are kept. */
  readonly store: KvStore;
  /** What the device is called. */
  readonly deviceName: string;
}

/** Logs in once, and goes on with that. */
export class BotAccount {
  readonly #options: AccountOptions;
  readonly #key: KvKey;

  /** @param options What has to be known. */
  constructor(options: AccountOptions) {
    this.#options = options;
    this.#key = ["greenroom.bot", "account", options.mxid];
  }

  /** Has a client go on with the kept session, or log in. */
  async open(client: Client): Promise<void> {
    const kept = await this.#read();
    if (kept?.tokens !== undefined) {
      client.deviceId = kept.deviceId;
      client.api.setTokens(kept.tokens);
      try {
        await client.whoami();
        return;
      } catch (error) {
        if (!(error instanceof UnknownTokenError)) throw error;
        if (!error.softLogout) await this.#forget(); // the server has deleted the device
      }
    }
    await this.#login(client, (await this.#read())?.deviceId);
  }

  /** Keeps tokens that were renewed. */
  async renewed(tokens: Tokens): Promise<void> {
    const kept = await this.#read();
    if (kept !== undefined) await this.#write({ ...kept, tokens });
  }

  async #login(client: Client, known: DeviceID | undefined): Promise<void> {
    const { mxid, password, deviceName } = this.#options;
    const deviceId = known ?? `BOT${crypto.randomUUID().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
    await this.#write({ deviceId, tokens: undefined });
    const { access_token, refresh_token, expires_in_ms } = await client.login({
      identifier: mxid,
      password,
      deviceId,
      deviceName,
      refreshToken: true,
    });
    const tokens = { accessToken: access_token, refreshToken: refresh_token, expiresInMs: expires_in_ms };
    await this.#write({ deviceId, tokens });
  }

  async #read(): Promise<KeptAccount | undefined> {
    const [entry] = await this.#options.store.getMany([this.#key]);
    return entry?.value as KeptAccount | undefined;
  }

  async #write(value: KeptAccount): Promise<void> {
    await this.#options.store.commit([{ type: "set", key: this.#key, value }]);
  }

  async #forget(): Promise<void> {
    await this.#options.store.commit([{ type: "delete", key: this.#key }]);
  }
}

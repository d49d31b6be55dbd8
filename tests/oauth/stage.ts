/**
 * A homeserver with an authorization server, a store, and logins of a bot.
 *
 * @module
 */

import { Client, type Clock, MemoryStore, type Store } from "@greenroom/matrix";
import { loginByDeviceCode, OAuthSession } from "@greenroom/matrix/oauth";
import { type AuthorizationServerOptions, Homeserver, TestClock } from "@greenroom/matrix/testing";

/** How long an access token lives, in milliseconds. */
export const LIFETIME = 300_000;

/** A request to the authorization server. */
export interface Asked {
  readonly path: string;
  readonly form: URLSearchParams;
}

/** What a test sees of one homeserver and the processes that log in there. */
export class Stage implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly homeserver: Homeserver;
  readonly store = new MemoryStore();
  /** What was asked of the authorization server. */
  readonly asked: Asked[] = [];
  readonly log: string[] = [];
  /** Answers in place of the servers; undefined: they answer. */
  answer: (url: URL, init?: RequestInit) => Response | undefined | Promise<Response | undefined> = () =>
    undefined;

  constructor(oauth: boolean | AuthorizationServerOptions = true) {
    const { clock } = this;
    this.homeserver = new Homeserver({ clock, oauth, accessTokenLifetime: LIFETIME });
    this.homeserver.createUser("bot");
  }

  /** Sends a request as a process does. */
  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    if (url.pathname.startsWith("/oauth2/")) {
      this.asked.push({ path: url.pathname, form: new URLSearchParams(String(init?.body)) });
    }
    return await this.answer(url, init) ?? await this.homeserver.fetch(input, init);
  };

  /** How often tokens were refreshed. */
  get refreshes(): number {
    return this.asked.filter(({ form }) => form.get("grant_type") === "refresh_token").length;
  }

  /** What all calls take. */
  get options() {
    const { fetch, clock, store, homeserver: { baseUrl } } = this;
    const note = (message: string, fields?: object) =>
      void this.log.push(`${message} ${JSON.stringify(fields ?? {})}`);
    const log = { debug() {}, info() {}, warn: note, error: note };
    return { baseUrl, fetch, clock, store: store as Store, log, clientUri: "https://bot.example/" };
  }

  /** Logs the bot in. */
  async login({ deviceId }: { deviceId?: string } = {}): Promise<OAuthSession> {
    const { homeserver: { oauth } } = this;
    const login = loginByDeviceCode({
      ...this.options,
      deviceId,
      onUserCode: ({ user_code }) => void oauth.approve(user_code, "@bot:localhost"),
    });
    return await this.until(login, 5_000);
  }

  /** The session as another process has it. */
  async resume(
    { store = this.store, clock = this.clock }: { store?: Store; clock?: Clock } = {},
  ): Promise<OAuthSession> {
    const { clientUri: _clientUri, ...options } = this.options;
    const session = await OAuthSession.resume({ ...options, store, clock });
    if (session === undefined) throw new Error("There is no session in the store");
    return session;
  }

  /** A client of a session. */
  client({ clientOptions }: OAuthSession): Client {
    const { fetch, clock, log } = this.options;
    return new Client({ ...clientOptions, fetch, clock, log });
  }

  /** Moves the clock until something has settled. */
  async until<Result>(work: Promise<Result>, step = 1_000): Promise<Result> {
    let isSettled = false;
    const settled = () => void (isSettled = true);
    work.then(settled, settled);
    for (let ticks = 0; !isSettled && ticks < 10_000; ticks++) {
      await turns();
      if (!isSettled) await this.clock.tick(step);
    }
    return await work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.homeserver.close();
  }
}

/** Lets all go on that waits for no time. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

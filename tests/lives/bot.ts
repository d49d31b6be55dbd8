/**
 * A bot as its author would write it, with what outlives its processes: the account, the token, the
 * store.
 *
 * It joins where it is invited, answers each text with a count and the text, leaves when told to,
 * and welcomes who comes.
 *
 * @module
 */

import {
  type Client,
  type ClientOptions,
  type Clock,
  defineSession,
  type Logger,
  MemoryStore,
  type StartOptions,
  type Store,
} from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { systemClock } from "../../src/base/clock.ts";
import { NO_FAULT, TestProcess } from "../client/support/crash.ts";
import { Network } from "./network.ts";
import { teachKit } from "./kit_functions.ts";
import { Noticeboard } from "./noticeboard.ts";
import { type BotAccount, type Kind, type Running, running } from "./transports/transport.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { PATIENCE_MS } from "../e2e/support/deadline.ts";

const session = defineSession({ name: "counter", per: "room", initial: () => ({ heard: 0 }) });

/** How soon a process that was killed may be followed by another, in milliseconds. */
const LEASE = 1_000;

/** What a {@link Bot} is made of. */
export interface BotOptions {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly account: BotAccount;
  readonly encrypted: boolean;
  /** What it is made with. Default: the client alone. */
  readonly kind?: Kind;
  readonly store?: Store;
  /** More of its client. */
  readonly client?: Partial<ClientOptions>;
  /** Has more happen, where it may not be told of something before that. Default: that can't be. */
  readonly goOn?: () => Promise<unknown>;
}

/** A bot. */
export class Bot {
  readonly userId: UserID;
  readonly account: BotAccount;
  readonly network: Network;
  /** What it keeps; a story may take it away. */
  store: Store;
  /** Its access token; a story may change it. */
  token: string;
  /** More of its client; a story may change it. */
  options: Partial<ClientOptions>;
  /** What its handlers were called with, in order: the texts, and what happened to members. */
  readonly handled: string[] = [];
  /** The internal events that report a problem. */
  readonly told: string[] = [];
  /** What it logged, from warnings on. */
  readonly printed: string[] = [];
  /**
   * Why its client of the present process has ended; undefined while it has not, or if it was
   * stopped.
   */
  failure: unknown;
  #current: Running | undefined;
  #process = new TestProcess(NO_FAULT);
  #death = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #hasSynced = false;
  readonly #encrypted: boolean;
  readonly #kind: Kind;
  readonly #baseUrl: string;
  readonly #board = new Noticeboard();
  readonly #goOn?: () => Promise<unknown>;

  /** @param options What it is made of. */
  constructor(
    { baseUrl, fetch, account, encrypted, kind = "client", store = new MemoryStore(), client = {}, goOn }:
      BotOptions,
  ) {
    this.#goOn = goOn;
    this.#kind = kind;
    this.#baseUrl = baseUrl;
    this.network = new Network(fetch);
    this.account = account;
    this.userId = account.userId;
    this.token = account.accessToken;
    this.#encrypted = encrypted;
    this.store = store;
    this.options = client;
  }

  /** A new process: makes the client, with its handlers, and does no more. */
  wake(): Pick<Running, "syncOnce"> {
    return this.#awake();
  }

  #awake(): Running {
    const process = this.#process = new TestProcess(NO_FAULT);
    const death = this.#death = new AbortController();
    this.failure = undefined;
    const current = running({
      account: this.account,
      kind: this.#kind,
      options: {
        accessToken: this.token,
        encryption: this.#encrypted && EVERYBODY,
        lease: { duration: LEASE },
        closeTimeout: PATIENCE_MS, // a busy machine is to leave nothing behind
        log: this.#logger(),
        ...this.options,
        baseUrl: this.#baseUrl,
        clock: mortal(this.options.clock ?? systemClock, death.signal),
        store: process.store(this.store),
        fetch: process.fetch(this.network.fetch),
      },
      hasSynced: this.#hasSynced,
      isReached: () => this.network.weather === "fair",
      death: death.signal,
    });
    this.#current = current;
    this.#watch(current.client);
    if (current.kit === undefined) this.#teach(current.client);
    else teachKit(current.kit, (what) => this.#note(this.handled, what));
    current.client.done.catch(() => {}); // told by `failure`
    return current;
  }

  /**
   * A new process that syncs; returns when the very first response has come, when it goes on where
   * the last was, or has ended.
   */
  async start(options: StartOptions = {}): Promise<void> {
    const current = this.#awake();
    const first = Promise.withResolvers<void>();
    this.#hasSynced = true;
    this.#ended = current.run(first.resolve, options).catch((failure) => {
      this.failure = failure;
      this.#board.changed();
    });
    await Promise.race([first.promise, this.#ended]);
  }

  /** Ends the process in good order. */
  async stop(): Promise<void> {
    await this.#current?.end();
    await this.#ended;
    this.#current = undefined;
  }

  /**
   * Ends the process as `kill -9` does: from now on it reaches neither the store nor the server.
   */
  async kill(): Promise<void> {
    this.#process.kill();
    this.#death.abort();
    await this.stop();
  }

  /** Waits until a condition on what it handled, received or logged holds. */
  async until(what: string, holds: (bot: Bot) => boolean): Promise<void> {
    await this.#board.until(what, () => holds(this), this.#goOn).catch((cause) => {
      const { handled, told, printed } = this;
      throw new Error(`The bot has not come so far: ${JSON.stringify({ handled, told, printed })}`, {
        cause,
      });
    });
  }

  /** Tells the homeserver that it is reached again, as what watches over it would. */
  async isBack(): Promise<void> {
    await this.#current?.isBack?.();
  }

  /** Waits until its client has ended by itself. */
  async ended(): Promise<unknown> {
    await this.until("the bot is to end", () => this.failure !== undefined);
    return this.failure;
  }

  #teach(client: Client): void {
    client.on("INVITE", async ({ room_id }) => {
      this.#note(this.handled, "invited");
      await client.joinRoom(room_id);
    });
    client.on("JOIN", ({ state_key }) => {
      if (state_key !== client.mxid) this.#note(this.handled, `welcome ${state_key}`);
    });
    client.on("m.room.message", async ({ sender, room_id, content }, ctx) => {
      if (sender === client.mxid || content.msgtype !== "m.text") return;
      const { body } = content;
      this.#note(this.handled, body);
      ctx.session.heard++;
      if (body === "!leave") return void await client.leaveRoom(room_id);
      if (body === "!throw") throw new Error("The bot's author has made a mistake");
      await client.sendNotice(room_id, `${ctx.session.heard}: ${body}`);
    }, { session, sequential: true });
  }

  #watch(client: Client): void {
    client.on("KICK", ({ state_key }) => this.#note(this.handled, `thrown out ${state_key}`));
    for (
      const type of [
        "UNDECRYPTABLE",
        "GAP",
        "HANDLER_ERROR",
        "MALFORMED",
        "EVENT_QUARANTINED",
        "DEVICE_ALARM",
      ]
    ) {
      client.on(type, () => this.#note(this.told, type));
    }
  }

  #note(list: string[], what: string): void {
    list.push(what);
    this.#board.changed();
  }

  #logger(): Logger {
    const print = (message: string, data?: Record<string, unknown>) => {
      this.#note(this.printed, `${message} ${JSON.stringify(data ?? {})}`);
    };
    return { debug() {}, info() {}, warn: print, error: print };
  }
}

/** A clock for a process: no wait outlives it. */
function mortal(clock: Clock, death: AbortSignal): Clock {
  return {
    now: () => clock.now(),
    delay(ms, { signal, ...options } = {}) {
      return clock.delay(ms, { ...options, signal: signal ? AbortSignal.any([signal, death]) : death });
    },
  };
}

/**
 * From a bot's login to its end: when it listens, when it may speak, and when its timers fire.
 *
 * @module
 */

import {
  type Client,
  type Clock,
  consoleLogger,
  type Logger,
  MatrixRequestError,
  type SyncOnceOptions,
  type SyncPass,
} from "../../mod.ts";
import { untilSignal } from "../base/until_signal.ts";
import type { BotStartOptions } from "./bot_options.ts";
import type { Kit } from "./kit.ts";
import { isCutOff } from "./run/mod.ts";
import { BotAccount, type BotClient, noteDevice } from "./account.ts";
import { isPassing, within } from "./timers/timers.ts";
import type { Updates } from "./updates.ts";

/** How long timers wait for what came while the bot was away, in milliseconds. */
const PATIENCE = 60_000;

/** Logs a bot in, starts it, and has its timers fire. */
export class BotLife {
  readonly #kit: Kit;
  readonly #updates: Updates;
  readonly #made: BotClient;
  readonly #announce: ReturnType<typeof announcer>;
  /** Resolves when it has asked what is new, or a start has ended before. */
  readonly #synced = Promise.withResolvers<void>();
  #opened: Promise<void> | undefined;
  #stopping = new AbortController();
  /** How many calls of `start()` go on: timers fire in them. */
  #starts = 0;

  /**
   * @param kit Of the bot.
   * @param updates Listens.
   * @param made What the bot acts with.
   */
  constructor(kit: Kit, updates: Updates, made: BotClient) {
    const { client } = kit;
    this.#kit = kit;
    this.#updates = updates;
    this.#made = made;
    this.#announce = announcer(made.log, client.api.clock);
    const synced = async (): Promise<void> => { // before the first event comes
      client.removeEventHandler("SYNC_SUCCESSFUL", synced);
      await kit.conversations.restore();
      this.#synced.resolve();
    };
    client.addEventHandler("SYNC_SUCCESSFUL", synced, { waitSync: true });
  }

  get #isStarted(): boolean {
    return this.#starts > 0;
  }

  /** Logs in the first time, and begins to listen. */
  async open(): Promise<void> {
    this.#updates.listen();
    const opening = this.#opened ??= this.#openAccount();
    try {
      await opening;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async #openAccount(): Promise<void> {
    const { account, store } = this.#made;
    // If it can't be opened, the client is not used yet, and the next start tries again.
    await store?.getMany([]);
    await account?.open(this.#kit.client);
  }

  /** Waits until the bot may speak. */
  async started(): Promise<void> {
    await this.#openWhenBack(this.#kit.signal);
    if (this.#isStarted) await this.#synced.promise;
  }

  /** Starts the bot, until it ends or is closed: see {@linkcode Bot.start}. */
  async start({ signals = true, signal }: BotStartOptions, close: () => Promise<void>): Promise<void> {
    const { log } = this.#kit.client;
    await untilSignal(() => this.#start(signal), { signals, close, log });
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const { signal: ending } = this.#kit;
    const ends = [this.#stopping.signal, ending, ...(signal === undefined ? [] : [signal])];
    const ended = AbortSignal.any(ends);
    const wasClosed = ending.aborted; // then the client says so
    this.#starts++;
    try {
      if (!wasClosed) await this.#openWhenBack(ended);
      if (wasClosed || !ended.aborted) await this.#run(signal);
    } finally {
      this.#starts--;
      this.#synced.resolve();
    }
  }

  /** Ends starts that have not come to the client yet. */
  stop(): void {
    this.#stopping.abort();
    this.#stopping = new AbortController();
  }

  /** Makes one sync, and has timers fire: see {@linkcode Bot.syncOnce}. */
  async pass(options: SyncOnceOptions): Promise<SyncPass> {
    await this.open();
    const { client, timers } = this.#kit;
    const { clock } = client.api;
    const begun = clock.now();
    const pass = await client.syncOnce({ ignoreInitialSync: true, ...options });
    if (pass.left === "device") return pass; // whose timers are those of who has it
    const { passTimeout: deadline } = options;
    if (deadline === undefined) {
      await timers.fire();
      return pass;
    }
    const isDone = await within(clock, deadline - (clock.now() - begun), timers.fire());
    return isDone ? pass : { ...pass, left: pass.left ?? "handlers" };
  }

  /** Answers requests, and has timers fire with those that bring news: see {@linkcode Bot.fetch}. */
  fetch(fetch: Client["fetch"]): Client["fetch"] {
    return async (request) => {
      await this.open();
      const { client, timers } = this.#kit;
      const { method } = request;
      const response = await fetch(request);
      const isNews = response.ok && method !== "GET" && method !== "HEAD"; // a wake, or a transaction
      if (isNews && !this.#isStarted) {
        await timers.fire().catch((error) => client.log.warn("Timers wait", { error }));
      }
      return response;
    };
  }

  async #run(signal: AbortSignal | undefined): Promise<void> {
    const { client, host } = this.#made;
    const stopped = new AbortController();
    const both = signal === undefined ? stopped.signal : AbortSignal.any([signal, stopped.signal]);
    const timing = this.#fire(both);
    try {
      if (host === undefined) await client.start({ ignoreInitialSync: true, signal });
      else await host.start({ signal });
      this.#announce("The bot has ended", { user: client.mxid });
    } finally {
      stopped.abort();
      await timing;
    }
  }

  /** Has timers fire while the client syncs. */
  async #fire(signal: AbortSignal): Promise<void> {
    const { client, timers, signal: ending } = this.#kit;
    const ended = new AbortController();
    // Another process may have the device for a while: patience begins when this one asks what is new.
    const asks = Promise.withResolvers<void>();
    const asked = () => asks.resolve();
    const failed = () => void timers.opened().then(asked, () => {}); // it may fail before it has the device
    client.addEventHandler("SYNC_SUCCESSFUL", asked);
    client.addEventHandler("SYNC_ERRORED", failed);
    signal.addEventListener("abort", asked, { once: true });
    await asks.promise;
    client.removeEventHandler("SYNC_SUCCESSFUL", asked);
    client.removeEventHandler("SYNC_ERRORED", failed);
    // What was said in time is heard before the time for it is over; but a handler may hang.
    const late = client.api.clock.delay(PATIENCE, { signal: AbortSignal.any([signal, ended.signal]) });
    await Promise.race([client.ready, late]).catch(() => {});
    ended.abort();
    await late.catch(() => {});
    if (signal.aborted) return;
    const { store, account } = this.#made;
    if (store !== undefined) {
      const warns = !(account instanceof BotAccount); // which says so itself
      await noteDevice(client, store, { warns }).catch((error) =>
        client.log.debug("Could not store the device", { error })
      );
    }
    this.#announce("The bot has started, and runs until Ctrl-C or bot.stop()", { user: client.mxid });
    try {
      await Promise.race([timers.run(signal), aborted(ending)]);
    } catch (error) {
      if (!isCutOff(error) && !signal.aborted) client.log.error("Timers do not fire any more", { error });
    }
  }

  /** Logs in though the homeserver is away for a while, as a client syncs then. */
  async #openWhenBack(signal: AbortSignal): Promise<void> {
    const { client } = this.#kit;
    for (let wait = FIRST; !signal.aborted; wait = Math.min(2 * wait, LONGEST)) {
      try {
        return await this.open();
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) throw error;
        const asked = error instanceof MatrixRequestError ? error.retryAfter : undefined;
        const delay = Math.max(wait, asked ?? 0);
        client.log.warn("The bot can't log in yet, and tries again", { error, delay });
        await client.api.clock.delay(delay, { signal }).catch(() => {});
      }
    }
  }
}

/** How long to wait for a homeserver that is away at first, and at most, in milliseconds. */
const FIRST = 5_000;
const LONGEST = 300_000;

/** Resolves when a signal is aborted: a timer that has not ended by then may never end. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Makes what says something.
 *
 * @param log The application's logger; undefined: the console; `false`: nobody.
 * @param clock Says when.
 */
export function announcer(
  log: Logger | false | undefined,
  clock: Clock,
): (message: string, data: Readonly<Record<string, string>>) => void {
  if (log === false) return () => {};
  const logger = log ?? consoleLogger({ clock });
  return (message, data) =>
    logger.info(message, Object.fromEntries(Object.entries(data).filter(([, value]) => value !== "")));
}

/**
 * The clients that act as users of an application service: made when they act, and only so many at
 * a time.
 *
 * @module
 */

import { Client, type ClientOptions, FEED, STATE_STORE } from "../client/mod.ts";
import { HTTPAPI, type HTTPAPIOptions, PREPARE, SKEW } from "../api/http/mod.ts";
import { currentHandler } from "../base/handler_call.ts";
import type { Logger } from "../base/log.ts";
import { UnknownDeviceError, UnknownTokenError } from "../errors/account_errcodes.ts";
import { MatrixError } from "../errors/matrix_error.ts";
import { StoreError } from "../errors/store_error.ts";
import { RecentMap } from "../base/recent_map.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import { DeviceFeed, deviceQueue } from "./device_queue.ts";
import type { SyncFeed } from "../actors/syncer/syncer.ts";
import { ghostEncryption, type Ghosts } from "./ghosts.ts";
import type { TokenWatch } from "./service_kit.ts";

/** What acting clients are made of. */
interface ActingClientsOptions
  extends Pick<ClientOptions, "store" | "lease" | "closeTimeout" | "encryption"> {
  /** The transport of all. */
  readonly transport: HTTPAPIOptions;
  /** The client of the own user. */
  readonly bot: Client;
  /** The device that each user has; undefined: none. */
  readonly deviceId: DeviceID | undefined;
  /** Registers users. */
  readonly ghosts: Pick<Ghosts, "prepare" | "forget">;
  /** Looks whether the token is dead, which a user who acts in a handler waits for. */
  readonly token: Pick<TokenWatch, "check">;
  /** How many there are at a time. */
  readonly limit: number;
  /** Logs what could not be read. */
  readonly log: Logger;
}

/** A client that acts. */
interface Acting {
  readonly client: Client;
  /** How many of its operations have not ended. */
  busy: number;
  /** How its store has failed last, if no operation has succeeded since. */
  storeError?: StoreError;
}

/** How many users may wait until what they were sent is read. */
const MAX_TO_READ = 10_000;
/** How long that may take, in milliseconds. */
const READING = 20_000;

/** Clients that act as users. */
export class ActingClients {
  readonly #options: ActingClientsOptions;
  readonly #feed: Pick<SyncFeed, "fails">;
  readonly #clients = new RecentMap<UserID, Acting>();
  /** Those that have to go, and are still at work. */
  readonly #leaving = new Map<UserID, Acting>();
  /** Those whose device is gone: nobody acts with them any more, but they are still at work. */
  readonly #lostClients = new Set<Acting>();
  /** Clients that are being closed: another of the same user waits for its device. */
  readonly #closing = new Set<Promise<void>>();
  /** Whose devices were sent something. */
  readonly #toRead = new Set<UserID>();
  #reading: Promise<void> | undefined;
  readonly #ending = new AbortController();

  /**
   * @param options What they are made of.
   * @param feed Receives why the store has failed for a user who acts in a handler.
   */
  constructor(options: ActingClientsOptions, feed: Pick<SyncFeed, "fails">) {
    this.#options = options;
    this.#feed = feed;
  }

  /**
   * Has the client of a user do something.
   *
   * @param call What; the client is kept until what it returns has settled.
   * @returns What it returned.
   */
  run<Result>(userId: UserID, call: (client: Client) => Result): Result {
    const { bot, deviceId } = this.#options;
    if (userId === bot.mxid) return call(bot);
    // What it was sent while nobody read, and the transactions did not tell of.
    if (deviceId !== undefined && this.#clients.get(userId) === undefined) this.read(userId);
    return this.#run(userId, call);
  }

  #run<Result>(userId: UserID, call: (client: Client) => Result): Result {
    const acting = this.#of(userId);
    const result = call(acting.client);
    if (result instanceof Promise) {
      acting.busy++;
      const isHandling = currentHandler() !== undefined;
      const ended = (): void => this.#ended(userId, acting);
      const succeeded = (): void => {
        acting.storeError = undefined;
        ended();
      };
      result.then(succeeded, (error) => {
        if (isDeviceLost(error)) this.#lost(userId, acting);
        const storeError = causeOf(error, StoreError);
        acting.storeError = storeError ?? acting.storeError;
        // The store may have failed under something else, which ended this one.
        const cause = storeError ??
          (isStopped(error) ? acting.storeError ?? stopped(userId, error) : undefined);
        if (isHandling && cause !== undefined) this.#feed.fails?.(cause); // before the handler fails by it
        ended();
      });
      if (isHandling) return result.catch((error) => this.#refused(error)) as Result;
    }
    return result;
  }

  /** Tells whether the token is dead before the handler fails by that. */
  async #refused(error: unknown): Promise<never> {
    if (causeOf(error, UnknownTokenError) !== undefined) await this.#options.token.check();
    throw error;
  }

  /**
   * Reads what was sent to the device of a user, soon. If that fails, the homeserver keeps it until
   * the next time.
   */
  read(userId: UserID): void {
    if (this.#toRead.has(userId) || this.#toRead.size >= MAX_TO_READ) return;
    this.#toRead.add(userId);
    this.#reading ??= this.#readAll().finally(() => this.#reading = undefined);
  }

  /** Resolves when what has been to be read has been read, or could not be. */
  get idle(): Promise<void> {
    return this.#reading ?? Promise.resolve();
  }

  /** Closes all. */
  async close(): Promise<void> {
    this.#toRead.clear();
    this.#ending.abort();
    await this.#reading;
    for (const { client } of [...this.#leaving.values(), ...this.#lostClients]) this.#close(client);
    this.#leaving.clear();
    this.#lostClients.clear();
    for (let oldest; (oldest = this.#clients.removeOldest()) !== undefined;) this.#close(oldest.client);
    await Promise.all(this.#closing);
  }

  async #readAll(): Promise<void> {
    const { signal } = this.#ending;
    for (const userId of this.#toRead) {
      this.#toRead.delete(userId); // what is sent from now on is read once more
      try {
        await this.#run(userId, (client) => client.syncOnce({ passTimeout: READING, signal }));
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.warn("What was sent to a user's device could not be read, and is kept", {
          userId,
          error: String(error),
        });
      }
    }
  }

  #of(userId: UserID): Acting {
    const known = this.#clients.get(userId);
    if (known !== undefined) return known;
    const acting = this.#leaving.get(userId) ?? { client: this.#make(userId), busy: 0 };
    this.#leaving.delete(userId);
    this.#clients.set(userId, acting);
    while (this.#clients.size > this.#options.limit) {
      const oldest = this.#clients.removeOldest();
      if (oldest === undefined) break;
      if (oldest.busy > 0) this.#leaving.set(oldest.client.mxid as UserID, oldest); // it was made with one
      else this.#close(oldest.client);
    }
    return acting;
  }

  #ended(userId: UserID, acting: Acting): void {
    acting.busy--;
    if (acting.busy > 0) return;
    const isLeaving = this.#leaving.get(userId) === acting && this.#leaving.delete(userId);
    if (isLeaving || this.#lostClients.delete(acting)) this.#close(acting.client);
  }

  /** Lets a client go whose device is gone: the next one makes a device, and uploads its keys again. */
  #lost(userId: UserID, acting: Acting): void {
    const isKept = this.#clients.get(userId) === acting;
    if (!isKept && this.#leaving.get(userId) !== acting) return;
    this.#options.ghosts.forget(userId);
    if (isKept) this.#clients.remove(userId);
    else this.#leaving.delete(userId);
    this.#lostClients.add(acting);
  }

  #make(userId: UserID): Client {
    const { transport, bot: { stateStore }, deviceId, ghosts, store, encryption } = this.#options;
    const { lease, closeTimeout } = this.#options;
    const http = { ...transport, asUserId: userId, asDeviceId: deviceId, [PREPARE]: ghosts.prepare(userId) };
    const api = new HTTPAPI(http);
    api[SKEW] = 0; // of a wrong clock the own user's client tells
    const { log } = transport;
    const common = { api, mxid: userId, deviceId: deviceId ?? "", [STATE_STORE]: stateStore, log };
    if (deviceId === undefined) return new Client(common);
    const feed = new DeviceFeed(deviceQueue(api));
    const client = new Client({
      ...common,
      store,
      ...{ lease, closeTimeout },
      encryption: ghostEncryption(encryption, userId),
      [FEED]: feed,
    });
    void client.fetch; // it does not sync, and keeps its device no longer than it takes to send
    return client;
  }

  /** Without encryption there is nothing to close. */
  #close(client: Client): void {
    if (client.crypto === undefined) return;
    const closed = client.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

/** Returns whether a request has failed since the homeserver has deleted the device that it was made with. */
export function isDeviceLost(error: unknown): boolean {
  return causeOf(error, UnknownDeviceError) !== undefined;
}

/** Returns whether something was asked of a client that has ended. */
function isStopped(error: unknown): boolean {
  if (error instanceof MatrixError && error.code === "ACTOR_STOPPED") return true;
  return error instanceof Error && isStopped(error.cause);
}

/** Why what a user did has ended, if it is not known: while it is at work, nothing but its store ends a client. */
function stopped(userId: UserID, cause: unknown): StoreError {
  return new StoreError(`Cannot go on: the client of ${userId} has ended under what it did`, { cause });
}

/** The error of a class that an error comes from, if it comes from one. */
function causeOf<Kind extends Error>(
  error: unknown,
  kind: abstract new (...args: never[]) => Kind,
): Kind | undefined {
  if (error instanceof kind) return error;
  return error instanceof Error ? causeOf(error.cause, kind) : undefined;
}

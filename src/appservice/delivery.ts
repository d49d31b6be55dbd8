/**
 * Delivers what the homeserver has sent: while the application service is started, or in passes.
 *
 * @module
 */

import type { StartOptions, SyncPass } from "../actors/syncer/syncer.ts";
import { type ActingClients, isDeviceLost } from "./acting_clients.ts";
import type { ServiceKit } from "./service_kit.ts";
import type { TransactionFeed } from "./transaction_feed.ts";

/** Delivers what the homeserver has sent. */
export class Delivery {
  readonly #kit: ServiceKit;
  readonly #feed: TransactionFeed;
  readonly #clients: ActingClients;
  /** Whether the last start has ended by a failure, as of a process whose store is not the one it was. */
  #hasFailed = false;
  /** How many calls of `start()` have not ended. */
  #starts = 0;

  /**
   * @param kit Of the application service.
   * @param feed Has what is to be delivered.
   * @param clients Read what was sent to other users.
   */
  constructor(kit: ServiceKit, feed: TransactionFeed, clients: ActingClients) {
    [this.#kit, this.#feed, this.#clients] = [kit, feed, clients];
  }

  /** Whether this process has failed, and what it is sent is better kept for another. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Does work during which starts deliver, so that transactions need not be handled one by one. */
  async during(work: () => Promise<void>): Promise<void> {
    this.#starts++;
    try {
      await work();
    } finally {
      this.#starts--;
    }
  }

  /** Delivers until it is stopped. */
  async run(options: StartOptions): Promise<void> {
    this.#hasFailed = false;
    try {
      await this.#kit.bot.start(options);
    } catch (error) {
      this.#hasFailed = options.signal?.aborted !== true;
      throw error;
    }
  }

  /** Handles a transaction that is durable, if no start does. */
  async arrived(): Promise<void> {
    if (this.#starts > 0) return;
    try {
      await this.pending();
    } catch (error) {
      this.#kit.log.warn("A transaction is kept, and could not be handled yet", { error: String(error) });
    }
  }

  /**
   * Handles what is left, as far as there is time.
   *
   * @returns Whether nothing is left.
   */
  async pending(): Promise<boolean> {
    const { clock, transactionTimeout } = this.#kit;
    const end = clock.now() + transactionTimeout;
    for (let left = transactionTimeout; left > 0; left = end - clock.now()) {
      const pass = await this.#pass(left);
      if (pass.left !== undefined) return false;
      if (this.#feed.isDrained) {
        await this.#feed.removeHandled();
        await this.#clients.idle;
        return true;
      }
    }
    return false;
  }

  /** Makes a pass, and if the own device is gone, another that makes it anew. */
  async #pass(deadline: number): Promise<SyncPass> {
    const { bot, ghosts, users } = this.#kit;
    try {
      return await bot.syncOnce({ passTimeout: deadline });
    } catch (error) {
      if (!isDeviceLost(error)) throw error;
      ghosts.forget(users.bot);
      return await bot.syncOnce({ passTimeout: deadline });
    }
  }
}

/**
 * Turns the inbox into sync responses: the position in the inbox is the sync token. So transactions
 * go the way of any sync response, from the commit to handlers, with all that is promised of it.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { SyncFeed } from "../actors/syncer/sync_feed.ts";
import type { SyncOptions } from "../api/server/sync.ts";
import { alarm, type Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { StoreKeys } from "../store/device/keys.ts";
import type { SyncRecord } from "../store/device/records.ts";
import type { KvKey, KvStore } from "../store/kv_store.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";
import type { Inbox } from "./inbox.ts";
import type { OwnUsers } from "./own_users.ts";
import { syncResponseOf, type Transaction } from "./transaction.ts";

/** What a feed works with. */
export interface TransactionFeedOptions {
  /** Has the transactions. */
  readonly inbox: Inbox;
  /** The users of the application service. */
  readonly users: OwnUsers;
  /** Where it is recorded up to where they were handled. */
  readonly store: KvStore;
  /** What the keys of those records begin with. */
  readonly device: KvKey;
  /** Is shown each transaction, before anything is delivered. */
  readonly onTransaction: (transaction: Transaction) => void;
  /** Measures waits. */
  readonly clock: Clock;
  /** Logs a server's faults. */
  readonly log: Logger;
}

const TOKEN = /^as-(\d{1,15})$/;
/** How many transactions a response has at most. */
const MAX_TRANSACTIONS = 20;
/** With so many events it is not followed by one more. */
const MAX_EVENTS = 100;
/** How often the inbox is looked at, since another process may add to it, in milliseconds. */
const LOOK_EVERY = 5_000;
/** After how many transactions those that were handled are removed. */
const REMOVE_EVERY = 50;

/** Sync responses made of transactions. */
export class TransactionFeed implements SyncFeed {
  readonly #options: TransactionFeedOptions;
  #removed = 0;
  #removing: Promise<void> | undefined;
  /** The number after which there was nothing, when the inbox was looked at last. */
  #drained = -1;

  /** @param options What it works with. */
  constructor(options: TransactionFeedOptions) {
    this.#options = options;
  }

  /** Whether everything that this process has seen arrive has been read. */
  get isDrained(): boolean {
    return this.#drained >= this.#options.inbox.last;
  }

  readonly isOwn = (userId: string): boolean => this.#options.users.isOwn(userId);

  /** The next transactions after a token; none, if nothing arrives in time. */
  readonly sync = async ({ since, timeout = 0, signal }: SyncOptions = {}): Promise<SyncResponse> => {
    const { inbox, clock } = this.#options;
    if (since === undefined) return this.#response([], await inbox.removed());
    const number = Number(TOKEN.exec(since)?.[1] ?? 0);
    if (number >= this.#removed + REMOVE_EVERY) this.#remove();
    const { arrival } = inbox;
    const entries = await this.#next(number);
    if (entries.length > 0) {
      return this.#response(entries.map(({ transaction }) => transaction), entries.at(-1)?.number ?? number);
    }
    this.#drained = number;
    if (timeout > 0) {
      const late = Promise.withResolvers<void>();
      const cancel = alarm(clock, Math.min(timeout, LOOK_EVERY), late.resolve);
      const wait = Promise.race([arrival, late.promise]);
      await (signal === undefined ? wait : abortable(wait, signal)).finally(cancel);
      return await this.sync({ since, timeout: 0, signal });
    }
    return this.#response([], number);
  };

  /** Removes what was handled, as the store has it on record. */
  async removeHandled(): Promise<void> {
    const { store, device, inbox } = this.#options;
    const [entry] = await store.getMany([new StoreKeys(device).sync()]);
    const { handled } = (entry?.value ?? {}) as SyncRecord; // the Store's own record
    const number = Number(TOKEN.exec(handled ?? "")?.[1] ?? 0);
    await inbox.remove(number);
    this.#removed = Math.max(this.#removed, number);
  }

  #remove(): void {
    this.#removing ??= this.removeHandled().catch((error) => {
      this.#options.log.warn("Could not remove transactions that were handled", { error: String(error) });
    }).finally(() => this.#removing = undefined);
  }

  async #next(number: number) {
    const entries = await this.#options.inbox.after(number, MAX_TRANSACTIONS);
    let events = 0;
    const end = entries.findIndex(({ transaction }) => (events += transaction.events.length) >= MAX_EVENTS);
    return end < 0 ? entries : entries.slice(0, end + 1);
  }

  #response(transactions: readonly Transaction[], number: number): SyncResponse {
    const { log, onTransaction } = this.#options;
    transactions.forEach(onTransaction);
    const unusable = { count: 0 };
    const response = syncResponseOf(transactions, `as-${number}`, unusable);
    if (unusable.count > 0) {
      log.warn("Left out parts of a transaction that belong to no room", { parts: unusable.count });
    }
    return response as unknown as SyncResponse; // checked where all sync responses are
  }
}

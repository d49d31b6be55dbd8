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
import type { KvStore } from "../store/kv_store.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { Inbox } from "./inbox.ts";
import type { OwnUsers } from "./own_users.ts";
import { syncResponseOf, type Transaction } from "./transaction.ts";

/** What is taken for true unless a transaction says how many keys are left. */
const ENOUGH: JsonObject = {
  device_one_time_keys_count: { signed_curve25519: 50 },
  device_unused_fallback_key_types: ["signed_curve25519"],
};

/** What there is before anything was uploaded. */
const NONE: JsonObject = { device_one_time_keys_count: {}, device_unused_fallback_key_types: [] };

/** How many keys are left, in a form that can be compared. */
function textOf(
  { device_one_time_keys_count: counts, device_unused_fallback_key_types: unused }: JsonObject,
) {
  const count = isJsonObject(counts) ? counts.signed_curve25519 : 0;
  return JSON.stringify([count ?? 0, unused]);
}

/** What a transaction says of a device's keys. */
function keysOf(
  transaction: Transaction,
  { userId, deviceId }: TransactionFeedOptions["device"],
): JsonObject {
  const found: JsonObject = {};
  for (const name of ["device_one_time_keys_count", "device_unused_fallback_key_types"] as const) {
    const devices = transaction[name]?.[userId];
    const value = isJsonObject(devices) ? devices[deviceId] : undefined;
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** What a feed works with. */
export interface TransactionFeedOptions {
  /** Has the transactions. */
  readonly inbox: Inbox;
  /** The users of the application service. */
  readonly users: OwnUsers;
  /** Where it is recorded up to where they were handled. */
  readonly store: KvStore;
  /** Whose records those are. */
  readonly device: { readonly userId: string; readonly deviceId: string };
  /** Whether that device encrypts. */
  readonly encrypts: boolean;
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
  /** How many keys the last transaction said are left, that said so. */
  #told = "";
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
    if (since === undefined) {
      const start = this.#response([], await inbox.removed());
      this.#told = textOf(NONE);
      return { ...start, ...NONE };
    }
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
    const [entry] = await store.getMany([new StoreKeys([device.userId, device.deviceId]).sync()]);
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

  /**
   * How many keys are left, if that is news. What an older transaction says, or one says again, may
   * be from before keys were uploaded.
   */
  #news(keys: JsonObject): JsonObject {
    const text = textOf({ ...ENOUGH, ...keys });
    if (text === this.#told) return {};
    this.#told = text;
    return keys;
  }

  #response(transactions: readonly Transaction[], number: number): SyncResponse {
    const { log, onTransaction, device, encrypts, inbox } = this.#options;
    transactions.forEach(onTransaction);
    const last = number >= inbox.last ? transactions.at(-1) : undefined;
    const unusable = { count: 0 };
    const response = syncResponseOf(transactions, {
      nextBatch: `as-${number}`,
      device: encrypts ? device : undefined,
      keys: encrypts ? { ...ENOUGH, ...(last && this.#news(keysOf(last, device))) } : {},
      unusable,
    });
    if (unusable.count > 0) {
      log.warn("Left out parts of a transaction that belong to no room", { parts: unusable.count });
    }
    return response as unknown as SyncResponse; // checked where all sync responses are
  }
}

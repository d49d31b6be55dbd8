/**
 * Delivers what the homeserver has sent, while the application service is started or in passes. The inbox is
 * turned into sync responses, with the position in it as token: so transactions go the way of any sync
 * response, from the commit to handlers, with all that is promised of it.
 *
 * Over 300 lines because the feed and who empties it are one thing.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { StartOptions, SyncFeed, SyncPass } from "../actors/syncer/syncer.ts";
import type { SyncOptions } from "../api/server/server.ts";
import { alarm, type Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Store } from "../store/base/mod.ts";
import { StoreKeys, type SyncRecord } from "../store/device/mod.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";
import type { UserID } from "../types/ids.ts";
import { type ActingClients, isDeviceLost, type ServiceKit, type TokenWatch } from "./service_kit.ts";
import { type DeviceQueue, type OwnDevice, QueueWatch } from "./device_queue.ts";
import type { Ghosts } from "./ghosts.ts";
import type { Entry, Inbox } from "./inbox.ts";
import { LeftRooms, type OwnRooms, type OwnUsers, UnreadRooms } from "./own_users.ts";
import {
  type DevicePart,
  isMemberEvent,
  LateState,
  syncResponseOf,
  type Transaction,
} from "./transaction.ts";

/**
 * What is taken for true where the homeserver was not asked: that keys are left. What transactions
 * say of it may be from before keys were uploaded.
 */
const ENOUGH: DevicePart = {
  device_one_time_keys_count: { signed_curve25519: 50 },
  device_unused_fallback_key_types: ["signed_curve25519"],
};

/** What a feed works with. */
interface TransactionFeedOptions {
  /** Has the transactions. */
  readonly inbox: Inbox;
  /** The users of the application service. */
  readonly users: OwnUsers;
  /** Where it is recorded up to where they were handled. */
  readonly store: Store;
  /** Whose records those are. */
  readonly device: OwnDevice;
  /** Has what is sent to that device; undefined: nothing is, it does not encrypt. */
  readonly queue: DeviceQueue | undefined;
  /** Is shown what is up to date of each transaction, before anything is delivered. */
  readonly ghosts: Pick<Ghosts, "note" | "forgetRooms">;
  /** Which rooms they are in. */
  readonly rooms: Pick<OwnRooms, "userId" | "log" | "isOwn" | "hasOwnMember" | "isThere" | "joinedRooms">;
  /** Rejects if the token of the own user is dead, which nothing else may show. */
  readonly token: Pick<TokenWatch, "isOwnDead" | "checkOwn">;
  /** Measures waits. */
  readonly clock: Clock;
  /** Logs a server's faults. */
  readonly log: Logger;
}

/** The number of the last transaction, and where the device's queue goes on. */
const TOKEN = /^as-(\d{1,15})(?:~(.+))?$/;
/** How many transactions a response has at most. */
const MAX_TRANSACTIONS = 20;
/** With so many events it is not followed by one more. */
const MAX_EVENTS = 100;
/** How often the inbox is looked at, since another process may add to it, in milliseconds. */
const LOOK_EVERY = 5_000;
/** After how many transactions those that were handled are removed. */
const REMOVE_EVERY = 50;

/** A sync token of a feed. */
interface Position {
  readonly number: number;
  readonly queue: string | undefined;
}

/** From where to where a response goes. */
interface Place extends Position {
  /** Up to which number everything may have been delivered before. */
  readonly repeated: number;
  /** The rooms that nobody is in any more. */
  readonly left: readonly string[];
}

function positionOf(token: string): Position {
  const [, number = "0", queue] = TOKEN.exec(token) ?? [];
  return { number: Number(number), queue };
}

/** Sync responses made of transactions, and of what the own device was sent. */
export class TransactionFeed implements SyncFeed {
  readonly showsRooms = true;
  fails: SyncFeed["fails"];
  /** Reads what was sent to the devices of other users; set before anything is delivered. */
  clients!: Pick<ActingClients, "read">;
  readonly #options: TransactionFeedOptions;
  #removed = 0;
  /** What the last response ended with. */
  #returned: string | undefined;
  #removing: Promise<void> | undefined;
  /** What uses the store now. */
  readonly #underway = new Set<Promise<unknown>>();
  readonly #late = new LateState();
  readonly #left: LeftRooms;
  readonly #unread: UnreadRooms;
  /** Undefined: nothing is sent to the device. */
  readonly #watch: QueueWatch | undefined;
  /** The number after which there was nothing, when the inbox was looked at last. */
  #drained = -1;

  /** @param options What it works with. */
  constructor(options: TransactionFeedOptions) {
    this.#options = options;
    this.#left = new LeftRooms(options.rooms);
    this.#watch = options.queue && new QueueWatch(options.device, options.clock, (userId) => {
      if (this.isOwn(userId)) this.clients.read(userId as UserID);
    });
    this.#unread = new UnreadRooms(options.rooms);
  }

  /** Whether everything that this process has seen arrive has been read. */
  get isDrained(): boolean {
    return this.#drained >= this.#options.inbox.last && this.#watch?.isDue !== true;
  }

  readonly isOwn = (userId: string): boolean => this.#options.users.isOwn(userId);

  /** Resolves when nothing of it uses the store any more. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#underway);
  }

  /** The next transactions after a token; none, if nothing arrives in time. */
  readonly sync = (options: SyncOptions = {}): Promise<SyncResponse> => this.#noted(this.#sync(options));

  /** Removes what was handled, as the store has it on record. */
  removeHandled(): Promise<void> {
    return this.#noted(this.#removeHandled());
  }

  #noted<Result>(work: Promise<Result>): Promise<Result> {
    this.#underway.add(work);
    const done = () => void this.#underway.delete(work);
    work.then(done, done);
    return work;
  }

  async #sync({ since, timeout = 0, signal }: SyncOptions): Promise<SyncResponse> {
    const { inbox, clock, ghosts, token } = this.#options;
    if (token.isOwnDead) await token.checkOwn();
    if (since === undefined) {
      const number = await inbox.removed();
      return await this.#response([], { number, queue: undefined, repeated: number, left: [] }, signal);
    }
    const position = positionOf(since);
    const { number } = position;
    if (since !== this.#returned) ghosts.forgetRooms();
    if (number >= this.#removed + REMOVE_EVERY) this.#remove();
    const { arrival } = inbox;
    // What may have been delivered before comes in one response, as from a server: the client takes
    // no more than one for a repetition.
    const repeated = since === this.#returned ? number : await this.#received();
    const entries = await this.#next(number, repeated);
    if (entries.length === 0) this.#drained = number;
    const left = entries.length === 0 ? await this.#left.find() : [];
    if (entries.length > 0 || left.length > 0 || timeout === 0 || this.#watch?.isDue === true) {
      return await this.#response(entries, { ...position, repeated, left }, signal);
    }
    const late = Promise.withResolvers<void>();
    const cancel = alarm(clock, Math.min(timeout, LOOK_EVERY), late.resolve);
    const wait = Promise.race([arrival, late.promise]);
    await (signal === undefined ? wait : abortable(wait, signal)).finally(cancel);
    return await this.#sync({ since, timeout: 0, signal });
  }

  async #removeHandled(): Promise<void> {
    const { handled } = await this.#record();
    const { number } = positionOf(handled ?? "");
    await this.#options.inbox.remove(number);
    this.#removed = Math.max(this.#removed, number);
  }

  /** The number of the last transaction that the client has received, as the store has it on record. */
  async #received(): Promise<number> {
    const { nextBatch } = await this.#record();
    return positionOf(nextBatch ?? "").number;
  }

  async #record(): Promise<Partial<SyncRecord>> {
    const { store, device: { userId, deviceId } } = this.#options;
    const [entry] = await store.getMany([new StoreKeys([userId, deviceId]).sync()]);
    return (entry?.value ?? {}) as Partial<SyncRecord>; // the Store's own record
  }

  #remove(): void {
    this.#removing ??= this.removeHandled().catch((error) => {
      this.#options.log.warn("Could not remove transactions that were handled", { error: String(error) });
    }).finally(() => this.#removing = undefined);
  }

  /** What comes after a number: not too much, but no less than up to another number. */
  async #next(after: number, least: number): Promise<Entry[]> {
    const entries = await this.#options.inbox.after(after, Math.max(MAX_TRANSACTIONS, least - after));
    let events = 0;
    const end = entries.findIndex(({ number, transaction }) =>
      (events += transaction.events.length) >= MAX_EVENTS && number >= least
    );
    return end < 0 ? entries : entries.slice(0, end + 1);
  }

  async #response(
    entries: readonly Entry[],
    place: Place,
    signal: AbortSignal | undefined,
  ): Promise<SyncResponse> {
    const { queue, clock } = this.#options;
    const { number, queue: since, repeated } = place;
    const watch = this.#watch;
    if (queue === undefined || watch === undefined) return this.#assembled(entries, place);
    watch.note(entries);
    await this.#unread.look(entries.flatMap(({ transaction }) => transaction.events));
    if (!watch.isDue) return this.#assembled(entries, place, { part: ENOUGH, next: since });
    const asked = clock.now();
    const page = await queue.read({ since, signal });
    // Keys are received before the events that they are for; those of a repetition were before.
    if (page.isFull && number >= repeated) return this.#assembled([], place, page);
    if (!page.isFull) watch.looked(asked);
    return this.#assembled(entries, place, page);
  }

  #assembled(
    entries: readonly Entry[],
    { number, left }: Place,
    page?: { readonly part: DevicePart; readonly next: string | undefined },
  ): SyncResponse {
    const { log, ghosts } = this.#options;
    const transactions: Transaction[] = [];
    const late = new Set<unknown>();
    for (const entry of entries) {
      transactions.push(entry.transaction);
      for (const event of this.#late.find(entry)) late.add(event);
      const members = entry.transaction.events.filter(isMemberEvent);
      if (members.length === 0) continue; // mostly
      this.#left.note(members);
      ghosts.note(members.filter((event) => !late.has(event)));
    }
    const last = entries.at(-1)?.number ?? number;
    const nextBatch = this.#returned = `as-${last}${page?.next === undefined ? "" : `~${page.next}`}`;
    const { response, unusable } = syncResponseOf(transactions, {
      nextBatch,
      device: page?.part,
      late,
      left,
    });
    if (unusable > 0) {
      log.warn("Left out parts of a transaction that belong to no room", { parts: unusable });
    }
    return response as unknown as SyncResponse; // checked where all sync responses are
  }
}

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

/**
 * The actors of a client and what stands around them, in one piece that can be replaced; also what removes,
 * once a day, what is not needed any more.
 *
 * What actors know of a store's records holds as long as no other process has them, and no commit has failed.
 * A client that hands its device back makes a new core when that is over; all that applications hold of the
 * client goes on with the new one.
 *
 * Over 300 lines because housekeeping is one of the things that stand around the actors.
 *
 * @module
 */

import {
  Deliverer,
  type DispatcherHandlers,
  HandlerSessions,
  SendIds,
  spawnDispatcher,
  unreadRooms,
} from "../actors/dispatcher/dispatcher.ts";
import {
  type Actor,
  ActorError,
  type ActorRef,
  ActorStoppedError,
  type Lifecycle,
  Supervisor,
} from "../actors/kernel/mod.ts";
import {
  type OpenableStore,
  type OpenStore,
  type PruneStep,
  spawnStore,
  StateStore,
  type StoreHandlers,
  storeOpener,
} from "../actors/store/mod.ts";
import { type SlidingSync, spawnSyncer, type SyncerHandlers } from "../actors/syncer/syncer.ts";
import type { AllAPI } from "../api/api.ts";
import { firstContact, type HTTPAPI, IS_TOKEN_DEAD, SKEW, wrongBy } from "../api/http/mod.ts";
import { type Clock, elapsed } from "../base/clock.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import { Encryption } from "../encryption/encryption.ts";
import type { ClientBasics } from "./client_basics.ts";
import { acceptClear, FEED, leaseOptions } from "./client_options.ts";

/** How many handlers may be at work before the next response waits for them, by default. */
const MAX_PENDING = 10_000;

/** The actors of a client, wired together. */
export class ClientCore {
  /** Stores the device's records. */
  readonly store: Actor<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Runs handlers with their sessions. */
  readonly sessions: HandlerSessions;
  /** Makes the transaction IDs of what handlers send. */
  readonly sendIds: SendIds;
  /** Delivers single events. */
  readonly deliverer: Deliverer;
  /** Delivers events to handlers. */
  readonly dispatcher: Actor<DispatcherHandlers>;
  /** End-to-end encryption; undefined: there is none of its own. */
  readonly own: Encryption | undefined;
  /** Prunes records. */
  readonly housekeeping: Housekeeping;
  /** Asks for what is new. */
  readonly syncer: ActorRef<SyncerHandlers>;
  /** Stops all of it. */
  readonly supervisor: Supervisor;
  readonly #client: ClientBasics;

  /**
   * @param client What lasts.
   * @param api The operations.
   * @param first Called when the handlers of a first response have settled.
   */
  constructor(client: ClientBasics, api: AllAPI, first: FirstSync) {
    const { options: { store: kv, log }, session, clock, holding } = this.#client = client;
    const lease = leaseOptions(client.options);
    const store = this.store = spawnStore({
      kv,
      lease: lease && { ...lease, holding },
      clock,
      log: loggerOf(log, clock, "store"),
    });
    const ready = this.ready = storeOpener(store, session, kv !== undefined);
    this.sessions = new HandlerSessions({ store, ready });
    this.sendIds = new SendIds({ store, ready });
    this.deliverer = new Deliverer(client.registry, client.log, this.sessions, this.sendIds, this.isOver);
    this.dispatcher = this.#spawnDispatcher();
    this.own = this.#encryption(api);
    this.housekeeping = new Housekeeping(this, client);
    const syncer = this.syncer = this.#spawnSyncer(api, first);
    const actors = [syncer, this.dispatcher, ...(this.own === undefined ? [] : [this.own]), store];
    this.supervisor = this.#supervise(actors);
  }

  /** Whether the client can't go on, and another process will be given again what was cut off. */
  readonly isOver = (): boolean => this.#isAgain && this.#hasEnded;

  get #hasEnded(): boolean {
    return this.#client.http[IS_TOKEN_DEAD] || this.supervisor.isStopping;
  }

  /** Whether another process can be given again what was cut off: the client's own store ends with it. */
  get #isAgain(): boolean {
    const { store, deliver } = this.#client.options;
    return store !== undefined && deliver !== "at-most-once";
  }

  #spawnDispatcher(): Actor<DispatcherHandlers> {
    const { deliverer, store, isOver } = this;
    const { options, clock, log } = this.#client;
    const gone = () => deliverer.endRecords();
    if (this.#isAgain) store.done.then(gone, gone);
    return spawnDispatcher({
      deliverer,
      store,
      note: unreadRooms(this.#client),
      encryption: this.#client,
      comesAgain: options.store !== undefined,
      maxPending: options.maxPendingHandlers ?? MAX_PENDING,
      isOver,
      clock,
      log,
    });
  }

  #encryption(api: AllAPI): Encryption | undefined {
    const { options, chosen, session, cryptoLog: log } = this.#client;
    if (chosen === undefined) return undefined;
    const { store, ready, dispatcher, deliverer } = this;
    return this.#client.crypto = Encryption.of({
      session,
      api,
      store,
      ready,
      stateStore: new StateStore({ store, ready }),
      dispatcher,
      deliverer,
      isDurable: options.store !== undefined,
      hasToken: options.accessToken !== undefined,
      showsRooms: options[FEED]?.showsRooms ?? true,
      log,
    }, chosen);
  }

  #spawnSyncer(api: AllAPI, first: FirstSync): Actor<SyncerHandlers> {
    const { store, ready, dispatcher, deliverer, housekeeping, own } = this;
    const { options: { [FEED]: feed, ...options }, chosen, blacklist } = this.#client;
    const { session, clearRooms, registry, followed, clock, log } = this.#client;
    const { sync = "classic" } = options;
    const isEncrypted = chosen !== undefined;
    let sliding: Promise<SlidingSync> | undefined;
    return spawnSyncer({
      sync: feed === undefined ? sync : "classic",
      requests: {
        sync: feed?.sync ?? api.sync,
        createFilter: api.createFilter,
        getMessages: (...of) => api.getMessages(...of),
        slide: async (options) => {
          sliding ??= import("../actors/syncer/sliding_sync.ts").then(({ SlidingSync }) =>
            new SlidingSync({ api, session, sync, isEncrypted, followed, registry, store, clock, log })
          );
          return await (await sliding).sync(options);
        },
        firstContact: (error, signal) => firstContact(error, session, signal),
      },
      feed,
      session,
      encryption: this.#client,
      user: this.#client,
      clearRooms,
      registry,
      acceptClear: acceptClear(chosen, blacklist),
      store,
      ready,
      dispatcher,
      deliverer,
      afterSync: () => {
        const pruned = housekeeping.pruneIfDue();
        return own === undefined ? pruned : Promise.all([pruned, own.renew()]).then(() => {});
      },
      first,
      isDurable: options.store !== undefined,
      resume: options.deliver === "at-most-once" ? "committed" : "handled",
      clock,
      log,
    });
  }

  #supervise(actors: readonly Lifecycle[]): Supervisor {
    const { options: { [FEED]: feed }, clock, deadline, log } = this.#client;
    const supervisor = new Supervisor(actors, { clock, deadline, log });
    if (feed !== undefined) feed.fails = (cause) => void supervisor.fail("store", cause);
    return supervisor;
  }
}

/** One start's signal after the other. With the first, the log says it if the clock is wrong. */
export class FirstSync {
  readonly #http: Pick<HTTPAPI, typeof SKEW>;
  readonly #log: Logger;
  #isWarned = false;
  #signal = Promise.withResolvers<void>();
  #isSettled = false;

  /**
   * @param http Has seen the server's time, or not.
   * @param log Gets the warning.
   */
  constructor(http: Pick<HTTPAPI, typeof SKEW>, log: Logger) {
    this.#http = http;
    this.#log = log;
    this.#own();
  }

  /**
   * Resolves when it has been handled; rejects if there won't be one. Unread, it causes no
   * unhandled rejection.
   */
  get handled(): Promise<void> {
    return this.#signal.promise;
  }

  /** Begins the next signal. */
  begin(): void {
    if (!this.#isSettled) return;
    this.#signal = Promise.withResolvers();
    this.#isSettled = false;
    this.#own();
  }

  /** It has been handled. */
  resolve(): void {
    this.#warnOfClock();
    this.#isSettled = true;
    this.#signal.resolve();
  }

  /** There won't be any. Without effect if it has been handled. */
  reject(reason: unknown): void {
    this.#isSettled = true;
    this.#signal.reject(reason);
  }

  /**
   * What breaks by a wrong clock does not say so itself.
   * A server may say anything, so nothing else comes of it.
   */
  #warnOfClock(): void {
    const skew = this.#http[SKEW];
    const wrong = wrongBy(skew ?? 0);
    if (this.#isWarned || wrong === undefined) return;
    this.#isWarned = true;
    this.#log.warn(
      `The clock of this machine is ${wrong}: reminders and schedules come at a wrong time, and from ` +
        "five minutes on requests to verify a device are ignored; set the clock",
      { skew },
    );
  }

  #own(): void {
    this.#signal.promise.catch(() => {});
  }
}

/** What was removed. */
export interface PruneSummary {
  /**
   * How many records were removed, by their kind: `state` of rooms that were left; those of
   * encryption begin with `crypto/`.
   */
  readonly removed: Readonly<Record<string, number>>;
}

/** The actors whose records are pruned. */
interface PrunedCore extends OpenableStore {
  /** Prunes the records of encryption, and resolves to the number of removed ones by kind. */
  readonly own: { prune(): Promise<Readonly<Record<string, number>>> } | undefined;
}

const DAY = 86_400_000;
/**
 * How long the state of a room stays after it was left, in milliseconds: time for handlers, and to
 * come back.
 */
const LEFT_ROOMS_FOR = 7 * DAY;
/** The record of when this was done, or checked, last. */
const CHECKED_AT = ["pruned"];
/**
 * A clock that leaps ahead by more may be wrong, in milliseconds: removed records do not come back.
 */
const LEAP = 30 * DAY;
/** For how many days such a clock must run before it is trusted. */
const DOUBTFUL_DAYS = 7;
/** The record of how many of these days are left. */
const DOUBTS = ["pruneDoubts"];

/** Prunes when it is due, or on request. */
export class Housekeeping {
  readonly #core: PrunedCore;
  readonly #clock: Clock;
  readonly #log: Logger;
  #checkedAt: number | undefined;
  #running: Promise<PruneSummary> | undefined;

  /**
   * @param core Has what is pruned.
   * @param client Its wall clock, and its log.
   */
  constructor(core: PrunedCore, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    [this.#core, this.#clock, this.#log] = [core, clock, log];
  }

  /**
   * Prunes if the last time is a day ago, and the clock can be trusted. Never rejects: it tries
   * again the next day. Undefined: it is not due.
   */
  pruneIfDue(): Promise<void> | undefined {
    return elapsed(this.#clock.now(), this.#checkedAt) < DAY ? undefined : this.#tryToPrune();
  }

  async #tryToPrune(): Promise<void> {
    const log = this.#log;
    try {
      if (!await this.#isDue()) return;
      const { removed } = await this.prune();
      if (Object.keys(removed).length > 0) log.info("Removed old records", removed);
    } catch (error) {
      if (error instanceof ActorStoppedError || error instanceof ActorError) return; // the client is ending
      log.warn("Could not remove old records", { error: String(error) });
    }
  }

  /** Prunes in small steps, between which other work is done. A call while it runs joins it. */
  async prune(): Promise<PruneSummary> {
    try {
      return await (this.#running ??= this.#prune());
    } finally {
      this.#running = undefined;
    }
  }

  /** Resolves when no pruning is under way. */
  async tidied(): Promise<void> {
    await this.#running?.catch(() => {}); // `prune()` rejects with it
  }

  /** Returns whether the last time is a day ago, on a clock that can be trusted. */
  async #isDue(): Promise<boolean> {
    const [{ store, ready }, clock] = [this.#core, this.#clock];
    await ready();
    const [checkedAt, doubts] = await store.readRecords([CHECKED_AT, DOUBTS]);
    const now = clock.now();
    if (typeof checkedAt !== "number") {
      await this.#note(now, 0); // a new device has nothing to remove yet
      return false;
    }
    this.#checkedAt = checkedAt;
    if (elapsed(now, checkedAt) < DAY) return false;
    const before = typeof doubts === "number" ? doubts : 0;
    const left = checkedAt > now ? 0 : before > 0 ? before - 1 : now - checkedAt >= LEAP ? DOUBTFUL_DAYS : 0;
    if (left > 0) await this.#note(now, left);
    return left === 0;
  }

  async #note(checkedAt: number, doubts: number): Promise<void> {
    this.#checkedAt = checkedAt;
    const notes = [[CHECKED_AT, checkedAt], [DOUBTS, doubts]] as const;
    const mutations = notes.map(([key, value]) => ({ type: "set", key, value } as const));
    await this.#core.store.commitRecords(mutations);
  }

  async #prune(): Promise<PruneSummary> {
    const [{ store, ready, own }, clock] = [this.#core, this.#clock];
    await ready();
    const now = clock.now();
    this.#checkedAt = now;
    let state = 0;
    let step: PruneStep = { removed: 0, isDone: false };
    while (!step.isDone) {
      step = await store.pruneRooms({ leftBefore: now - LEFT_ROOMS_FOR, after: step.after });
      state += step.removed;
    }
    const ofCrypto = Object.entries(await own?.prune() ?? {});
    await this.#note(now, 0);
    return {
      removed: {
        ...(state > 0 && { state }),
        ...Object.fromEntries(ofCrypto.map(([kind, count]) => [`crypto/${kind}`, count])),
      },
    };
  }
}
